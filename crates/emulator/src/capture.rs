//! Writes packets that entered, left and were dropped to a pcapng file.
//!
//! Each node has three interfaces. `NODE sends` has the packets that entered, at the kernel's stamp. `NODE receives`
//! has those that left, at the instant of the hand-over. `NODE loses` has those of the node's packets that were
//! dropped, at that instant, with element and reason as the packet's comment. Super-packets are written as the wire
//! packets that they represent. Transport checksums are those that the sending device would still have completed, as
//! in any capture on the sending machine. Packets are written in the order in which they were decided, which is not
//! always the order of their stamps.
//!
//! A separate thread writes the file, up to `limit_bytes`. Packets beyond the limit, and those for which the disk was
//! too slow, are counted in the interface's statistics at the end of the file.

use std::io::{self, Write};

use crosswind_recording::{Background, Block, Written};
use crosswind_wire::pcapng::{self, Captured, Direction};
use crosswind_wire::Train;

/// How much is stored.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct CaptureLimits {
    /// Bytes of each frame, from its Ethernet header on; at least 14.
    pub snap_bytes: u32,
    /// Bytes of the whole file.
    pub limit_bytes: u64,
}

/// The direction that is captured at a node.
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
    /// Packets in the open block.
    in_block: u64,
}

/// A running capture.
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
    /// Starts a capture of the nodes with these names. All stamps use the same difference of the clocks, so a step of
    /// the wall clock leaves no gap in them.
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

    /// Wire packets were handed to a node, separate or merged; `marks` are their current DSCP and ECN bits.
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

    /// A packet with changed bytes was handed to a node.
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

    /// Bytes that are no valid frame were dropped.
    pub fn dropped_unread(&mut self, at_ns: u64, node: usize, frame: &[u8], why: &str) {
        self.explain(format_args!("{why}"));
        self.write(Interface::Loses, at_ns, node, [frame, &[]]);
        self.comment.clear();
    }

    fn explain(&mut self, why: std::fmt::Arguments<'_>) {
        // Writing into a string cannot fail.
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

    /// Packets that are missing from the file so far.
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
        // The head of the file is not a packet.
        written.items = written.items.saturating_sub(1);
        written
    }
}
