//! A fabric over a table of packets, in virtual time: text in, text out.
//!
//! The first line is a fabric (docs/reference/contracts.md, section 1; its condition's timeline counts from instant 0). Every
//! other line is a packet, `at_ns,from,to,ip_bytes,dscp`, in the order of their instants; `from` and `to` are positions in the
//! fabric's nodes. The answer has a header `packet,at_ns,fate` and one line for everything that became of a packet, in the order
//! in which it happened: `packet` counts the table's lines from 0, `fate` is `departed`, the reason why it was dropped, or
//! `duplicated` where from then on there are two with this number.
//!
//! What it does not do: it invents no packets (ghosts come from the fabric's interference), and it has no counters.
//! The same table gives the same answer, on every machine.

use std::fmt;
use std::io::{self, BufRead, Write};

use crosswind_engine::{Instant, Outcome, Packet};
use crosswind_fabric::{Fabric, Facts, Network, Planner, Timeline};

/// Why a table was not played.
#[derive(Debug)]
pub enum TableError {
    /// A line breaks a rule; lines count from 1, the fabric's among them.
    Line(usize, String),
    /// The table could not be read, or the answer not be written.
    Io(io::Error),
}

impl fmt::Display for TableError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            TableError::Line(number, wrong) => write!(f, "line {number}: {wrong}"),
            TableError::Io(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for TableError {}

impl From<io::Error> for TableError {
    fn from(error: io::Error) -> TableError {
        TableError::Io(error)
    }
}

/// Plays `table` and writes what became of its packets.
///
/// # Errors
/// Where a line breaks a rule, or reading or writing fails. What was written before it stands.
pub fn play(table: impl BufRead, answer: &mut impl Write) -> Result<(), TableError> {
    let mut lines = (1..).zip(table.lines());
    let (_, first) = lines.next().ok_or_else(|| {
        TableError::Line(1, "the table is empty; its first line is a fabric, as JSON".to_owned())
    })?;
    let wrong = |error: &dyn fmt::Display| TableError::Line(1, format!("fabric: {error}"));
    let fabric: Fabric = serde_json::from_str(&first?).map_err(|error| wrong(&error))?;
    let mut planner = Planner::new(&fabric).map_err(|error| wrong(&error))?;
    let network = planner.network(Instant::ZERO).map_err(|error| wrong(&error))?;
    let timeline = planner.timeline().map_err(|error| wrong(&error))?;
    let mut player = Player { timeline, network, answer };
    writeln!(player.answer, "packet,at_ns,fate")?;
    let mut before_ns = 0;
    for (tag, (number, line)) in (0..).zip(lines) {
        let row = Row::read(&line?, before_ns, fabric.nodes.len())
            .map_err(|wrong| TableError::Line(number, wrong))?;
        before_ns = row.at_ns;
        player.push(tag, row)?;
    }
    player.finish()
}

/// One packet of the table.
#[derive(Copy, Clone, Debug, PartialEq, Eq)]
struct Row {
    at_ns: u64,
    from: usize,
    to: usize,
    ip_bytes: u32,
    dscp: u8,
}

impl Row {
    fn read(line: &str, before_ns: u64, nodes: usize) -> Result<Row, String> {
        let mut cells = line.split(',');
        let mut number = |name: &str, least: u64, most: u64| {
            let cell = cells.next().unwrap_or_default();
            match cell.trim().parse() {
                Ok(value) if (least..=most).contains(&value) => Ok(value),
                _ => Err(format!("{name} {cell:?}: must be a whole number in {least}..={most}")),
            }
        };
        let last = nodes as u64 - 1;
        let row = Row {
            at_ns: number("at_ns (not before the packet above)", before_ns, u64::MAX)?,
            from: number("from", 0, last)? as usize,
            to: number("to", 0, last)? as usize,
            ip_bytes: number("ip_bytes", 1, u64::from(Packet::MAX_IP_BYTES))? as u32,
            dscp: number("dscp", 0, 63)? as u8,
        };
        match cells.next() {
            Some(_) => Err("more than five cells; a packet is at_ns,from,to,ip_bytes,dscp".to_owned()),
            None if row.from == row.to => {
                Err(format!("from and to are both {}; a packet goes to another node", row.to))
            }
            None => Ok(row),
        }
    }
}

struct Player<'a, W> {
    network: Network,
    timeline: Timeline,
    answer: &'a mut W,
}

impl<W: Write> Player<'_, W> {
    fn push(&mut self, tag: u64, row: Row) -> Result<(), TableError> {
        let at = Instant::from_nanos(row.at_ns);
        self.timeline.advance(&mut self.network, row.at_ns);
        // The packets of a pair are one flow.
        let flow = self.network.flow(&Facts { from: row.from, to: row.to, protocol: 0, ports: None });
        let (path, _) = self.network.path(row.from, row.to, flow);
        let labels = self.network.labels_of_sender(row.from);
        let packet = Packet::real(tag, row.ip_bytes, row.dscp).with_labels(labels);
        self.network.engine().push(at, path, packet);
        self.write()
    }

    /// Runs until no real packet is inside, or nothing is going to happen to those that are; ghosts go on for ever.
    fn finish(&mut self) -> Result<(), TableError> {
        while self.network.engine_ref().real_inside() > 0 {
            let Some(next) = self.network.engine_ref().next_event() else { break };
            self.timeline.advance(&mut self.network, next.as_nanos());
            self.network.engine().advance(next);
            self.write()?;
        }
        Ok(self.answer.flush()?)
    }

    fn write(&mut self) -> Result<(), TableError> {
        // Packets have no headers here.
        while self.network.engine().pop_sighting().is_some() {}
        while let Some(outcome) = self.network.engine().pop() {
            let (packet, at, fate) = match outcome {
                Outcome::Departure { due, packet, .. } => (packet, due, "departed"),
                Outcome::Duplicated { at, packet, .. } => (packet, at, "duplicated"),
                Outcome::Dropped { at, reason, packet, .. } => (packet, at, reason.name()),
            };
            writeln!(self.answer, "{},{},{fate}", packet.tag, at.as_nanos())?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FABRIC: &str = r#"{"seed": 1, "hosts": ["h0", "h1"],
        "nodes": [{"name": "a", "host": "h0"}, {"name": "b", "host": "h1"}],
        "switches": ["switch"], "links": [
            {"from": "h0", "to": "switch", "rate_bps": null, "delay_ns": 500, "buffer_bytes": null},
            {"from": "switch", "to": "h0", "rate_bps": null, "delay_ns": 500, "buffer_bytes": null},
            {"from": "h1", "to": "switch", "rate_bps": null, "delay_ns": 500, "buffer_bytes": null},
            {"from": "switch", "to": "h1", "rate_bps": null, "delay_ns": 500, "buffer_bytes": null}], "mtu_bytes": 1500,
        "tcp": {"congestion_control": "cubic", "rto_min_us": 200000}, "merge_window_ns": 0,
        "condition": {"name": "police", "places": {"switch.ingress": [{"police": {"rate_bps": 8000, "burst_bytes": 1500}}]},
                      "timeline": [{"at_ns": 5000, "places": {"switch.ingress": []}}]}}"#;

    fn answer(rows: &str) -> Result<String, TableError> {
        let table = format!("{}\n{rows}", FABRIC.replace('\n', " "));
        let mut answer = Vec::new();
        play(table.as_bytes(), &mut answer)?;
        Ok(String::from_utf8(answer).unwrap())
    }

    // The bucket holds one packet; it is gone at 5 us, when the third packet comes. Two links of 500 ns each, the policer
    // between them.
    #[test]
    fn every_packet_of_the_table_has_its_fate_and_the_timeline_takes_effect() {
        assert_eq!(
            answer("1000,0,1,1500,0\n1000,0,1,1500,0\n5000,0,1,1500,0\n").unwrap(),
            "packet,at_ns,fate\n1,1500,no-tokens\n0,2000,departed\n2,6000,departed\n"
        );
    }

    #[test]
    fn a_line_that_breaks_a_rule_is_named() {
        let wrong = |rows| answer(rows).unwrap_err().to_string();
        assert!(wrong("10,0,1,1500,0\n9,0,1,1500,0").starts_with("line 3: at_ns"));
        assert!(wrong("10,0,2,1500,0").starts_with("line 2: to \"2\""));
        assert!(wrong("10,0,1,0,0").starts_with("line 2: ip_bytes"));
        assert!(wrong("10,0,1,1500,64").starts_with("line 2: dscp"));
        assert!(wrong("10,0,0,1500,0").contains("another node"));
        assert!(wrong("10,0,1,1500,0,7").contains("five cells"));
        assert!(wrong("NaN,0,1,1500,0").starts_with("line 2: at_ns"));
        assert!(play(&b"{}\n"[..], &mut Vec::new()).unwrap_err().to_string().starts_with("line 1: fabric"));
        assert!(play(&b""[..], &mut Vec::new()).unwrap_err().to_string().contains("empty"));
    }
}
