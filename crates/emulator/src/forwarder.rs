//! From a node's frame to wire packets in the engine, and from the engine's departures to the receiver's frame.
//!
//! Time is an argument. Waiting, commands and threads are the [worker](crate::worker)'s.
//!
//! A super-packet enters whole as a train of wire packets. Those that survive and are due within one merge window leave
//! as one frame, at the last of them; with a gap, another mark or an expired window in between they leave apart.

use std::collections::VecDeque;
use std::io;

use crosswind_engine::{wire_bytes, Outcome, Packet};
use crosswind_fabric::Network;
use crosswind_wire::{Train, VnetHeader};

use crate::clock::{self, Stamps};
use crate::ledger::Ledger;
use crate::port::Port;
use crate::records::{Fate, Records};
use crate::trains::{Buffer, InTransit, Run, Trains};

/// Lateness up to here is within what the emulator promises: what a quiet small virtual machine's own hiccups cost.
const BOUND_NS: u64 = 100_000;
/// A node that cannot take a frame for this long has lost it.
const SEND_PATIENCE_NS: u64 = 2_000_000;
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
    /// Real wire packets of this window.
    pub passed: Passed,
    /// Sends that the kernel refused at first.
    pub send_retries: u64,
    /// Clock difference for the kernel's stamps.
    pub stamps: Stamps,
    trains: Trains,
    holders: Vec<Vec<u32>>,
    batch: Vec<Waiting>,
    runs: VecDeque<(u32, u64, u64)>,
    runs_started: u64,
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
            passed: Passed::default(),
            send_retries: 0,
            stamps: Stamps::new(),
            trains: Trains::default(),
            holders,
            batch: Vec::new(),
            runs: VecDeque::new(),
            runs_started: 0,
            merge_window_ns,
            wire_bps,
        }
    }

    /// Starts a window: ledger, records and counters from zero. Traffic inside goes on.
    pub fn start_window(&mut self) {
        self.ledger = Ledger::new(BOUND_NS + self.merge_window_ns);
        self.records.start_window();
        self.send_retries = 0;
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
        for port in 0..self.ports.len() {
            while let Some(slot) = self.ports[port].pressed() {
                self.copy_out(port, slot);
            }
        }
        taken
    }

    fn copy_out(&mut self, port: usize, slot: u32) {
        let key = self.holders[port][slot as usize];
        let copy = self.trains.copy(self.ports[port].bytes(slot));
        self.trains.get(key).buffer = copy;
        self.ports[port].release(slot);
    }

    fn enter(&mut self, waiting: Waiting) {
        let Waiting { at_ns, port, slot, vnet } = waiting;
        let Some(train) = Train::read(vnet, self.ports[port].bytes(slot)) else {
            self.ports[port].release(slot);
            self.passed.entered += 1;
            self.passed.lost += 1;
            return;
        };
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
        let Some(to) = node_of(destination).filter(|&to| to < self.ports.len() && to != port) else {
            self.lose(at_ns, &train, 0, train.count() - 1, "no-route");
            self.passed.entered += u64::from(train.count());
            self.ports[port].release(slot);
            return;
        };
        self.records.entered(at_ns, port, &train);
        let key = self.push(at_ns, train, Buffer::Slot(slot), port, to);
        self.holders[port][slot as usize] = key;
    }

    fn push(&mut self, at_ns: u64, train: Train, buffer: Buffer, from: usize, to: usize) -> u32 {
        let (path, alike) = self.network.path(from, to);
        let (count, dscp) = (train.count(), train.headers.dscp);
        let whole = alike && count > 1;
        let key = self.trains.insert(train, buffer, from, to, if whole { 1 } else { count });
        let at = clock::instant(at_ns);
        let tag = |index: u32| u64::from(key) << 32 | u64::from(index);
        let engine = self.network.engine();
        let used = if whole {
            let ip_bytes = train.ip_bytes_total();
            let wire_bytes = ip_bytes + count * (wire_bytes(1500) - 1500);
            engine.push(at, path, Packet::train(tag(WHOLE), count as u16, ip_bytes, wire_bytes, dscp))
        } else {
            let mut push =
                |index| engine.push(at, path, Packet::real(tag(index), train.ip_bytes(index), dscp));
            let used = push(0);
            for index in 1..count {
                push(index);
            }
            used
        };
        if used > at {
            self.ledger.clamp((used - at).as_nanos());
        }
        self.passed.entered += u64::from(count);
        key
    }

    /// The next instant at which something may have to be handed over; `None` while no real packet is inside.
    pub fn next_due_ns(&self) -> Option<u64> {
        let engine = self.network.engine_ref();
        let event = if engine.real_inside() > 0 { engine.next_event().map(|at| at.as_nanos()) } else { None };
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
        while let Some(outcome) = self.network.engine().pop() {
            outcomes += 1;
            match outcome {
                Outcome::Departure { due, packet, .. } => self.departed(due.as_nanos(), &packet),
                Outcome::Dropped { at, element, reason, packet, .. } => {
                    let key = key_of(packet.tag);
                    let train = self.trains.get(key).train;
                    let (first, last) = wire_packets(&packet, &train);
                    for index in first..=last {
                        self.records.dropped(at.as_nanos(), Fate::Element(element, reason), &train, index);
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

    fn departed(&mut self, due_ns: u64, packet: &Packet) {
        let key = key_of(packet.tag);
        let window = self.merge_window_ns;
        let entry = self.trains.get(key);
        let (first, last) = wire_packets(packet, &entry.train);
        let joins = |run: &Run| {
            run.last + 1 == first && run.dscp == packet.dscp && due_ns <= run.first_due_ns + window
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
                entry.run = Some(Run { first, last, dscp: packet.dscp, first_due_ns: due_ns, number });
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
        let (left_ns, sent) = self.send(key, run);
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
        }
        dues.clear();
        self.trains.get(key).dues_ns = dues;
    }

    fn send(&mut self, key: u32, run: Run) -> (u64, bool) {
        let InTransit { train, buffer, from, to, .. } = self.trains.get(key);
        let (from, to) = (*from, *to);
        let mut scratch = Train::scratch();
        // The receiver's port is borrowed for sending while the sender's still holds the frame.
        let (source, target) = two(&mut self.ports, from, to);
        let frame = match buffer {
            Buffer::Slot(slot) => source.bytes(*slot),
            Buffer::Copy(bytes) => bytes,
        };
        let cut = train.cut(frame, run.first, run.last, run.dscp, &mut scratch);
        let left_ns = clock::monotonic_ns();
        loop {
            match target.send(&cut) {
                Ok(()) => return (left_ns, true),
                Err(error) if is_passing(&error) && clock::monotonic_ns() < left_ns + SEND_PATIENCE_NS => {
                    self.send_retries += 1;
                }
                Err(_) => return (left_ns, false),
            }
        }
    }

    fn lose(&mut self, at_ns: u64, train: &Train, first: u32, last: u32, reason: &'static str) {
        for index in first..=last {
            self.records.dropped(at_ns, Fate::Emulator(reason), train, index);
            self.passed.lost += 1;
        }
    }
}

/// Room in the kernel comes back as the receiver reads.
fn is_passing(error: &io::Error) -> bool {
    matches!(error.raw_os_error(), Some(libc::EAGAIN | libc::ENOBUFS | libc::EINTR))
}

/// The index, in a tag, of a train that the engine carries as one packet.
const WHOLE: u32 = u32::MAX;

fn key_of(tag: u64) -> u32 {
    (tag >> 32) as u32
}

/// Which wire packets of its train an engine packet stands for.
fn wire_packets(packet: &Packet, train: &Train) -> (u32, u32) {
    match packet.tag as u32 {
        WHOLE => (0, train.count() - 1),
        index => (index, index),
    }
}

/// The node whose address this is: 02:77:00:00 and the node's number from 1 (docs/reference/contracts.md).
fn node_of(mac: [u8; 6]) -> Option<usize> {
    let [2, 0x77, 0, 0, high, low] = mac else {
        return None;
    };
    usize::from(u16::from_be_bytes([high, low])).checked_sub(1)
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
mod tests {
    use super::*;
    use crate::port::MemoryPort;
    use crosswind_engine::Instant;
    use crosswind_fabric::Fabric;

    fn forwarder(condition: &str, merge_window_ns: u64, rate_bps: &str) -> Forwarder<MemoryPort> {
        let fabric: Fabric = serde_json::from_str(&format!(
            r#"{{"seed": 7, "hosts": ["h0", "h1"], "nodes": [{{"name": "a", "host": "h0"}}, {{"name": "b", "host": "h1"}}],
                "uplink": {{"rate_bps": {rate_bps}, "delay_ns": 1000, "buffer_bytes": 1000000}}, "mtu_bytes": 1500,
                "tcp": {{"congestion_control": "cubic", "rto_min_us": 200000}}, "merge_window_ns": {merge_window_ns},
                "condition": {{"name": "test", "places": {condition}}}}}"#
        ))
        .unwrap();
        let network = Network::new(&fabric, Instant::ZERO).unwrap();
        Forwarder::new(network, vec![MemoryPort::default(), MemoryPort::default()])
    }

    fn super_packet(payload: usize) -> (VnetHeader, Vec<u8>) {
        let mut frame = vec![2, 0x77, 0, 0, 0, 2, 2, 0x77, 0, 0, 0, 1, 8, 0];
        frame.extend([0x45, 0]);
        frame.extend(((40 + payload) as u16).to_be_bytes());
        frame.extend([0, 0, 0, 0, 64, 6, 0, 0, 10, 77, 0, 1, 10, 77, 0, 2]);
        frame.extend([0x15, 0x38, 0x9c, 0x40, 0, 0, 0, 1, 0, 0, 0, 0, 0x50, 0x18, 1, 0, 0, 0, 0, 0]);
        frame.extend((0..payload).map(|i| i as u8));
        let gso_size = if payload > 1460 { 1460 } else { 0 };
        let gso_type = if payload > 1460 { VnetHeader::GSO_TCPV4 } else { VnetHeader::GSO_NONE };
        (VnetHeader { flags: 1, gso_type, header_len: 54, gso_size, csum_start: 34, csum_offset: 16 }, frame)
    }

    /// Lets one frame arrive now and runs until nothing is inside.
    fn run(forwarder: &mut Forwarder<MemoryPort>, payload: usize) {
        let (vnet, frame) = super_packet(payload);
        let now = clock::monotonic_ns();
        let realtime = now.wrapping_add(forwarder.stamps.realtime_minus_monotonic_ns() as u64);
        forwarder.ports[0].arrive(realtime, vnet, frame);
        forwarder.take_in(now);
        while let Some(due) = forwarder.next_due_ns() {
            while clock::monotonic_ns() < due {}
            forwarder.let_out(due);
        }
        assert_eq!(forwarder.next_due_ns(), None);
    }

    #[test]
    fn an_unlimited_link_hands_a_super_packet_over_whole() {
        let mut forwarder = forwarder("{}", 20_000, "null");
        run(&mut forwarder, 30_000);
        let sent = &forwarder.ports[1].sent;
        assert_eq!(sent.len(), 1);
        assert_eq!(sent[0].1, super_packet(30_000).1);
        assert_eq!(forwarder.passed.out, 21);
        assert_eq!(forwarder.ledger.report().early, 0);
    }

    #[test]
    fn without_a_merge_window_every_wire_packet_leaves_on_its_own() {
        let mut forwarder = forwarder("{}", 0, "1000000000");
        run(&mut forwarder, 14_600);
        assert_eq!(forwarder.ports[1].sent.len(), 10);
        assert_eq!(forwarder.ledger.report().early, 0);
    }

    #[test]
    fn a_policer_cuts_the_end_off_a_super_packet() {
        let mut forwarder = forwarder(
            r#"{"switch.ingress": [{"police": {"rate_bps": 8000, "burst_bytes": 4500}}]}"#,
            20_000,
            "null",
        );
        run(&mut forwarder, 14_600);
        let payload: usize = forwarder.ports[1].sent.iter().map(|(_, frame)| frame.len() - 54).sum();
        assert_eq!(payload, 3 * 1460, "4500 bytes of tokens pass three packets of 1500");
        assert_eq!(forwarder.records.drops.len(), 7);
        assert_eq!(forwarder.passed.out, 3);
        assert_eq!(forwarder.passed.held_back, 0);
        assert_eq!(forwarder.records.drops[0].tcp.unwrap().0, 1 + 3 * 1460);
    }

    #[test]
    fn frames_are_copied_out_when_a_port_is_pressed_and_arrive_unharmed() {
        let mut forwarder = forwarder(r#"{"link": [{"delay": {"time_ns": 300000}}]}"#, 0, "null");
        let now = clock::monotonic_ns();
        let realtime = now.wrapping_add(forwarder.stamps.realtime_minus_monotonic_ns() as u64);
        for _ in 0..20 {
            let (vnet, frame) = super_packet(700);
            forwarder.ports[0].arrive(realtime, vnet, frame);
        }
        while forwarder.take_in(now) > 0 {}
        assert!(forwarder.ports[0].pressed().is_none());
        while let Some(due) = forwarder.next_due_ns() {
            while clock::monotonic_ns() < due {}
            forwarder.let_out(due);
        }
        assert_eq!(forwarder.ports[1].sent.len(), 20);
        assert!(forwarder.ports[1].sent.iter().all(|(_, frame)| *frame == super_packet(700).1));
    }

    #[test]
    fn a_frame_for_nobody_is_a_drop_with_a_reason() {
        let mut forwarder = forwarder("{}", 0, "null");
        let (vnet, mut frame) = super_packet(10);
        frame[5] = 9;
        forwarder.ports[0].arrive(0, vnet, frame);
        forwarder.take_in(clock::monotonic_ns());
        assert_eq!(forwarder.records.drops[0].fate, Fate::Emulator("no-route"));
        assert_eq!(forwarder.next_due_ns(), None);
    }
}
