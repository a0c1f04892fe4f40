//! Monitor. Measures the packets that pass; it never delays, drops or changes one.
//!
//! `what`: the quantities, at least one, none twice. `window`: at least 100 us. `burst_gap` (`gap` in conditions): see
//! `burst`. `line_rate`: wire bits per second of its port. `select` (`match` in conditions): which packets count.
//! `start`: when it starts. `reports_packets`: every selected real packet becomes a `Sighting`, for callers that can
//! read its headers.
//!
//! Memory is fixed: 10 kB for a histogram and 16 kB for a time series. A train counts as the packets that it
//! represents, at one instant.
//!
//! New parameters restart it; the same ones do not disturb it.
//!
//! Source: Zilberman et al. 2021, NRG, sections IV (network monitoring) and V-A to V-E.

use alloc::boxed::Box;
use alloc::format;
use alloc::vec::Vec;

use super::burst::Burst;
use super::drops::Drops;
use super::gap::Gap;
use super::packet_rate::PerWindow;
use super::packet_size::PacketSize;
use super::queue_delay::QueueDelay;
use super::queue_depth::QueueDepth;
use super::report::Readings;
use super::select::{Selection, Start};
use super::utilisation::Utilisation;
use super::wire_time::WireTime;
use crate::describe::{page, Page, Problem};
use crate::element::{Behaviour, Context, Shared, Spec, Verdict};
use crate::label::LabelSets;
use crate::outcome::DropReason;
use crate::packet::Packet;
use crate::random::Stream;
use crate::slab::SlotId;
use crate::units::{Duration, Instant, Rate};

/// The page of `monitor`.
pub(super) const PAGE: Page = page!("element.rs");

/// What a monitor measures.
#[derive(Copy, Clone, PartialEq, Eq, Debug)]
pub enum Quantity {
    /// Share of each window in which the wire was busy.
    Utilisation,
    /// Packets in each window.
    PacketRate,
    /// IP bytes of each packet.
    PacketSize,
    /// Time from packet to packet.
    Interarrival,
    /// Time from the end of a packet to the start of the next.
    Ipg,
    /// Packets and bytes that follow each other closely.
    Burst,
    /// Bytes that wait in the queue after the monitor.
    QueueDepth,
    /// Time that packets wait there.
    QueueDelay,
    /// Packets that the elements after the monitor drop.
    Drops,
}

impl Quantity {
    /// Every quantity.
    pub const ALL: [Quantity; 9] = [
        Quantity::Utilisation,
        Quantity::PacketRate,
        Quantity::PacketSize,
        Quantity::Interarrival,
        Quantity::Ipg,
        Quantity::Burst,
        Quantity::QueueDepth,
        Quantity::QueueDelay,
        Quantity::Drops,
    ];

    /// The quantity's name in conditions and measurements.
    pub const fn name(self) -> &'static str {
        match self {
            Quantity::Utilisation => "utilisation",
            Quantity::PacketRate => "packet-rate",
            Quantity::PacketSize => "packet-size",
            Quantity::Interarrival => "interarrival",
            Quantity::Ipg => "ipg",
            Quantity::Burst => "burst",
            Quantity::QueueDepth => "queue-depth",
            Quantity::QueueDelay => "queue-delay",
            Quantity::Drops => "drops",
        }
    }
}

/// What a monitor measures, for which packets, and its start.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct MonitorSpec {
    /// None twice; may be empty if packets are reported.
    pub what: Vec<Quantity>,
    /// At least 100 us.
    pub window: Duration,
    /// The longest gap inside a burst.
    pub burst_gap: Duration,
    /// Wire bits per second of the port.
    pub line_rate: Rate,
    /// Which packets count.
    pub select: Selection,
    /// When it starts.
    pub start: Start,
    /// Whether selected real packets become sightings.
    pub reports_packets: bool,
}

impl MonitorSpec {
    /// The shortest window: below it a window holds too few packets to be a rate.
    pub const WINDOW_MIN: Duration = Duration::from_micros(100);
}

impl Spec for MonitorSpec {
    const KIND: &'static str = "monitor";
    const QUEUES: bool = false;

    fn problems(&self) -> Vec<Problem> {
        let mut wrong = Vec::new();
        if self.window < MonitorSpec::WINDOW_MIN {
            let (window, least) = (self.window, MonitorSpec::WINDOW_MIN);
            wrong.push(Problem::new(format!(
                "window {window} is too short to count in; give at least {least}"
            )));
        }
        if self.what.is_empty() && !self.reports_packets {
            wrong.push(Problem::new("monitors nothing; name at least one quantity"));
        }
        let twice = (1..self.what.len()).find(|&index| self.what[..index].contains(&self.what[index]));
        if let Some(index) = twice {
            let what = self.what[index].name();
            wrong.push(Problem::new(format!("monitors {what} twice; name each quantity once")));
        }
        if self.what.contains(&Quantity::Utilisation) && self.line_rate == Rate::Unlimited {
            let refusal = "utilisation of a link without a rate is not defined; give the link a rate, or monitor packet-rate";
            wrong.push(Problem::new(refusal));
        }
        wrong
    }
}

/// The meter of one quantity.
#[derive(Clone)]
enum Meter {
    Utilisation(Utilisation),
    PacketRate(PerWindow),
    PacketSize(PacketSize),
    Interarrival(Gap),
    Ipg(Gap),
    Burst(Burst),
    QueueDepth(QueueDepth),
    QueueDelay(QueueDelay),
    Drops(Drops),
}

impl Meter {
    fn new(what: Quantity, spec: &MonitorSpec) -> Meter {
        let MonitorSpec { window, burst_gap, .. } = *spec;
        match what {
            Quantity::Utilisation => Meter::Utilisation(Utilisation::new(window)),
            Quantity::PacketRate => Meter::PacketRate(PerWindow::new(window)),
            Quantity::PacketSize => Meter::PacketSize(PacketSize::new()),
            Quantity::Interarrival => Meter::Interarrival(Gap::new()),
            Quantity::Ipg => Meter::Ipg(Gap::new()),
            Quantity::Burst => Meter::Burst(Burst::new(burst_gap)),
            Quantity::QueueDepth => Meter::QueueDepth(QueueDepth::new(window)),
            Quantity::QueueDelay => Meter::QueueDelay(QueueDelay::new()),
            Quantity::Drops => Meter::Drops(Drops::new(window)),
        }
    }

    fn of(spec: &MonitorSpec) -> Vec<Meter> {
        spec.what.iter().map(|&what| Meter::new(what, spec)).collect()
    }

    /// Starts at `at`, empty; `queued_bytes` wait in the queue.
    fn start(&mut self, at: Instant, queued_bytes: u64) {
        match self {
            Meter::Utilisation(utilisation) => utilisation.start(at),
            Meter::PacketRate(rate) => rate.start(at),
            Meter::QueueDepth(depth) => depth.start(at, queued_bytes),
            Meter::Drops(drops) => drops.start(at),
            // These do not depend on time.
            Meter::PacketSize(_)
            | Meter::Interarrival(_)
            | Meter::Ipg(_)
            | Meter::Burst(_)
            | Meter::QueueDelay(_) => {}
        }
    }
}

pub(crate) struct Monitor {
    spec: MonitorSpec,
    /// For [`Start::After`]: when it starts.
    ready: Instant,
    started: Option<Instant>,
    /// They are large, so they are made before the monitor starts.
    meters: Vec<Meter>,
    /// Whether they may be non-empty.
    used: bool,
    wire_time: WireTime,
    last_packet: Option<Instant>,
    /// IP bytes that wait in the queue after it, as last reported.
    queued_bytes: u64,
}

/// Boxed, because its state is larger than that of any other element.
impl Behaviour for Box<Monitor> {
    type Spec = MonitorSpec;

    fn new(spec: &MonitorSpec, _: Stream) -> Box<Monitor> {
        Box::new(Monitor::new(spec.clone()))
    }

    fn begin(&mut self, now: Instant) {
        self.restart(now);
    }

    fn reconfigure(&mut self, spec: &MonitorSpec, context: &mut Context<'_>) {
        if self.spec != *spec {
            // Packets in the queue after it continue to wait.
            **self = Monitor { queued_bytes: self.queued_bytes, ..Monitor::new(spec.clone()) };
            self.restart(context.shared.now);
        }
    }

    fn treats_alike(&self, _: Instant) -> bool {
        true
    }

    fn arrive(&mut self, slot: SlotId, context: &mut Context<'_>) -> Verdict {
        let Shared { slab, labels, now, .. } = &*context.shared;
        let counts = self.passed(&slab[slot].packet, labels, *now);
        Verdict::Seen { reported: counts && self.spec.reports_packets }
    }

    fn reset(&mut self, now: Instant) {
        self.restart(now);
    }

    fn monitor(&self) -> Option<&Monitor> {
        Some(self)
    }

    fn monitor_mut(&mut self) -> Option<&mut Monitor> {
        Some(self)
    }
}

impl Monitor {
    /// `spec` has been checked.
    pub(crate) fn new(spec: MonitorSpec) -> Monitor {
        Monitor {
            wire_time: WireTime::new(spec.line_rate),
            meters: Meter::of(&spec),
            used: false,
            spec,
            ready: Instant::ZERO,
            started: None,
            last_packet: None,
            queued_bytes: 0,
        }
    }

    /// Discards everything and starts as if it had been added now.
    pub(crate) fn restart(&mut self, now: Instant) {
        self.started = None;
        self.last_packet = None;
        if let Start::After(wait) = self.spec.start {
            self.ready = now.saturating_add(wait);
            self.begin(self.ready);
        }
    }

    fn begin(&mut self, at: Instant) {
        self.started = Some(at);
        if core::mem::replace(&mut self.used, true) {
            self.meters = Meter::of(&self.spec);
        }
        for meter in &mut self.meters {
            meter.start(at, self.queued_bytes);
        }
    }

    /// A packet passes; returns whether it counts.
    #[inline]
    pub(crate) fn passed(&mut self, packet: &Packet, labels: &LabelSets, now: Instant) -> bool {
        match self.started {
            None => match self.spec.start {
                Start::FirstPacket(first) if first.admits(packet, labels) => self.begin(now),
                _ => return false,
            },
            Some(started) if now < started => return false,
            Some(_) => {}
        }
        if !self.spec.select.admits(packet, labels) {
            return false;
        }
        let wire_ps = self.wire_time.picoseconds(packet.wire_bytes());
        let since_last_ns = self.last_packet.map(|last| (now - last).as_nanos());
        self.last_packet = Some(now);
        // In a train, the first packet has the gap before it; the others have none.
        let first_ns = wire_ps / u64::from(packet.count) / 1_000;
        let gap_ns = since_last_ns.map(|since_ns| since_ns.saturating_sub(first_ns));
        for meter in &mut self.meters {
            match meter {
                Meter::Utilisation(utilisation) => utilisation.passed(now, wire_ps),
                Meter::PacketRate(rate) => rate.add(now, u64::from(packet.count)),
                Meter::PacketSize(size) => size.passed(packet),
                Meter::Interarrival(gap) => gap.passed(since_last_ns, packet.count),
                Meter::Ipg(gap) => gap.passed(gap_ns, packet.count),
                Meter::Burst(burst) => burst.passed(gap_ns, packet),
                // These do not measure passing packets (see `waited`, `queued` and `dropped`).
                Meter::QueueDepth(_) | Meter::QueueDelay(_) | Meter::Drops(_) => {}
            }
        }
        true
    }

    fn counts(&self, packet: &Packet, labels: &LabelSets, now: Instant) -> bool {
        self.started.is_some_and(|started| started <= now) && self.spec.select.admits(packet, labels)
    }

    /// A packet has waited in the queue after the monitor.
    pub(crate) fn waited(&mut self, packet: &Packet, labels: &LabelSets, wait: Duration, now: Instant) {
        if self.counts(packet, labels, now) {
            for meter in &mut self.meters {
                if let Meter::QueueDelay(delay) = meter {
                    delay.waited(packet, wait);
                }
            }
        }
    }

    /// This number of IP bytes waits in the queue after the monitor now.
    pub(crate) fn queued(&mut self, bytes: u64, now: Instant) {
        self.queued_bytes = bytes;
        let Some(started) = self.started else { return };
        for meter in &mut self.meters {
            if let Meter::QueueDepth(depth) = meter {
                if now < started {
                    // It starts with what waits then.
                    depth.start(started, bytes);
                } else {
                    depth.becomes(bytes, now);
                }
            }
        }
    }

    /// An element after the monitor has dropped a packet.
    pub(crate) fn dropped(&mut self, packet: &Packet, labels: &LabelSets, reason: DropReason, now: Instant) {
        if self.counts(packet, labels, now) {
            for meter in &mut self.meters {
                if let Meter::Drops(drops) = meter {
                    drops.dropped(packet, reason, now);
                }
            }
        }
    }

    pub(crate) fn readings(&self, now: Instant) -> Readings {
        let started = self.started.filter(|&started| started <= now);
        let window = self.spec.window;
        let mut readings =
            Readings { started, window, histograms: Vec::new(), counts: Vec::new(), trends: Vec::new() };
        if started.is_none() {
            return readings;
        }
        for (meter, quantity) in self.meters.iter().zip(&self.spec.what) {
            let what = quantity.name();
            match meter {
                Meter::Utilisation(utilisation) => utilisation.report(now, what, &mut readings),
                Meter::PacketRate(rate) => rate.report(now, what, &mut readings),
                Meter::PacketSize(size) => size.report(what, &mut readings),
                Meter::Interarrival(gap) | Meter::Ipg(gap) => gap.report(what, &mut readings),
                Meter::Burst(burst) => burst.report(&mut readings),
                Meter::QueueDepth(depth) => depth.report(now, what, &mut readings),
                Meter::QueueDelay(delay) => delay.report(what, &mut readings),
                Meter::Drops(drops) => drops.report(now, what, &mut readings),
            }
        }
        readings
    }
}
