//! Converts a node's frame to wire packets in the engine, and the engine's departures to the receiver's frame.
//!
//! Time is an argument: nothing here reads a clock or waits. The caller takes due frames one by one
//! ([`Forwarder::next`]), sends each when its instant has come, and reports the time of sending
//! ([`Forwarder::handed_over`]).
//!
//! A super-packet enters as a whole, as a train of wire packets. The surviving packets that are due within one merge
//! window leave as one frame, when the last of them is due. They leave separately where a packet is missing, a mark
//! differs or a window has expired between them.

mod border;
mod handing;
mod rejecting;

use std::collections::VecDeque;

use crosswind_engine::{DropReason, Ecn, ElementId, Instant, Outcome, Packet};
use crosswind_fabric::{Facts, Frame, Network};
use crosswind_recording::{Decision, Record, Recorder};
use crosswind_wire::{Train, VnetHeader};

use crate::addresses::{mac_of, node_of, node_with_ip, SWITCH_MAC};
use crate::capture::Capture;
use crate::clock;
use crate::crossings::Crossings;
use crate::handovers::Handovers;
use crate::holding::Holding;
use crate::lead::Lead;
use crate::ledger::Ledger;
use crate::nodes::Nodes;
use crate::pace::Pace;
use crate::port::{Need, Port};
use crate::records::{LossCause, Records};
use crate::sightings::Sightings;
use crate::trains::{Buffer, InTransit, Run, Trains};
pub use handing::Handing;
use handing::{InHand, Workspace};

/// The emulator promises lateness up to this bound. Short stalls of a quiet small virtual machine are within it.
const BOUND_NS: u64 = 100_000;
/// A frame that is due within this time is prepared now and sent at its instant. Otherwise the lookup, cutting and
/// checking of a frame would add to the packet's lateness. A packet that arrives in the meantime may be stamped up to
/// this much later than it arrived.
pub const AHEAD_NS: u64 = 2_000;
/// Frames read from one port before the next port gets its turn.
const FRAMES_PER_TURN: usize = 16;

/// Wire packets of real traffic in this window, counted by the emulator and not by the engine.
#[derive(Clone, Copy, Debug, Default)]
pub struct Passed {
    /// Packets that entered; those inside when the window started count as entered.
    pub entered: u64,
    /// Packets handed over.
    pub out: u64,
    /// Packets lost by the emulator itself, outside the engine.
    pub lost: u64,
    /// Packets that have left the engine and wait for the rest of their run.
    pub held_back: u64,
}

#[derive(Debug)]
struct Waiting<S> {
    at_ns: u64,
    port: usize,
    slot: S,
    vnet: VnetHeader,
}

/// Ports, engine and the state between them.
#[derive(Debug)]
pub struct Forwarder<P: Port> {
    /// The engine with its elements and paths.
    pub network: Network,
    /// One for each node whose packets enter and leave here.
    pub ports: Vec<P>,
    /// Lateness.
    pub ledger: Ledger,
    /// Drops and retransmissions.
    pub records: Records,
    /// Values that monitors read from headers.
    pub sightings: Sightings,
    /// Real wire packets of this window.
    pub passed: Passed,
    /// Sends that the kernel refused at the first attempt.
    pub send_retries: u64,
    /// Records all input of the engine, if requested.
    pub recorder: Option<Recorder>,
    /// Captures packets, if requested.
    pub capture: Option<Capture>,
    /// How long before a packet is due the kernel is called to send it (`lead`).
    pub lead: Lead,
    /// The connection to other domains, where there are several.
    pub crossings: Option<Box<Crossings>>,
    nodes: Nodes,
    latest_receiver: usize,
    trains: Trains<P::Slot>,
    /// The train whose frame is in a slot, by port and number of the slot.
    holders: Vec<Vec<u32>>,
    holding: Holding,
    batch: Vec<Waiting<P::Slot>>,
    runs: VecDeque<(u32, u64, u64)>,
    runs_started: u64,
    handovers: Handovers,
    /// The frame to send next, or the latest that was taken.
    in_hand: Option<InHand>,
    outcomes: usize,
    workspace: Workspace,
    merge_window_ns: u64,
    /// Wire bits per second of the last link to each node with a port.
    receive_bps: Vec<Option<u64>>,
}

impl<P: Port> Forwarder<P> {
    /// A forwarder for the network's own nodes, one port each.
    pub fn new(network: Network, ports: Vec<P>) -> Self {
        let (handovers, holding) = (Handovers::new(ports.len()), Holding::new(ports.len()));
        let holders = ports.iter().map(|port| vec![u32::MAX; port.slots() as usize]).collect();
        let merge_window_ns = network.fabric().merge_window_ns;
        let nodes = Nodes::new(network.fabric().nodes.len(), |node| network.has_node(node));
        let receive_bps = (0..ports.len()).map(|place| network.receive_bps(nodes.number(place))).collect();
        Self {
            network,
            ports,
            ledger: Ledger::new(BOUND_NS + merge_window_ns),
            records: Records::default(),
            sightings: Sightings::default(),
            passed: Passed::default(),
            send_retries: 0,
            recorder: None,
            capture: None,
            lead: Lead::new(0, Pace::real_time()),
            crossings: None,
            nodes,
            latest_receiver: 0,
            trains: Trains::default(),
            holders,
            holding,
            batch: Vec::new(),
            runs: VecDeque::new(),
            runs_started: 0,
            handovers,
            in_hand: None,
            outcomes: 0,
            workspace: Workspace::new(),
            merge_window_ns,
            receive_bps,
        }
    }

    /// Writes a record, if a recording is requested.
    pub fn record(&mut self, record: impl FnOnce() -> Record) {
        if let Some(recorder) = &mut self.recorder {
            recorder.write(&record());
        }
    }

    /// Starts a window: ledger, records and counters restart at zero. Packets inside continue.
    pub fn start_window(&mut self) {
        self.ledger = Ledger::new(BOUND_NS + self.merge_window_ns);
        self.records.start_window();
        self.sightings.start_window();
        self.send_retries = 0;
        let at = self.network.engine_ref().now();
        self.record(|| Record::Window { at_ns: at.as_nanos() });
        self.network.restart_processes(at);
        let engine = self.network.engine();
        if let Some(crossings) = &mut self.crossings {
            crossings.start_window(&engine.totals());
        }
        engine.reset_counters();
        let held_back = self.passed.held_back;
        self.passed =
            Passed { entered: engine.real_inside() as u64 + held_back, held_back, ..Passed::default() };
        for port in &mut self.ports {
            port.overruns();
        }
    }

    /// Reads the frames that have arrived at the ports in `ready`, or at all ports; returns their number. `instant_of`
    /// converts the kernel's stamp to an instant.
    pub fn take_in(&mut self, ready: Option<&[usize]>, mut instant_of: impl FnMut(u64) -> u64) -> usize {
        let mut batch = std::mem::take(&mut self.batch);
        let ports = self.ports.len();
        let mut receive = |port: usize| {
            for _ in 0..FRAMES_PER_TURN {
                let Some(arrival) = self.ports[port].receive() else { break };
                self.holding.take(port);
                let at_ns = instant_of(arrival.stamped_realtime_ns);
                batch.push(Waiting { at_ns, port, slot: arrival.slot, vnet: arrival.vnet });
            }
        };
        match ready {
            Some(ready) => ready.iter().for_each(|&port| receive(port)),
            None => (0..ports).for_each(receive),
        }
        // A stable sort: frames of one port with equal stamps stay in order.
        batch.sort_by_key(|waiting| waiting.at_ns);
        let taken = batch.len();
        for waiting in batch.drain(..) {
            self.enter(waiting);
        }
        self.batch = batch;
        taken
    }

    /// Copies frames out of their slots, as many as `need` requires.
    pub fn give_back(&mut self, need: Need) {
        // From the end: a port that has released all its slots is replaced in the list by one that was handled
        // already.
        for place in (0..self.holding.ports().len()).rev() {
            let port = self.holding.ports()[place];
            while let Some(number) = self.ports[port].pressed(need) {
                self.copy_out(port, number);
            }
        }
    }

    #[inline]
    fn release(&mut self, port: usize, slot: P::Slot) {
        self.ports[port].release(slot);
        self.holding.release(port);
    }

    fn copy_out(&mut self, port: usize, number: u32) {
        let key = self.holders[port][number as usize];
        let buffer = std::mem::replace(&mut self.trains.get(key).buffer, Buffer::Gone);
        let Buffer::Slot(slot) = buffer else {
            unreachable!("a slot to be released has the frame of a train")
        };
        let copy = self.trains.copy(self.ports[port].bytes(&slot));
        self.trains.get(key).buffer = copy;
        self.release(port, slot);
    }

    fn enter(&mut self, waiting: Waiting<P::Slot>) {
        let Waiting { at_ns, port, slot, vnet } = waiting;
        let Some(mut train) = Train::read(vnet, self.ports[port].bytes(&slot)) else {
            if let Some(capture) = &mut self.capture {
                let node = self.nodes.number(port);
                capture.dropped_unread(at_ns, node, self.ports[port].bytes(&slot), "emulator malformed");
            }
            self.release(port, slot);
            self.passed.entered += 1;
            self.passed.lost += 1;
            return;
        };
        let node = self.nodes.number(port);
        if let Some(capture) = &mut self.capture {
            capture.entered(at_ns, node, &train, self.ports[port].bytes(&slot));
        }
        let destination = train.headers.destination;
        if destination[0] & 1 == 1 {
            // Broadcast and multicast: a copy for every other node, each treated separately.
            for to in (0..self.nodes.count()).filter(|&to| to != node) {
                let copy = self.trains.copy(self.ports[port].bytes(&slot));
                self.push(at_ns, &train, copy, (port, node), to);
            }
            self.release(port, slot);
            return;
        }
        let to = if destination == SWITCH_MAC {
            node_with_ip(train.headers.addresses)
        } else {
            node_of(destination)
        };
        let Some(to) = to.filter(|&to| to < self.nodes.count() && to != node) else {
            self.lose(at_ns, &train, 0, train.count() - 1, "no-route");
            if let Some(capture) = &mut self.capture {
                let frame = self.ports[port].bytes(&slot);
                let why = format_args!("emulator no-route");
                capture.dropped(at_ns, node, &train, frame, 0..=train.count() - 1, why);
            }
            self.passed.entered += u64::from(train.count());
            self.release(port, slot);
            return;
        };
        if self.network.answers_with_reset(node, to) {
            self.reject(port, &slot, &train);
        }
        train.headers.destination = mac_of(to);
        self.records.entered(at_ns, (node, to), &train);
        let number = self.ports[port].number(&slot);
        let key = self.push(at_ns, &train, Buffer::Slot(slot), (port, node), to);
        self.holders[port][number as usize] = key;
    }

    fn push(
        &mut self,
        at_ns: u64,
        train: &Train,
        buffer: Buffer<P::Slot>,
        (port, from): (usize, usize),
        to: usize,
    ) -> u32 {
        let count = train.count();
        let ports =
            train.headers.transport.map(|transport| (transport.source_port, transport.destination_port));
        let facts = Facts { from, to, protocol: train.headers.protocol, ports };
        let flow = self.network.flow(&facts);
        let inside = if self.network.carries_whole(from, to, flow, count) { 1 } else { count };
        let place = self.nodes.place(to);
        let key = self.trains.insert(train, buffer, port, place, inside);
        self.latest_receiver = place;
        let frame = Frame {
            key,
            count,
            ip_bytes: train.ip_bytes(0),
            last_ip_bytes: train.ip_bytes(count - 1),
            dscp: train.headers.dscp,
            ecn: Ecn::from_bits(train.headers.ecn),
        };
        let at = clock::instant(at_ns);
        let labels = self.network.labels(&facts);
        let used = self.network.push_labelled(at, (from, to, flow), &frame, labels);
        self.record(|| Record::Entered { at_ns: used.as_nanos(), from, to, flow, frame });
        if used > at {
            self.ledger.clamp((used - at).as_nanos());
        }
        self.passed.entered += u64::from(count);
        key
    }

    /// The next instant at which the engine must act on a real packet, or at which one must be handed over; `None`
    /// while none is inside.
    pub fn next_due_ns(&self) -> Option<u64> {
        self.due(self.network.engine_ref().next_event())
    }

    /// The port of the receiver of the latest frame; `None` if the receiver is in another domain.
    pub fn latest_receiver(&self) -> Option<&P> {
        self.ports.get(self.latest_receiver)
    }

    /// How long before it is due a packet must leave the engine: its frame is prepared, and the kernel is called ahead
    /// of time.
    pub fn ahead_ns(&self) -> u64 {
        self.lead.ns() + self.lead.pace().perceived_length_ns(AHEAD_NS)
    }

    /// An instant before which no packet inside must be handed over; `None` while none is inside.
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

    /// Advances the engine to `now`.
    pub fn let_out(&mut self, now: u64) {
        self.network.engine().advance(clock::instant(now));
    }

    /// Number of the engine's outcomes so far.
    pub fn outcomes(&self) -> usize {
        self.outcomes
    }

    /// Processes the engine's outcomes until there is a frame to send, so that the first frame does not wait for the
    /// others.
    fn process_outcomes(&mut self, now: u64) {
        // A monitor sees a packet before the packet ends, so its frame is still stored.
        while let Some(sighting) = self.network.engine().pop_sighting() {
            let InTransit { number, train, .. } = self.trains.get(Frame::key_of(sighting.packet.tag));
            let packets = wire_packets(&sighting.packet, train);
            self.sightings.seen(&self.network, &sighting, (*number, train), packets);
        }
        while !self.is_something_due() {
            let Some(outcome) = self.network.engine().pop() else { return };
            self.outcomes += 1;
            self.record(|| Record::Decided(Decision::of(&outcome)));
            match outcome {
                Outcome::Departure { due, packet, .. } => self.departed(due.as_nanos(), &packet, now),
                Outcome::Duplicated { packet, .. } => self.trains.get(Frame::key_of(packet.tag)).inside += 1,
                Outcome::Dropped { at, element, reason, packet, .. } => {
                    self.dropped(at.as_nanos(), (element, reason), &packet);
                }
            }
        }
    }

    fn dropped(&mut self, at_ns: u64, (element, reason): (ElementId, DropReason), packet: &Packet) {
        let key = Frame::key_of(packet.tag);
        let train = self.trains.get(key).train;
        let (first, last) = wire_packets(packet, &train);
        for index in first..=last {
            self.records.dropped(at_ns, LossCause::Element(element, reason), &train, index);
        }
        if let Some(capture) = &mut self.capture {
            let entry = self.trains.get(key);
            let frame = bytes_of(self.ports.get(entry.from), entry);
            let element = self.network.engine_ref().element_name(element);
            let why = format_args!("{element} {}", reason.name());
            capture.dropped(at_ns, self.nodes.number(entry.from), &train, frame, first..=last, why);
        }
        let entry = self.trains.get(key);
        entry.inside -= 1;
        if entry.inside == 0 && entry.run.is_some() {
            self.hand_over(key);
        } else {
            self.remove_if_done(key);
        }
    }

    /// Closes the oldest open run whose merge window is over; false if there is none.
    fn close_a_run(&mut self, now: u64) -> bool {
        while let Some(&(key, number, first_due)) = self.runs.front() {
            let open = self.trains.get(key).run.as_ref().is_some_and(|run| run.number == number);
            if open && first_due + self.merge_window_ns > now {
                return false;
            }
            self.runs.pop_front();
            if open {
                self.hand_over(key);
                return true;
            }
        }
        false
    }

    fn departed(&mut self, due_ns: u64, packet: &Packet, now: u64) {
        let key = Frame::key_of(packet.tag);
        let window = self.merge_window_ns;
        // Late packets do not become later by leaving together, and an emulator that is behind catches up.
        let late = if window > 0 { now } else { 0 };
        let mut entry = self.trains.get(key);
        let (first, last) = wire_packets(packet, &entry.train);
        let joins = |run: &Run| {
            run.last + 1 == first
                && (run.dscp, run.ecn) == (packet.dscp, packet.ecn)
                && (run.damage, packet.damage) == (None, None)
                && due_ns <= late.max(run.first_due_ns + window)
        };
        if entry.run.as_ref().is_some_and(|run| !joins(run)) {
            self.queue(key);
            entry = self.trains.get(key);
        }
        entry.dues_ns.push((due_ns, u32::from(packet.count)));
        self.passed.held_back += u64::from(packet.count);
        entry.inside -= 1;
        let inside = entry.inside;
        match &mut entry.run {
            Some(run) => run.last = last,
            None => {
                self.runs_started += 1;
                let number = self.runs_started;
                let (dscp, damage, ecn) = (packet.dscp, packet.damage, packet.ecn);
                entry.run = Some(Run { first, last, dscp, damage, ecn, first_due_ns: due_ns, number });
                // The last packet inside is handed over at once and needs no timer.
                if inside > 0 {
                    self.runs.push_back((key, number, due_ns));
                }
            }
        }
        if inside == 0 {
            self.hand_over(key);
        }
    }

    /// Removes a train if none of its packets is inside or waits for its receiver.
    #[inline(always)]
    fn remove_if_done(&mut self, key: u32) {
        if self.trains.get(key).is_done() {
            if let Some((port, slot)) = self.trains.remove(key) {
                self.release(port, slot);
            }
        }
    }

    fn lose(&mut self, at_ns: u64, train: &Train, first: u32, last: u32, reason: &'static str) {
        for index in first..=last {
            self.records.dropped(at_ns, LossCause::Emulator(reason), train, index);
            self.passed.lost += 1;
        }
    }
}

/// The frame of a train; `source` is the port of its sender, if that is in this domain.
fn bytes_of<'a, P: Port>(source: Option<&'a P>, entry: &'a InTransit<P::Slot>) -> &'a [u8] {
    match &entry.buffer {
        Buffer::Slot(slot) => source.expect("a slot belongs to a port").bytes(slot),
        Buffer::Shared(passage) => &passage.bytes,
        Buffer::Copy(bytes) => bytes,
        Buffer::Gone => unreachable!("a frame is stored while its train is inside"),
    }
}

/// The wire packets of its train that an engine packet represents.
#[inline]
fn wire_packets(packet: &Packet, train: &Train) -> (u32, u32) {
    Frame::index_of(packet.tag).map_or((0, train.count() - 1), |index| (index, index))
}

#[cfg(test)]
mod tests;
