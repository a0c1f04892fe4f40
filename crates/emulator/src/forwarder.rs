//! From a node's frame to wire packets in the engine, and from the engine's departures to the receiver's frame.
//!
//! Time is an argument. Waiting, commands and threads are the worker's.
//!
//! A super-packet enters whole as a train of wire packets. Those that survive and are due within one merge window leave
//! as one frame, at the last of them; with a gap, another mark or an expired window in between they leave apart.

use std::collections::VecDeque;
use std::io;
use std::net::IpAddr;

use crosswind_engine::{wire_bytes, Ecn, Instant, Outcome, Packet};
use crosswind_fabric::{Facts, Frame, Network};
use crosswind_recording::{Decision, Record, Recorder};
use crosswind_wire::{Train, VnetHeader};

use crate::capture::Capture;
use crate::clock::{self, Stamps};
use crate::lead::Lead;
use crate::ledger::Ledger;
use crate::port::{Need, Port};
use crate::records::{Fate, Records};
use crate::sightings::Sightings;
use crate::trains::{Buffer, InTransit, Run, Trains};

/// Lateness up to here is within what the emulator promises: what a quiet small virtual machine's own hiccups cost.
const BOUND_NS: u64 = 100_000;
/// Nodes send IPv4 packets here, whomever they are for; every other frame goes to its receiver's own address.
const SWITCH_MAC: [u8; 6] = [2, 0x77, 0, 0, 0, 0];
/// A node that cannot take a frame for this long has lost it.
const SEND_PATIENCE_NS: u64 = 2_000_000;
/// What is to be asked for so soon is prepared now, and sent when its time has come: looking up, cutting and checking a frame takes time
/// that would be the packet's. A packet that comes meanwhile may be taken for as much younger than it is.
const AHEAD_NS: u64 = 2_000;
/// Frames read from one port before the others get their turn.
const FRAMES_PER_TURN: usize = 16;

/// Wire packets of real traffic in this window, counted where the emulator sees them and not by the engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Entered; those inside when the window started count as entered.
    pub entered: u64,
    /// Handed over.
    pub out: u64,
    /// Lost by the emulator itself, outside the engine.
    pub lost: u64,
    /// Have left the engine and wait for the rest of their run.
    pub held_back: u64,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    at_ns: u64,
    port: usize,
    slot: u32,
    vnet: VnetHeader,
}

/// Ports, engine and everything in between.
#[derive(Debug)]
pub struct Forwarder<P> {
    /// The engine with its elements and paths.
    pub network: Network,
    /// One per node.
    pub ports: Vec<P>,
    /// Lateness.
    pub ledger: Ledger,
    /// Drops and retransmissions.
    pub records: Records,
    /// What monitors read from headers.
    pub sightings: Sightings,
    /// Real wire packets of this window.
    pub passed: Passed,
    /// Sends that the kernel refused at first.
    pub send_retries: u64,
    /// Clock difference for the kernel's stamps.
    pub stamps: Stamps,
    /// Where everything that happens to the engine is written, if anywhere.
    pub recorder: Option<Recorder>,
    /// Where packets are written, if anywhere.
    pub capture: Option<Capture>,
    /// How much before a packet is due the kernel is asked to send it (`lead`).
    pub lead: Lead,
    latest_receiver: usize,
    trains: Trains,
    holders: Vec<Vec<u32>>,
    batch: Vec<Waiting>,
    runs: VecDeque<(u32, u64, u64)>,
    runs_started: u64,
    /// Where a damaged packet is assembled.
    damaged: Vec<u8>,
    merge_window_ns: u64,
    wire_bps: Option<u64>,
}

impl<P: Port> Forwarder<P> {
    /// A forwarder for the network's nodes, one port each.
    pub fn new(network: Network, ports: Vec<P>) -> Self {
        let holders = ports.iter().map(|port| vec![u32::MAX; port.slots() as usize]).collect();
        let (merge_window_ns, wire_bps) =
            (network.fabric().merge_window_ns, network.fabric().uplink.rate_bps);
        Self {
            network,
            ports,
            ledger: Ledger::new(BOUND_NS + merge_window_ns),
            records: Records::default(),
            sightings: Sightings::default(),
            passed: Passed::default(),
            send_retries: 0,
            stamps: Stamps::new(),
            recorder: None,
            capture: None,
            lead: Lead::new(0),
            latest_receiver: 0,
            trains: Trains::default(),
            holders,
            batch: Vec::new(),
            runs: VecDeque::new(),
            runs_started: 0,
            damaged: Vec::new(),
            merge_window_ns,
            wire_bps,
        }
    }

    /// Writes a record, where a recording was asked for.
    pub fn record(&mut self, record: impl FnOnce() -> Record) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&record());
        }
    }

    /// Starts a window: ledger, records and counters from zero. Traffic inside goes on.
    pub fn start_window(&mut self) {
        self.ledger = Ledger::new(BOUND_NS + self.merge_window_ns);
        self.records.start_window();
        self.sightings.start_window();
        self.send_retries = 0;
        let at = self.network.engine_ref().now();
        self.record(|| Record::Window { at_ns: at.as_nanos() });
        self.network.restart_processes(at);
        let engine = self.network.engine();
        engine.reset_counters();
        let held_back = self.passed.held_back;
        self.passed =
            Passed { entered: engine.real_inside() as u64 + held_back, held_back, ..Passed::default() };
        for port in &mut self.ports {
            port.overruns();
        }
    }

    /// Takes in what has arrived at the ports; returns how many frames.
    pub fn take_in(&mut self, now: u64) -> usize {
        let mut batch = std::mem::take(&mut self.batch);
        for (index, port) in self.ports.iter_mut().enumerate() {
            for _ in 0..FRAMES_PER_TURN {
                let Some(arrival) = port.receive() else { break };
                let at_ns = self.stamps.monotonic(arrival.stamped_realtime_ns, now);
                batch.push(Waiting { at_ns, port: index, slot: arrival.slot, vnet: arrival.vnet });
            }
        }
        // Stable: frames of one port with equal stamps keep their order.
        batch.sort_by_key(|waiting| waiting.at_ns);
        for waiting in &batch {
            self.enter(*waiting);
        }
        // Letting a packet in does everything due before it, and a path without delay is left at once.
        self.settle(now);
        let taken = batch.len();
        batch.clear();
        self.batch = batch;
        self.give_back(Need::Room);
        taken
    }

    /// Copies frames out of their slots as far as that is needed.
    pub fn give_back(&mut self, need: Need) {
        for port in 0..self.ports.len() {
            while let Some(slot) = self.ports[port].pressed(need) {
                self.copy_out(port, slot);
            }
        }
    }

    fn copy_out(&mut self, port: usize, slot: u32) {
        let key = self.holders[port][slot as usize];
        let copy = self.trains.copy(self.ports[port].bytes(slot));
        self.trains.get(key).buffer = copy;
        self.ports[port].release(slot);
    }

    fn enter(&mut self, waiting: Waiting) {
        let Waiting { at_ns, port, slot, vnet } = waiting;
        let Some(mut train) = Train::read(vnet, self.ports[port].bytes(slot)) else {
            if let Some(capture) = &mut self.capture {
                capture.dropped_unread(at_ns, port, self.ports[port].bytes(slot), "emulator malformed");
            }
            self.ports[port].release(slot);
            self.passed.entered += 1;
            self.passed.lost += 1;
            return;
        };
        if let Some(capture) = &mut self.capture {
            capture.entered(at_ns, port, &train, self.ports[port].bytes(slot));
        }
        let destination = train.headers.destination;
        if destination[0] & 1 == 1 {
            // Broadcast and multicast: a copy for every other node, each decided on its own.
            for to in (0..self.ports.len()).filter(|&to| to != port) {
                let copy = self.trains.copy(self.ports[port].bytes(slot));
                self.push(at_ns, train, copy, port, to);
            }
            self.ports[port].release(slot);
            return;
        }
        let to = if destination == SWITCH_MAC {
            node_behind(train.headers.addresses)
        } else {
            node_of(destination)
        };
        let Some(to) = to.filter(|&to| to < self.ports.len() && to != port) else {
            self.lose(at_ns, &train, 0, train.count() - 1, "no-route");
            if let Some(capture) = &mut self.capture {
                let frame = self.ports[port].bytes(slot);
                let why = format_args!("emulator no-route");
                capture.dropped(at_ns, port, &train, frame, 0..=train.count() - 1, why);
            }
            self.passed.entered += u64::from(train.count());
            self.ports[port].release(slot);
            return;
        };
        train.headers.destination = mac_of(to);
        self.records.entered(at_ns, (port, to), &train);
        let key = self.push(at_ns, train, Buffer::Slot(slot), port, to);
        self.holders[port][slot as usize] = key;
    }

    fn push(&mut self, at_ns: u64, train: Train, buffer: Buffer, from: usize, to: usize) -> u32 {
        let count = train.count();
        let inside = if self.network.carries_whole(from, to, count) { 1 } else { count };
        let key = self.trains.insert(train, buffer, from, to, inside);
        self.latest_receiver = to;
        let frame = Frame {
            key,
            count,
            ip_bytes: train.ip_bytes(0),
            last_ip_bytes: train.ip_bytes(count - 1),
            dscp: train.headers.dscp,
            ecn: Ecn::from_bits(train.headers.ecn),
        };
        let at = clock::instant(at_ns);
        let ports =
            train.headers.transport.map(|transport| (transport.source_port, transport.destination_port));
        let labels = self.network.labels(&Facts { from, to, protocol: train.headers.protocol, ports });
        let used = self.network.push_labelled(at, from, to, &frame, labels);
        self.record(|| Record::Entered { at_ns: used.as_nanos(), from, to, frame });
        if used > at {
            self.ledger.clamp((used - at).as_nanos());
        }
        self.passed.entered += u64::from(count);
        key
    }

    /// The next instant at which the engine has to do something about a real packet, or one has to be handed over; `None` while
    /// none is inside.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.due(self.network.engine_ref().next_event())
    }

    /// The port of the node that the frame which came last is for.
    pub fn latest_receiver(&self) -> &P {
        &self.ports[self.latest_receiver]
    }

    /// How long before it is due a packet is to be let out: it is prepared first, and then asked for ahead of time.
    pub fn ahead_ns(&self) -> u64 {
        self.lead.ns() + AHEAD_NS
    }

    /// An instant before which no packet that is inside has to be handed over; `None` while none is.
    pub fn next_departure_ns(&mut self) -> Option<u64> {
        let departure = self.network.engine().lookahead();
        self.due(departure)
    }

    fn due(&self, in_engine: Option<Instant>) -> Option<u64> {
        let real = self.network.engine_ref().real_inside() > 0;
        let event = in_engine.filter(|_| real).map(|at| at.as_nanos());
        let run = self.runs.front().map(|(_, _, first_due)| first_due + self.merge_window_ns);
        match (event, run) {
            (Some(event), Some(run)) => Some(event.min(run)),
            (event, run) => event.or(run),
        }
    }

    /// Lets the engine do everything due up to `now` and hands over what has left; returns how many outcomes there were.
    pub fn let_out(&mut self, now: u64) -> usize {
        self.network.engine().advance(clock::instant(now));
        self.settle(now)
    }

    /// Hands over what has left the engine.
    fn settle(&mut self, now: u64) -> usize {
        let mut outcomes = 0;
        // A packet is seen before it ends: its frame is still here.
        while let Some(sighting) = self.network.engine().pop_sighting() {
            let InTransit { number, train, .. } = self.trains.get(Frame::key_of(sighting.packet.tag));
            let packets = wire_packets(&sighting.packet, train);
            self.sightings.seen(&self.network, &sighting, (*number, train), packets);
        }
        while let Some(outcome) = self.network.engine().pop() {
            outcomes += 1;
            self.record(|| Record::Decided(Decision::of(&outcome)));
            match outcome {
                Outcome::Departure { due, packet, .. } => self.departed(due.as_nanos(), &packet, now),
                Outcome::Duplicated { packet, .. } => self.trains.get(Frame::key_of(packet.tag)).inside += 1,
                Outcome::Dropped { at, element, reason, packet, .. } => {
                    let key = Frame::key_of(packet.tag);
                    let train = self.trains.get(key).train;
                    let (first, last) = wire_packets(&packet, &train);
                    for index in first..=last {
                        self.records.dropped(at.as_nanos(), Fate::Element(element, reason), &train, index);
                    }
                    if let Some(capture) = &mut self.capture {
                        let entry = self.trains.get(key);
                        let frame = bytes_of(&self.ports, entry);
                        let element = self.network.engine_ref().element_name(element);
                        let why = format_args!("{element} {}", reason.name());
                        capture.dropped(at.as_nanos(), entry.from, &train, frame, first..=last, why);
                    }
                    self.one_less_inside(key);
                }
            }
        }
        while let Some(&(key, number, first_due)) = self.runs.front() {
            let open =
                self.trains.find(key).is_some_and(|entry| entry.run.is_some_and(|run| run.number == number));
            if open {
                if first_due + self.merge_window_ns > now {
                    break;
                }
                self.hand_over(key);
            }
            self.runs.pop_front();
        }
        outcomes
    }

    fn departed(&mut self, due_ns: u64, packet: &Packet, now: u64) {
        let key = Frame::key_of(packet.tag);
        let window = self.merge_window_ns;
        // What is late already gets no later by leaving together, and an emulator that is behind catches up.
        let late = if window > 0 { now } else { 0 };
        let entry = self.trains.get(key);
        let (first, last) = wire_packets(packet, &entry.train);
        let joins = |run: &Run| {
            run.last + 1 == first
                && (run.dscp, run.ecn) == (packet.dscp, packet.ecn)
                && (run.damage, packet.damage) == (None, None)
                && due_ns <= late.max(run.first_due_ns + window)
        };
        if entry.run.is_some_and(|run| !joins(&run)) {
            self.hand_over(key);
        }
        let entry = self.trains.get(key);
        entry.dues_ns.push((due_ns, u32::from(packet.count)));
        self.passed.held_back += u64::from(packet.count);
        match &mut entry.run {
            Some(run) => run.last = last,
            None => {
                self.runs_started += 1;
                let number = self.runs_started;
                entry.run = Some(Run {
                    first,
                    last,
                    dscp: packet.dscp,
                    damage: packet.damage,
                    ecn: packet.ecn,
                    first_due_ns: due_ns,
                    number,
                });
                // The last packet inside is handed over at once and needs no timer.
                if entry.inside > 1 {
                    self.runs.push_back((key, number, due_ns));
                }
            }
        }
        self.one_less_inside(key);
    }

    fn one_less_inside(&mut self, key: u32) {
        let entry = self.trains.get(key);
        entry.inside -= 1;
        if entry.inside == 0 {
            self.hand_over(key);
            if let Some((port, slot)) = self.trains.remove(key) {
                self.ports[port].release(slot);
            }
        }
    }

    /// Hands the open run of a train to its receiver, if there is one.
    fn hand_over(&mut self, key: u32) {
        let entry = self.trains.get(key);
        let Some(run) = entry.run.take() else { return };
        let mut dues = std::mem::take(&mut entry.dues_ns);
        let train = entry.train;
        let due_ns = dues.last().map_or(0, |&(due_ns, _)| due_ns);
        let (left_ns, sent) = self.send(key, run, due_ns);
        self.passed.held_back -= u64::from(run.last - run.first + 1);
        if sent {
            let wire_bits = 8 * u64::from(wire_bytes(train.ip_bytes(run.first)));
            for (due, packets) in &dues {
                let serialisation = || self.wire_bps.map_or(0, |bps| wire_bits * 1_000_000_000 / bps);
                self.ledger.enter(*due, left_ns, u64::from(*packets), serialisation);
            }
            self.passed.out += u64::from(run.last - run.first + 1);
        } else {
            self.lose(left_ns, &train, run.first, run.last, "send-failed");
            if let Some(capture) = &mut self.capture {
                let entry = self.trains.get(key);
                let frame = bytes_of(&self.ports, entry);
                let why = format_args!("emulator send-failed");
                capture.dropped(left_ns, entry.from, &train, frame, run.first..=run.last, why);
            }
        }
        dues.clear();
        self.trains.get(key).dues_ns = dues;
    }

    /// Sends a run when `due_ns` has come; returns the instant before which it cannot have been at its receiver.
    fn send(&mut self, key: u32, run: Run, due_ns: u64) -> (u64, bool) {
        let InTransit { train, buffer, from, to, .. } = self.trains.get(key);
        let (from, to) = (*from, *to);
        let mut scratch = Train::scratch();
        // The receiver's port is borrowed for sending while the sender's still holds the frame.
        let (source, target) = two(&mut self.ports, from, to);
        let frame = match buffer {
            Buffer::Slot(slot) => source.bytes(*slot),
            Buffer::Copy(bytes) => bytes,
        };
        let mut cut = train.cut(frame, run.first, run.last, run.dscp, run.ecn.bits(), &mut scratch);
        if let Some(damage) = run.damage {
            cut = train.damage(&cut, |bits| damage.bit(bits), &mut self.damaged);
        }
        let lead_ns = self.lead.ns();
        let watched = self.lead.watches(cut.headers.len() + cut.rest.len(), due_ns);
        let asked_ns = asked_at(due_ns.saturating_sub(lead_ns));
        let left_ns = asked_ns + lead_ns;
        loop {
            let way_ns = if watched { target.send_watched(&cut) } else { target.send(&cut).map(|()| None) };
            match way_ns {
                Ok(way_ns) => {
                    if let Some(way_ns) = way_ns {
                        self.lead.watched(asked_ns, way_ns);
                    }
                    break;
                }
                Err(error) if is_passing(&error) && clock::monotonic_ns() < asked_ns + SEND_PATIENCE_NS => {
                    self.send_retries += 1;
                }
                Err(_) => return (left_ns, false),
            }
        }
        if let Some(capture) = &mut self.capture {
            if run.first == run.last {
                capture.left_as(left_ns, to, [cut.headers, cut.rest]);
            } else {
                capture.left(left_ns, to, train, frame, run.first..=run.last, (run.dscp, run.ecn.bits()));
            }
        }
        (left_ns, true)
    }

    fn lose(&mut self, at_ns: u64, train: &Train, first: u32, last: u32, reason: &'static str) {
        for index in first..=last {
            self.records.dropped(at_ns, Fate::Emulator(reason), train, index);
            self.passed.lost += 1;
        }
    }
}

/// Waits for an instant that is at most [`AHEAD_NS`] away, and returns the present.
fn asked_at(instant_ns: u64) -> u64 {
    loop {
        let now = clock::monotonic_ns();
        if !(now..now + AHEAD_NS).contains(&instant_ns) {
            return now;
        }
        std::hint::spin_loop();
    }
}

/// The frame of a train.
fn bytes_of<'a, P: Port>(ports: &'a [P], entry: &'a InTransit) -> &'a [u8] {
    match &entry.buffer {
        Buffer::Slot(slot) => ports[entry.from].bytes(*slot),
        Buffer::Copy(bytes) => bytes,
    }
}

/// Room in the kernel comes back as the receiver reads.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR))
}

/// Which wire packets of its train an engine packet stands for.
fn wire_packets(packet: &Packet, train: &Train) -> (u32, u32) {
    Frame::index_of(packet.tag).map_or((0, train.count() - 1), |index| (index, index))
}

/// The node whose address this is: 02:77:00:00 and the node's number from 1 (docs/reference/contracts.md).
fn node_of(mac: [u8; 6]) -> Option<usize> {
    let [2, 0x77, 0, 0, high, low] = mac else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
}

/// The node with this destination address: 10.77.0.0 and the node's number from 1.
fn node_behind(addresses: Option<(IpAddr, IpAddr)>) -> Option<usize> {
    let Some((_, IpAddr::V4(destination))) = addresses else {
        return None;
    };
    let [10, 77, high, low] = destination.octets() else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
}

/// The inverse of [`node_of`]; a fabric has fewer than 65 535 nodes.
fn mac_of(node: usize) -> [u8; 6] {
    let [high, low] = (node as u16 + 1).to_be_bytes();
    [2, 0x77, 0, 0, high, low]
}

/// Two different elements of a slice.
fn two<T>(slice: &mut [T], a: usize, b: usize) -> (&T, &mut T) {
    if a < b {
        let (left, right) = slice.split_at_mut(b);
        (&left[a], &mut right[0])
    } else {
        let (left, right) = slice.split_at_mut(a);
        (&right[0], &mut left[b])
    }
}

#[cfg(test)]
mod tests;
