//! The emulator's thread: when to look, when to spin, when to sleep, and what it is asked to do in between.
//!
//! Waking from sleep costs about 25 us, which no ingress stamp can repay for delays shorter than that. So where a core can be
//! spared the thread spins while there is traffic and sleeps when there has been none for a while (`spin`); on a single
//! core it sleeps until shortly before the next due instant (`sleep`). Ghost packets alone never keep it awake: the
//! engine catches up with them in virtual time.

use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, Sender, TryRecvError};
use std::sync::Arc;

use crosswind_engine::{Capacity, Class, DropReason, Rate};
use crosswind_fabric::{Condition, FabricError, Places, Step};
use crosswind_recording::Record;

use crate::clock;
use crate::forwarder::Forwarder;
use crate::host;
use crate::measurement::{
    Again, ByClass, CaptureState, Change, Conservation, Count, Counts, Credit, Draw, Driven, Drop, Element,
    HeldAcknowledgement, Host, Level, Measurement, Offered, Recording, Rows, SeriesReport, SeriesRow, Window,
};
use crate::monitors;
use crate::port::{close_all, Need, Port, Veth};
use crate::precedence::Precedence;
use crate::records::Fate;
use crate::series::{Series, STEP_NS};
use crate::stalls::Stalls;
use crate::waking::Waking;
use crate::warmth::Warmth;
use crate::Kept;

/// Spinning goes on for this long after the last packet: requests of a closed loop come closer together than this.
const LINGER_NS: u64 = 20_000_000;
/// Processors of a virtual machine are often two threads of one core: a loop that spins without pausing takes a tenth of the
/// application's throughput. So many pauses last about 1 us, which the ingress stamp repays.
const RELAX_PAUSES: u32 = 24;
/// A due instant closer than this is watched without pausing.
const RELAX_ABOVE_NS: u64 = 5_000;
/// The engine's ghosts are caught up with at least this often, so that no packet waits for a long catch-up.
const CATCH_UP_NS: u64 = 50_000;
/// Packets become visible this long after their stamp at the latest; ghosts are not advanced into that time.
const VISIBLE_AFTER_NS: u64 = 10_000;
/// Sleeping with ghosts, the engine is advanced this often.
const NAP_NS: u64 = 500_000;
/// The longest sleep.
const SLEEP_NS: u64 = 100_000_000;

/// What the thread is asked to do.
#[derive(Debug)]
pub enum Command {
    /// Another condition; answers the instant.
    Set(Box<Condition>, Sender<Result<u64, FabricError>>),
    /// Start a window; answers the instant.
    Measure(Sender<u64>),
    /// The window so far.
    Read(Sender<Box<Measurement>>),
    /// End.
    Stop,
}

/// Wakes the thread for a command.
#[derive(Clone, Debug)]
pub struct Waker {
    event: Arc<OwnedFd>,
    rung: Arc<AtomicBool>,
}

impl Waker {
    /// A waker nobody has rung yet.
    pub fn new() -> io::Result<Self> {
        // SAFETY: plain system call; the descriptor is owned right after.
        let event = unsafe { libc::eventfd(0, libc::EFD_CLOEXEC | libc::EFD_NONBLOCK) };
        if event < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: `event` is a fresh descriptor that nobody else owns.
        let event = Arc::new(unsafe { OwnedFd::from_raw_fd(event) });
        Ok(Self { event, rung: Arc::new(AtomicBool::new(false)) })
    }

    /// Makes the thread look at its commands.
    pub fn wake(&self) {
        self.rung.store(true, Ordering::Release);
        let one = 1u64;
        // SAFETY: eight live bytes are written. A full counter is as good as a rung one.
        unsafe { libc::write(self.event.as_raw_fd(), (&raw const one).cast(), 8) };
    }

    fn answered(&self) -> bool {
        if !self.rung.load(Ordering::Relaxed) {
            return false;
        }
        self.rung.store(false, Ordering::Release);
        let mut count = 0u64;
        // SAFETY: eight live bytes are filled.
        unsafe { libc::read(self.event.as_raw_fd(), (&raw mut count).cast(), 8) };
        true
    }
}

/// The thread's state.
#[derive(Debug)]
pub struct Worker {
    forwarder: Forwarder<Veth>,
    inbox: Receiver<Command>,
    waker: Waker,
    /// The processor it has for itself, and what keeps that warm.
    own: Option<(usize, Warmth)>,
    series: Series,
    window: WindowStart,
    timeline: Vec<Step>,
    /// What came into force: last before the window, and in it.
    changes: Vec<Change>,
    canary_gap_ns_max: u64,
    stalls: Stalls,
    waking: Waking,
    precedence: Precedence,
    descriptors: Vec<RawFd>,
}

#[derive(Clone, Copy, Debug, Default)]
struct WindowStart {
    started_ns: u64,
    steal_ns: u64,
    run_queue_delay_ns: Option<u64>,
    cpu_ns: u64,
}

impl Worker {
    /// A worker that will keep a processor for itself, where it is given one.
    pub fn new(
        forwarder: Forwarder<Veth>,
        inbox: Receiver<Command>,
        waker: Waker,
        own: Option<(usize, Warmth)>,
    ) -> Self {
        let mut descriptors: Vec<RawFd> = forwarder.ports.iter().flat_map(Veth::descriptors).collect();
        descriptors.push(waker.event.as_raw_fd());
        let built_ns = forwarder.network.engine_ref().now().as_nanos();
        let condition = &forwarder.network.fabric().condition;
        let change = Change::new("up", built_ns, built_ns, &condition.name, &condition.places);
        Self {
            forwarder,
            inbox,
            waker,
            own,
            series: Series::default(),
            window: WindowStart::default(),
            timeline: Vec::new(),
            changes: vec![change],
            canary_gap_ns_max: 0,
            stalls: Stalls::default(),
            waking: Waking::new(),
            precedence: Precedence::new(built_ns),
            descriptors,
        }
    }

    /// `spin` or `sleep`.
    pub fn wait_mode(&self) -> &'static str {
        if self.own.is_some() {
            "spin"
        } else {
            "sleep"
        }
    }

    /// Runs until told to stop, then closes the ports and the files.
    pub fn run(mut self) -> (Result<(), String>, Kept) {
        let outcome = self.forward();
        close_all(self.forwarder.ports);
        let done_ns = self.forwarder.network.engine_ref().now().as_nanos();
        let kept = Kept {
            recording: self.forwarder.recorder.map(|recorder| recorder.finish(done_ns)),
            capture: self.forwarder.capture.map(|capture| capture.finish(clock::monotonic_ns())),
        };
        (outcome, kept)
    }

    fn forward(&mut self) -> Result<(), String> {
        host::claim(self.own.as_ref().map(|(cpu, _)| *cpu));
        self.start_window(clock::monotonic_ns());
        let mut active_ns = clock::monotonic_ns();
        let mut spun_since: Option<u64> = None;
        loop {
            let now = clock::monotonic_ns();
            self.stalls.awake(now, now);
            // Who has a processor of its own needs none, and would keep the kernel's threads from it.
            if self.own.is_none() {
                self.precedence.keep(now);
            }
            if let Some(since) = spun_since {
                self.canary_gap_ns_max = self.canary_gap_ns_max.max(now - since);
            }
            if self.waker.answered() && !self.obey()? {
                return Ok(());
            }
            let mut work = self.forwarder.take_in(now);
            let due = self.forwarder.next_due_ns().filter(|&due| due <= now + self.forwarder.ahead_ns());
            if let Some(due) = due {
                work += self.forwarder.let_out(due.max(now));
            }
            self.keep_time(now, due.is_some());
            if work > 0 {
                active_ns = now;
                spun_since = None;
                continue;
            }
            let lingers = self.own.is_some() && now < active_ns + LINGER_NS;
            // Who is awake anyway does everything when it is due; who has to be woken comes for what leaves.
            let next =
                if lingers { self.forwarder.next_due_ns() } else { self.forwarder.next_departure_ns() };
            let spin = lingers || next.is_some_and(|due| due < now + self.waking.margin_ns());
            if spin {
                spun_since = Some(now);
                let close = next.is_some_and(|due| due < now + RELAX_ABOVE_NS);
                if let (Some((_, warmth)), false) = (&mut self.own, close) {
                    warmth.keep(now, next, self.forwarder.latest_receiver());
                }
                for _ in 0..if close { 1 } else { RELAX_PAUSES } {
                    std::hint::spin_loop();
                }
            } else {
                spun_since = None;
                self.sleep(now, next)?;
            }
        }
    }

    /// Timeline, steps of the series, and ghosts.
    fn keep_time(&mut self, now: u64, advanced: bool) {
        while self.timeline.first().is_some_and(|step| self.window.started_ns + step.at_ns <= now) {
            let step = self.timeline.remove(0);
            let asked_ns = self.window.started_ns + step.at_ns;
            // A condition is checked as a whole when it is put in force, its timeline included.
            let applied = self.forwarder.network.step(clock::instant(asked_ns), &step.places);
            debug_assert!(applied.is_ok(), "{applied:?}");
            if let Ok(at) = applied {
                self.note_step(asked_ns, at.as_nanos(), &step.places);
            }
        }
        let reached = self.forwarder.network.engine_ref().now().as_nanos();
        let ghosts_wait = !advanced && reached + CATCH_UP_NS + VISIBLE_AFTER_NS < now;
        if ghosts_wait {
            self.forwarder.let_out(now - VISIBLE_AFTER_NS);
        }
        while self.series.step_ends_ns() <= now {
            let (engine, elements) = self.forwarder.network.engine_and_elements();
            self.series.close_step(engine, elements);
        }
    }

    fn note_step(&mut self, asked_ns: u64, at_ns: u64, places: &Places) {
        let name = &self.forwarder.network.fabric().condition.name;
        self.changes.push(Change::new("timeline", asked_ns, at_ns, name, places));
        self.forwarder.record(|| Record::Step { at_ns, json: json(places) });
    }

    fn note_condition(&mut self, asked_ns: u64, at_ns: u64, condition: &Condition) {
        self.changes.push(Change::new("set", asked_ns, at_ns, &condition.name, &condition.places));
        self.forwarder.record(|| Record::Condition { at_ns, json: json(condition) });
    }

    fn sleep(&mut self, now: u64, next: Option<u64>) -> Result<(), String> {
        let ghosts = self.forwarder.network.sources().next().is_some();
        let longest = if ghosts { NAP_NS } else { SLEEP_NS };
        let until = next
            .map_or(now + longest, |due| due - self.waking.margin_ns())
            .min(now + longest)
            .min(self.series.step_ends_ns().max(now));
        let timeline = self.timeline.first().map_or(u64::MAX, |step| self.window.started_ns + step.at_ns);
        let wait = until.min(timeline).saturating_sub(now);
        self.stalls.awake(now, now + wait);
        self.forwarder.give_back(Need::Rest);
        let mut waiting: Vec<libc::pollfd> = self
            .descriptors
            .iter()
            .map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 })
            .collect();
        let timeout = libc::timespec { tv_sec: 0, tv_nsec: wait.min(SLEEP_NS) as libc::c_long };
        // SAFETY: the array and its length are passed together; no signal mask.
        let result = unsafe {
            libc::ppoll(
                waiting.as_mut_ptr(),
                waiting.len() as libc::nfds_t,
                &raw const timeout,
                std::ptr::null(),
            )
        };
        if result < 0 {
            let error = io::Error::last_os_error();
            if error.kind() != io::ErrorKind::Interrupted {
                return Err(format!("waiting for packets: {error}"));
            }
        }
        let woke = clock::monotonic_ns();
        self.precedence.slept(woke - now);
        if wait < SLEEP_NS {
            self.waking.woke(now + wait, woke, result == 0);
        }
        Ok(())
    }

    /// Carries out every command that waits; false when it was told to stop.
    fn obey(&mut self) -> Result<bool, String> {
        loop {
            let now = clock::monotonic_ns();
            match self.inbox.try_recv() {
                Ok(Command::Set(condition, reply)) => {
                    let applied = self.forwarder.network.apply(clock::instant(now), &condition);
                    if let Ok(at) = applied {
                        self.note_condition(now, at.as_nanos(), &condition);
                    }
                    // An asker that has gone needs no answer; the same holds below.
                    let _ = reply.send(applied.map(|at| at.as_nanos()));
                }
                Ok(Command::Measure(reply)) => {
                    self.start_window(now);
                    let _ = reply.send(now);
                }
                Ok(Command::Read(reply)) => {
                    self.forwarder.let_out(now);
                    let _ = reply.send(Box::new(self.measurement(now)));
                }
                Ok(Command::Stop) | Err(TryRecvError::Disconnected) => return Ok(false),
                Err(TryRecvError::Empty) => return Ok(true),
            }
        }
    }

    fn start_window(&mut self, now: u64) {
        self.forwarder.let_out(now);
        self.forwarder.start_window();
        self.series.start_window(now);
        self.timeline = self.forwarder.network.fabric().condition.timeline.clone();
        self.timeline.sort_by_key(|step| step.at_ns);
        // What was in force when the window started belongs to it.
        self.changes.drain(..self.changes.len() - 1);
        self.canary_gap_ns_max = 0;
        self.stalls.start_window();
        self.window = WindowStart {
            started_ns: now,
            steal_ns: host::steal_ns(),
            run_queue_delay_ns: host::run_queue_delay_ns(),
            cpu_ns: clock::thread_cpu_ns(),
        };
    }

    fn measurement(&mut self, now: u64) -> Measurement {
        let ring_overruns = self.forwarder.ports.iter_mut().map(Port::overruns).sum();
        let monitors = monitors::read(&self.forwarder.network, &mut self.forwarder.sightings);
        let name = |position: usize| self.forwarder.network.elements()[position].name.clone();
        let engine = self.forwarder.network.engine_ref();
        let elements = self.forwarder.network.elements();
        Measurement {
            window: Window {
                started_ns: self.window.started_ns,
                ended_ns: now,
                realtime_minus_monotonic_ns: self.forwarder.stamps.realtime_minus_monotonic_ns(),
            },
            wait_mode: self.wait_mode(),
            ledger: self.forwarder.ledger.report(),
            conservation: self.conservation(),
            host: Host {
                canary_gap_ns_max: self.canary_gap_ns_max,
                stalls: self.stalls.found().to_vec(),
                // The kernel has been seen to count steal backwards after a migration.
                steal_ns: host::steal_ns().saturating_sub(self.window.steal_ns),
                run_queue_delay_ns: host::run_queue_delay_ns()
                    .zip(self.window.run_queue_delay_ns)
                    .map(|(now_ns, then_ns)| now_ns.saturating_sub(then_ns)),
                emulator_cpu_ns: clock::thread_cpu_ns() - self.window.cpu_ns,
                ring_overruns,
                send_retries: self.forwarder.send_retries,
            },
            changes: self.changes.clone(),
            capture: self
                .forwarder
                .capture
                .as_ref()
                .map(|capture| CaptureState { left_out_packets: capture.left_out() }),
            recording: self
                .forwarder
                .recorder
                .as_ref()
                .map(|recorder| Recording { lost_records: recorder.lost() }),
            elements: elements
                .iter()
                .map(|element| {
                    let counters = engine.counters(element.id);
                    Element {
                        element: element.name.clone(),
                        place: element.place.word(),
                        of: element.of.clone(),
                        real: counts(&counters.real),
                        ghost: counts(&counters.ghost),
                        credit: engine.credit(element.id).map(|level| Credit {
                            budget_bits: level.budget_bits,
                            refill_bps: level.refill.get(),
                            first_bits: level.first_bits,
                            left_bits: level.now_bits,
                        }),
                    }
                })
                .collect(),
            series: SeriesReport {
                step_ns: STEP_NS,
                rows: self
                    .series
                    .rows
                    .iter()
                    .map(|row| SeriesRow {
                        at_ns: row.at_ns,
                        element: name(row.element),
                        class: match row.class {
                            Class::Real => "real",
                            Class::Ghost => "ghost",
                        },
                        arrived_bytes: row.arrived_bytes,
                        departed_bytes: row.departed_bytes,
                        dropped_packets: row.dropped_packets,
                        dropped_bytes: row.dropped_bytes,
                        queued_bytes: row.queued_bytes,
                    })
                    .collect(),
            },
            monitors,
            interference: self.offered(),
            capacity: self.capacity(),
            drops: self.drops(),
            retransmissions: self.retransmissions(),
            held_acknowledgements: self.held_acknowledgements(),
        }
    }

    fn conservation(&self) -> Conservation {
        let (totals, passed) = (self.forwarder.network.engine_ref().totals(), self.forwarder.passed);
        let entered = ByClass { real: passed.entered, ghost: totals.ghost.entered };
        let duplicated = ByClass { real: totals.real.duplicated, ghost: totals.ghost.duplicated };
        let out = ByClass { real: passed.out, ghost: totals.ghost.left };
        let dropped = ByClass { real: passed.lost + totals.real.dropped, ghost: totals.ghost.dropped };
        let inside = ByClass { real: totals.real.inside + passed.held_back, ghost: totals.ghost.inside };
        let holds = entered.real + duplicated.real == out.real + dropped.real + inside.real
            && entered.ghost + duplicated.ghost == out.ghost + dropped.ghost + inside.ghost;
        Conservation { entered, duplicated, out, dropped, inside, holds }
    }

    /// What processes made of links since the window started, which is when they began.
    fn capacity(&self) -> Vec<Driven> {
        let network = &self.forwarder.network;
        let engine = network.engine_ref();
        network
            .driven_links()
            .map(|(link, process)| Driven {
                link: link.to_owned(),
                lost_records: engine.changes_not_kept(process),
                changes: engine
                    .changes(process)
                    .iter()
                    .map(|&(at, level)| Level { at_ns: at.as_nanos(), rate_bps: rate_bps(level) })
                    .collect(),
            })
            .collect()
    }

    fn offered(&self) -> Vec<Offered> {
        let network = &self.forwarder.network;
        network
            .sources()
            .map(|(source, id)| {
                let draws = network.engine_ref().draws(id);
                // The draw in force when the window started belongs to it.
                let first =
                    draws.iter().rposition(|(at, _)| at.as_nanos() <= self.window.started_ns).unwrap_or(0);
                Offered {
                    source: source.to_owned(),
                    draws: draws[first..]
                        .iter()
                        .map(|(at, rate_bps)| Draw { at_ns: at.as_nanos(), rate_bps: *rate_bps })
                        .collect(),
                }
            })
            .collect()
    }

    fn drops(&self) -> Rows<Drop> {
        let engine = self.forwarder.network.engine_ref();
        let records = &self.forwarder.records;
        let rows = records.drops.iter().map(|row| {
            let (element, reason) = match row.fate {
                Fate::Element(id, reason) => (engine.element_name(id).to_owned(), reason.name().to_owned()),
                Fate::Emulator(reason) => ("emulator".to_owned(), reason.to_owned()),
            };
            Drop {
                at_ns: row.at_ns,
                element,
                reason,
                src: row.flow.map(|flow| flow.source.to_string()),
                dst: row.flow.map(|flow| flow.destination.to_string()),
                protocol: row.flow.map(|flow| flow.protocol_word()),
                ip_bytes: row.ip_bytes,
                payload_bytes: row.payload_bytes,
                tcp_seq: row.tcp.map(|(sequence, _)| sequence),
                tcp_flags: row.tcp.map(|(_, flags)| flags),
            }
        });
        Rows { lost_records: records.drops_lost, rows: rows.collect() }
    }

    fn retransmissions(&self) -> Rows<Again> {
        let nodes = &self.forwarder.network.fabric().nodes;
        let records = &self.forwarder.records;
        let rows = records.retransmissions.iter().map(|row| Again {
            at_ns: row.at_ns,
            node: nodes[row.node].name.clone(),
            src: row.flow.source.to_string(),
            dst: row.flow.destination.to_string(),
            tcp_seq: row.tcp_seq,
            payload_bytes: row.payload_bytes,
            since_first_ns: row.since_first_ns,
        });
        Rows { lost_records: records.retransmissions_lost, rows: rows.collect() }
    }

    fn held_acknowledgements(&self) -> Rows<HeldAcknowledgement> {
        let nodes = &self.forwarder.network.fabric().nodes;
        let records = &self.forwarder.records;
        let rows = records.held.iter().map(|row| HeldAcknowledgement {
            at_ns: row.held.at_ns,
            node: nodes[row.node].name.clone(),
            src: row.flow.source.to_string(),
            dst: row.flow.destination.to_string(),
            held_ns: row.held.held_ns,
        });
        Rows { lost_records: records.held_lost, rows: rows.collect() }
    }
}

/// The fabric's own types, which serde can always write.
fn json(value: &impl serde::Serialize) -> String {
    serde_json::to_string(value).expect("maps with text keys become JSON")
}

/// A level as measurements have it: 0 is an outage, `None` is unlimited.
fn rate_bps(level: Capacity) -> Option<u64> {
    match level {
        Capacity::Outage => Some(0),
        Capacity::Rate(Rate::BitsPerSecond(rate)) => Some(rate.get()),
        Capacity::Rate(Rate::Unlimited) => None,
    }
}

fn counts(counters: &crosswind_engine::ClassCounters) -> Counts {
    let count = |count: crosswind_engine::Count| Count { packets: count.packets, bytes: count.bytes };
    Counts {
        arrived_packets: counters.arrived.packets,
        arrived_bytes: counters.arrived.bytes,
        departed_packets: counters.departed.packets,
        departed_bytes: counters.departed.bytes,
        duplicated: count(counters.duplicated),
        corrupted: count(counters.corrupted),
        marked_packets: counters.marked.packets,
        dropped: DropReason::ALL
            .iter()
            .map(|reason| (reason.name(), counters.dropped(*reason)))
            .filter(|(_, count)| count.packets > 0)
            .map(|(name, dropped)| (name, count(dropped)))
            .collect(),
    }
}
