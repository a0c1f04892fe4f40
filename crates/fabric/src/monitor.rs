//! A monitor of a condition as the engine's: quantities, selection, start, and what it watches.
//!
//! A monitor watches what stands behind it at its place, and the link that the place leads to: its queue is the first of these that
//! has one, its drops are those of all of them.

use crosswind_engine::{Class, Duration, ElementId, Instant, MonitorSpec, Quantity, Selection, Start};

use crate::labels::{Facts, Labels};
use crate::network::{rate, End, Network, Place};
use crate::spec::{self, ClassWord, ElementEntry, Fabric, Match, What};

/// A monitor that reads headers, for whoever has the packets' bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderReader {
    /// Both directions of a link are one place.
    pub place: String,
    /// Whether it sees what goes down to a host, at a place that has both directions.
    pub towards_host: bool,
    /// What it reads.
    pub what: Vec<What>,
}

/// What a monitor needs to know of its surroundings.
pub(crate) struct Surroundings<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) labels: &'a Labels,
}

/// The engine's part of a monitor; everything has been checked.
pub(crate) fn spec(
    what: &[What],
    window_ns: u64,
    burst_gap_ns: u64,
    select: &Match,
    start: &spec::Start,
    around: &Surroundings<'_>,
) -> MonitorSpec {
    MonitorSpec {
        what: what.iter().filter_map(|&what| quantity(what)).collect(),
        window: Duration::from_nanos(window_ns),
        burst_gap: Duration::from_nanos(burst_gap_ns),
        line_rate: rate(around.fabric.uplink.rate_bps),
        select: selection(select, around),
        start: match start {
            spec::Start::AfterNs(nanos) => Start::After(Duration::from_nanos(*nanos)),
            spec::Start::Packet(first) => Start::FirstPacket(selection(first, around)),
        },
        reports_packets: what.iter().any(|what| what.needs_headers()),
    }
}

impl Network {
    /// The labels of a frame, by which monitors select.
    pub fn labels(&self, facts: &Facts) -> u8 {
        self.labels.of(facts)
    }

    /// What a monitor of the condition in force reads from headers; `None` where it reads none.
    pub fn header_reader(&self, id: ElementId) -> Option<&HeaderReader> {
        self.readers.get(&id)
    }

    /// Another number whenever other monitors may read headers.
    pub fn readers_version(&self) -> u64 {
        self.readers_version
    }

    /// Points every monitor of the condition in force to what stands behind it, and no other.
    pub(crate) fn watch_all(&mut self, at: Instant) {
        self.readers.clear();
        self.readers_version += 1;
        for monitor in std::mem::take(&mut self.watching) {
            self.engine().watch(at, monitor, None, &[]);
        }
        for end in self.ends.clone() {
            self.watch_node(at, &end);
        }
        for host in 0..self.fabric().hosts.len() {
            let name = self.fabric().hosts[host].clone();
            let (up, down) = (self.uplinks[host], self.downlinks[host]);
            self.watch_place(at, (Place::Link, Some("up")), &name, host, &[up]);
            self.watch_place(at, (Place::Link, Some("down")), &name, host, &[down]);
            self.watch_place(at, (Place::SwitchIngress, None), &name, host, &[]);
            let mut to_host = self.chain_ids(Place::Link, &name, host, Some("down"));
            to_host.push(down);
            self.watch_place(at, (Place::SwitchEgress, None), &name, host, &to_host);
        }
    }

    /// Points the monitors of one node, or neighbour, to what stands behind them.
    pub(crate) fn watch_node(&mut self, at: Instant, end: &End) {
        let host_name = self.fabric().hosts[end.host].clone();
        let mut to_switch = self.chain_ids(Place::Link, &host_name, end.host, Some("up"));
        to_switch.push(self.uplinks[end.host]);
        self.watch_place(at, (Place::HostEgress, None), &end.name, end.host, &to_switch);
        self.watch_place(at, (Place::HostIngress, None), &end.name, end.host, &[]);
    }

    /// `leads_to`: what comes behind the place, up to the link.
    fn watch_place(
        &mut self,
        at: Instant,
        (place, way): (Place, Option<&str>),
        of: &str,
        host: usize,
        leads_to: &[ElementId],
    ) {
        let mut chain = self.chain_ids(place, of, host, way);
        self.note_readers((place, way), of, host, &chain);
        let elements = self.entries(place, of, host).filter(|(_, entry)| entry.is_element());
        let monitors: Vec<(usize, bool, bool)> = elements
            .enumerate()
            .filter_map(|(position, (_, entry))| match entry {
                ElementEntry::Monitor { what, .. } => {
                    let queue = what.iter().any(|what| what.needs_queue());
                    Some((position, queue, what.contains(&What::Drops)))
                }
                _ => None,
            })
            .filter(|&(_, queue, drops)| queue || drops)
            .collect();
        chain.extend(leads_to);
        for (position, queue, drops) in monitors {
            let (monitor, behind) = (chain[position], &chain[position + 1..]);
            let has_queue = |id: &ElementId| queue && self.engine_ref().has_queue(*id);
            let queue = behind.iter().copied().find(has_queue);
            self.engine().watch(at, monitor, queue, if drops { behind } else { &[] });
            self.watching.push(monitor);
        }
    }
}

impl Network {
    /// Remembers which of the elements at a place read headers.
    fn note_readers(
        &mut self,
        (place, way): (Place, Option<&str>),
        of: &str,
        host: usize,
        chain: &[ElementId],
    ) {
        let elements = self.entries(place, of, host).filter(|(_, entry)| entry.is_element());
        let readers: Vec<(ElementId, HeaderReader)> = elements
            .zip(chain)
            .filter_map(|((number, entry), &id)| match entry {
                ElementEntry::Monitor { what, .. } if what.iter().any(|what| what.needs_headers()) => {
                    let place = format!("{of}/{}/{number}", place.word());
                    let what = what.iter().copied().filter(|what| what.needs_headers()).collect();
                    Some((id, HeaderReader { place, towards_host: way == Some("down"), what }))
                }
                _ => None,
            })
            .collect();
        self.readers.extend(readers);
    }
}

/// Whether a monitor at `index` of a place has a queue behind it wherever it stands itself.
pub(crate) fn has_queue_behind(place: &str, entries: &[ElementEntry], index: usize) -> bool {
    let leads_to_link = matches!(place, "host.egress" | "link" | "switch.egress");
    let covers = |entry: &ElementEntry| entry.on().is_none() || entry.on() == entries[index].on();
    leads_to_link || entries[index + 1..].iter().any(|entry| entry.has_queue() && covers(entry))
}

/// The quantities that the engine measures.
fn quantity(what: What) -> Option<Quantity> {
    Some(match what {
        What::Utilisation => Quantity::Utilisation,
        What::PacketRate => Quantity::PacketRate,
        What::PacketSize => Quantity::PacketSize,
        What::Interarrival => Quantity::Interarrival,
        What::Ipg => Quantity::Ipg,
        What::Burst => Quantity::Burst,
        What::QueueDepth => Quantity::QueueDepth,
        What::QueueDelay => Quantity::QueueDelay,
        What::Drops => Quantity::Drops,
        What::FlowSize | What::TcpWindow | What::Rtt | What::Retransmissions | What::Reordering => {
            return None;
        }
    })
}

fn selection(select: &Match, around: &Surroundings<'_>) -> Selection {
    Selection {
        class: select.class.map(|class| match class {
            ClassWord::Real => Class::Real,
            ClassWord::Ghost => Class::Ghost,
        }),
        dscps: match &select.dscp {
            None => Selection::ALL.dscps,
            Some(dscps) => dscps.iter().fold(0, |mask, dscp| mask | 1 << dscp),
        },
        label: around.labels.bit(select, around.fabric),
    }
}
