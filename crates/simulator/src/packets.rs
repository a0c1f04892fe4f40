//! One row per packet, for readers that need more than a summary.

use std::io::{self, Write};

use crosswind_engine::Outcome;
use crosswind_fabric::Network;

/// Writes packets as CSV: `from,to,entered_ns,ended_ns,ip_bytes,packets,dscp,fate`, in the order in which they are given.
///
/// `packets` is 1, or more for a train that shared one fate. `fate` is `departed`, the element and the reason of the drop, or the
/// element and `duplicated` where a packet became two.
#[derive(Debug)]
pub struct PacketFile<W: Write> {
    output: W,
}

impl<W: Write> PacketFile<W> {
    /// Writes the heading.
    pub fn new(mut output: W) -> io::Result<Self> {
        writeln!(output, "from,to,entered_ns,ended_ns,ip_bytes,packets,dscp,fate")?;
        Ok(Self { output })
    }

    /// Writes a packet that went from one node to another.
    pub fn write(&mut self, network: &Network, from: usize, to: usize, outcome: &Outcome) -> io::Result<()> {
        let nodes = &network.fabric().nodes;
        let (ended, packet, fate) = match outcome {
            Outcome::Departure { due, packet, .. } => (due, packet, "departed".to_owned()),
            Outcome::Duplicated { at, element, packet, .. } => {
                (at, packet, format!("{} duplicated", network.engine_ref().element_name(*element)))
            }
            Outcome::Dropped { at, element, reason, packet, .. } => {
                let element = network.engine_ref().element_name(*element);
                (at, packet, format!("{element} {}", reason.name()))
            }
        };
        writeln!(
            self.output,
            "{},{},{},{},{},{},{},{fate}",
            nodes[from].name,
            nodes[to].name,
            packet.entered.as_nanos(),
            ended.as_nanos(),
            packet.ip_bytes,
            packet.count,
            packet.dscp,
        )
    }

    /// Flushes.
    pub fn finish(mut self) -> io::Result<()> {
        self.output.flush()
    }
}
