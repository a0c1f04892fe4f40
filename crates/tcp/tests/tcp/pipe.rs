//! Two ends, and a pipe that delays packets by a constant and loses those that a test names.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crosswind_engine::{Duration, Instant};
use crosswind_tcp::{Algorithm, Buffer, Changed, Endpoint, Kind, Segment, Settings};

pub const MS: u64 = 1_000_000;

/// A host of Linux with the given congestion control.
pub fn settings(congestion: Algorithm) -> Settings {
    Settings {
        mtu_bytes: 1_500,
        congestion,
        rto_min: Duration::from_millis(200),
        ecn: false,
        receive_buffer: Buffer { initial_bytes: 131_072, most_bytes: 33_554_432 },
        send_buffer: Buffer { initial_bytes: 16_384, most_bytes: 4_194_304 },
        tick: Duration::from_millis(4),
        tick_phase: Duration::ZERO,
    }
}

/// What becomes of a packet: how long it takes, or that it is lost.
pub type Fate = Option<u64>;

/// A packet as it left: when, from which side, and itself.
#[derive(Clone, Copy, Debug)]
pub struct Left {
    pub at_ns: u64,
    pub side: usize,
    pub segment: Segment,
}

/// A connection between side 0, which asks for it, and side 1.
pub struct Pipe<F> {
    pub ends: [Endpoint; 2],
    pub now_ns: u64,
    /// Everything that left, packet by packet.
    pub left: Vec<Left>,
    /// What each side has read, and has still to write.
    pub read: [u64; 2],
    pub to_write: [u64; 2],
    /// Bytes that side 1 answers for each that it reads.
    pub answers: u64,
    /// The data packets, by their first byte, that a queue marks.
    pub marks: Vec<u64>,
    fate: F,
    under_way: BinaryHeap<Reverse<(u64, u64, usize)>>,
    packets: Vec<Segment>,
}

impl<F: FnMut(usize, &Segment) -> Fate> Pipe<F> {
    /// A connection that is being made.
    pub fn new(settings: Settings, fate: F) -> Self {
        let end = || Endpoint::new(settings, Instant::ZERO);
        let mut pipe = Self {
            ends: [end(), end()],
            now_ns: 0,
            left: Vec::new(),
            read: [0; 2],
            to_write: [0; 2],
            answers: 0,
            marks: Vec::new(),
            fate,
            under_way: BinaryHeap::new(),
            packets: Vec::new(),
        };
        let mut out = Vec::new();
        pipe.ends[0].open(Instant::ZERO, &mut out);
        pipe.carry(0, out);
        pipe
    }

    /// A connection that is made, at the time that is returned by `now_ns`.
    pub fn made(settings: Settings, fate: F) -> Self {
        let mut pipe = Self::new(settings, fate);
        while !pipe.ends.iter().all(Endpoint::is_established) {
            assert!(pipe.step(), "the connection is made");
        }
        pipe
    }

    fn carry(&mut self, side: usize, out: Vec<Segment>) {
        for train in out {
            for index in 0..train.packets() {
                let segment = train.part(index, index);
                self.left.push(Left { at_ns: self.now_ns, side, segment });
                if let Some(delay_ns) = (self.fate)(side, &segment) {
                    let number = self.packets.len() as u64;
                    self.packets.push(segment);
                    self.under_way.push(Reverse((self.now_ns + delay_ns, number, 1 - side)));
                }
            }
        }
    }

    /// A side writes at once as much as there is room for, and the rest later.
    pub fn write(&mut self, side: usize, bytes: u64) {
        self.to_write[side] += bytes;
        self.go_on_writing(side);
    }

    fn go_on_writing(&mut self, side: usize) {
        let mut out = Vec::new();
        let now = Instant::from_nanos(self.now_ns);
        while self.to_write[side] > 0 {
            let part = self.to_write[side].min(131_072);
            let written = self.ends[side].write(now, part, &mut out);
            self.to_write[side] -= written;
            if written < part {
                break;
            }
        }
        self.carry(side, out);
    }

    /// Does what happens next; false where nothing will.
    pub fn step(&mut self) -> bool {
        let arrival = self.under_way.peek().map(|Reverse((at, ..))| *at);
        let timers = [0, 1].map(|side| self.ends[side].next_timer().map(Instant::as_nanos));
        let Some(next) = arrival.into_iter().chain(timers.into_iter().flatten()).min() else { return false };
        self.now_ns = self.now_ns.max(next);
        let now = Instant::from_nanos(self.now_ns);
        let mut out = Vec::new();
        if arrival == Some(next) {
            let Reverse((_, number, side)) = self.under_way.pop().expect("there is one");
            let mut segment = self.packets[number as usize];
            segment.marked = segment.markable && self.marks.contains(&segment.sequence);
            let changed: Changed = self.ends[side].receive(now, &segment, &mut out);
            let read = self.ends[side].read(now, &mut out);
            self.read[side] += read;
            self.carry(side, out);
            if side == 1 && self.answers > 0 {
                self.to_write[1] += read * self.answers;
            }
            if changed.writable || self.to_write[side] > 0 {
                self.go_on_writing(side);
            }
        } else {
            let side = usize::from(timers[0] != Some(next));
            self.ends[side].wake(now, &mut out);
            self.carry(side, out);
        }
        true
    }

    /// Goes on until an instant.
    pub fn until(&mut self, at_ns: u64) {
        loop {
            let arrival = self.under_way.peek().map(|Reverse((at, ..))| *at);
            let timers = self.ends.iter().filter_map(|end| end.next_timer().map(Instant::as_nanos));
            match arrival.into_iter().chain(timers).min() {
                Some(next) if next <= at_ns => {
                    self.step();
                }
                _ => break,
            }
        }
        self.now_ns = self.now_ns.max(at_ns);
    }

    /// Packets with data that a side sent, with their instants in microseconds since `from_ns`.
    pub fn data(&self, side: usize, from_ns: u64) -> Vec<(u64, u64)> {
        let of_side = self.left.iter().filter(|left| left.side == side && left.at_ns >= from_ns);
        of_side
            .filter(|left| left.segment.bytes > 0)
            .map(|left| ((left.at_ns - from_ns) / 1_000, left.segment.sequence))
            .collect()
    }

    /// Plain acknowledgements that a side sent, with their instants in microseconds since `from_ns`.
    pub fn acks(&self, side: usize, from_ns: u64) -> Vec<u64> {
        let of_side = self.left.iter().filter(|left| left.side == side && left.at_ns >= from_ns);
        of_side
            .filter(|left| left.segment.bytes == 0 && left.segment.kind == Kind::Established)
            .map(|left| (left.at_ns - from_ns) / 1_000)
            .collect()
    }
}
