//! One row per packet, for readers that need more than a summary.

use std::io::{self, Write};

use crosswind_engine::{Crossing, Instant, Outcome, Packet};
use crosswind_fabric::Network;

/// Writes packets as CSV: `from,to,entered_ns,ended_ns,ip_bytes,packets,dscp,fate`, in the order in which they are given.
///
/// `packets` is 1, or more for a train that shared one fate. `fate` is `departed`, the element and the reason of the drop, the
/// element and `duplicated` where a packet became two, or the link and `crossed` where it left for another machine.
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
        self.row(network, (from, to), *ended, packet, &fate)
    }

    /// Writes a packet that left for another machine, where it is due then.
    pub fn write_crossing(
        &mut self,
        network: &Network,
        from: usize,
        to: usize,
        crossing: &Crossing,
    ) -> io::Result<()> {
        let fate = format!("{} crossed", network.engine_ref().element_name(crossing.link));
        self.row(network, (from, to), crossing.due, &crossing.packet, &fate)
    }

    fn row(
        &mut self,
        network: &Network,
        (from, to): (usize, usize),
        ended: Instant,
        packet: &Packet,
        fate: &str,
    ) -> io::Result<()> {
        let nodes = &network.fabric().nodes;
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
