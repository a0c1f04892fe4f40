//! What entered, what left and what was dropped, as a pcapng file.
//!
//! Each node has three interfaces: `NODE sends` (what entered, at the kernel's stamp), `NODE receives` (what left, at the instant of the
//! hand-over) and `NODE loses` (what was dropped of what it sent, when, with element and reason as the packet's comment). Super-packets are
//! written as the wire packets they stand for. Transport checksums are those that the sending device would still have completed, as in any
//! capture on the sending machine. Packets stand in the order in which they were decided, which is not always that of their stamps.
//!
//! The file is written by a thread of its own and grows to `limit_bytes`. Packets beyond it, and those that the disk was too slow for, are
//! counted in the interface's statistics at the end of the file.

use std::io::{self, Write};

use crosswind_recording::{Background, Block, Written};
use crosswind_wire::pcapng::{self, Captured, Direction};
use crosswind_wire::Train;

/// How much is kept.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Of each frame, from its Ethernet header on; at least 14.
    pub snap_bytes: u32,
    /// Of the whole file.
    pub limit_bytes: u64,
}

/// What is captured at a node.
#[derive(Clone, Copy, Debug)]
enum Interface {
    Sends,
    Receives,
    Loses,
}

const NAMES: [&str; 3] = ["sends", "receives", "loses"];

/// DSCP and ECN bits of an IP header.
type Marks = (u8, u8);

fn marks_of(train: &Train) -> Marks {
    (train.headers.dscp, train.headers.ecn)
}

#[derive(Clone, Copy, Debug, Default)]
struct Seen {
    packets: u64,
    left_out: u64,
    /// In the block that is being filled.
    in_block: u64,
}

/// A capture that is being written.
#[derive(Debug)]
pub struct Capture {
    file: Background,
    limits: CaptureLimits,
    written_bytes: u64,
    realtime_minus_monotonic_ns: i64,
    interfaces: Vec<Seen>,
    comment: String,
}

impl Capture {
    /// Starts a capture of the nodes of these names. Stamps use one difference of the clocks throughout, so that a wall clock that
    /// is stepped tears nothing apart.
    pub fn start<W: Write + Send + 'static>(
        output: W,
        nodes: impl Iterator<Item = String>,
        limits: CaptureLimits,
        realtime_minus_monotonic_ns: i64,
    ) -> io::Result<Self> {
        let mut file = Background::start("capture", output)?;
        let mut interfaces = Vec::new();
        let mut head = Vec::new();
        pcapng::section(&mut head, concat!("crosswind ", env!("CARGO_PKG_VERSION")));
        for node in nodes {
            for name in NAMES {
                pcapng::interface(&mut head, &format!("{node} {name}"), limits.snap_bytes);
                interfaces.push(Seen::default());
            }
        }
        let written_bytes = head.len() as u64;
        file.item(|bytes| bytes.extend_from_slice(&head));
        Ok(Self {
            file,
            limits,
            written_bytes,
            realtime_minus_monotonic_ns,
            interfaces,
            comment: String::new(),
        })
    }

    /// A node sent a frame.
    pub fn entered(&mut self, at_ns: u64, node: usize, train: &Train, frame: &[u8]) {
        for index in 0..train.count() {
            self.wire_packet(Interface::Sends, at_ns, node, train, frame, index, marks_of(train));
        }
    }

    /// Wire packets were handed to a node one by one or merged; `marks` are what they carry now.
    pub fn left(
        &mut self,
        at_ns: u64,
        node: usize,
        train: &Train,
        frame: &[u8],
        wire_packets: std::ops::RangeInclusive<u32>,
        marks: Marks,
    ) {
        for index in wire_packets {
            self.wire_packet(Interface::Receives, at_ns, node, train, frame, index, marks);
        }
    }

    /// A packet was handed to a node in a form of its own.
    pub fn left_as(&mut self, at_ns: u64, node: usize, frame: [&[u8]; 2]) {
        self.write(Interface::Receives, at_ns, node, frame);
    }

    /// Wire packets that a node sent were dropped; `why` names element and reason.
    pub fn dropped(
        &mut self,
        at_ns: u64,
        node: usize,
        train: &Train,
        frame: &[u8],
        wire_packets: std::ops::RangeInclusive<u32>,
        why: std::fmt::Arguments<'_>,
    ) {
        self.explain(why);
        for index in wire_packets {
            self.wire_packet(Interface::Loses, at_ns, node, train, frame, index, marks_of(train));
        }
        self.comment.clear();
    }

    /// Something that is no frame was dropped.
    pub fn dropped_unread(&mut self, at_ns: u64, node: usize, frame: &[u8], why: &str) {
        self.explain(format_args!("{why}"));
        self.write(Interface::Loses, at_ns, node, [frame, &[]]);
        self.comment.clear();
    }

    fn explain(&mut self, why: std::fmt::Arguments<'_>) {
        // Writing into a text cannot fail.
        let _ = std::fmt::Write::write_fmt(&mut self.comment, why);
    }

    #[allow(clippy::too_many_arguments)]
    fn wire_packet(
        &mut self,
        interface: Interface,
        at_ns: u64,
        node: usize,
        train: &Train,
        frame: &[u8],
        index: u32,
        marks: Marks,
    ) {
        let mut scratch = Train::scratch();
        let cut = train.cut(frame, index, index, marks.0, marks.1, &mut scratch);
        self.write(interface, at_ns, node, [cut.headers, cut.rest]);
    }

    fn write(&mut self, interface: Interface, at_ns: u64, node: usize, frame: [&[u8]; 2]) {
        let number = NAMES.len() * node + interface as usize;
        self.interfaces[number].packets += 1;
        if self.written_bytes >= self.limits.limit_bytes {
            self.interfaces[number].left_out += 1;
            return self.file.lose();
        }
        let captured = Captured {
            interface: number as u32,
            at_ns: at_ns.wrapping_add(self.realtime_minus_monotonic_ns as u64),
            frame,
            snap_bytes: self.limits.snap_bytes,
            direction: if matches!(interface, Interface::Receives) {
                Direction::Outbound
            } else {
                Direction::Inbound
            },
            comment: &self.comment,
        };
        let written_bytes = &mut self.written_bytes;
        let block = self.file.item(|bytes| {
            let before = bytes.len();
            pcapng::packet(bytes, &captured);
            *written_bytes += (bytes.len() - before) as u64;
        });
        self.interfaces[number].in_block += 1;
        match block {
            Block::Open => {}
            Block::Handed => self.interfaces.iter_mut().for_each(|seen| seen.in_block = 0),
            Block::Lost => {
                for seen in &mut self.interfaces {
                    seen.left_out += std::mem::take(&mut seen.in_block);
                }
            }
        }
    }

    /// Packets that are not in the file, so far.
    pub fn left_out(&self) -> u64 {
        self.file.lost()
    }

    /// Writes the statistics and waits for the disk.
    pub fn finish(self, now_ns: u64) -> Written {
        let at_ns = now_ns.wrapping_add(self.realtime_minus_monotonic_ns as u64);
        let mut written = self.file.finish(|bytes| {
            for (number, seen) in (0..).zip(&self.interfaces) {
                pcapng::statistics(bytes, number, at_ns, seen.packets, seen.left_out);
            }
        });
        // The head of the file is no packet.
        written.items = written.items.saturating_sub(1);
        written
    }
}
