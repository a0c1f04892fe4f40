//! Converts a monitor of a condition to the engine's: quantities, selection, start, and what it watches.
//!
//! A monitor watches the elements after it at its place, and the link that the place leads to. Its queue is the first
//! of these that has one; its drops are those of all of them.

use crosswind_engine::{
    Begin, Class, ClassWord, Match, MonitorParameters, MonitorSpec, Quantity, Rate, Selection, Start,
    Treatment, What,
};

use crate::entry::ElementEntry;
use crate::labels::Labels;
use crate::plan::Key;
use crate::site::Place;
use crate::spec::Fabric;

/// A monitor that reads headers, described for the caller, which has the packets' bytes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HeaderReader {
    /// Both directions of a link are one place.
    pub place: String,
    /// At a place that covers both directions: whether it sees the direction to a host, or against the order of two
    /// switches.
    pub towards_host: bool,
    /// Quantities that it reads.
    pub what: Vec<What>,
}

/// What a monitor depends on at its site.
pub(crate) struct Surroundings<'a> {
    pub(crate) fabric: &'a Fabric,
    pub(crate) labels: &'a Labels,
    /// Rate of the wire at its site.
    pub(crate) line_rate: Rate,
}

/// The engine's part of a monitor; everything has been checked.
pub(crate) fn spec(parameters: &MonitorParameters, around: &Surroundings<'_>) -> MonitorSpec {
    MonitorSpec {
        what: parameters.what.iter().filter_map(|&what| quantity(what)).collect(),
        window: parameters.window,
        burst_gap: parameters.burst_gap,
        line_rate: around.line_rate,
        select: selection(&parameters.select, around),
        start: match &parameters.start {
            Begin::After(time) => Start::After(*time),
            Begin::Packet(first) => Start::FirstPacket(selection(first, around)),
        },
        reports_packets: parameters.what.iter().any(|what| what.needs_headers()),
    }
}

/// A monitor, and what it watches after it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Watching {
    pub(crate) monitor: Key,
    pub(crate) queue: Option<Key>,
    pub(crate) drops: Vec<Key>,
}

/// A monitor that watches elements after it.
pub(crate) struct Watch {
    /// Position among the elements of its site.
    pub(crate) position: usize,
    /// The queue of the first element that has one.
    pub(crate) queue: bool,
    /// The drops of all of them.
    pub(crate) drops: bool,
}

/// The monitors among the elements of a site that watch elements after them.
pub(crate) fn watches<'a>(elements: impl Iterator<Item = &'a ElementEntry>) -> Vec<Watch> {
    let watch = |(position, entry): (usize, &ElementEntry)| match &entry.treatment {
        Treatment::Monitor(MonitorParameters { what, .. }) => {
            let queue = what.iter().any(|what| what.needs_queue());
            Some(Watch { position, queue, drops: what.contains(&What::Drops) })
        }
        _ => None,
    };
    elements.enumerate().filter_map(watch).filter(|watch| watch.queue || watch.drops).collect()
}

/// The elements of a site that read headers. `elements` are its entries with their numbers, `chain` the engine's
/// elements of these entries.
pub(crate) fn readers<'a>(
    elements: impl Iterator<Item = (usize, &'a ElementEntry)>,
    chain: &[Key],
    place: &str,
    towards_host: bool,
) -> Vec<(Key, HeaderReader)> {
    let reader = |((number, entry), &key): ((usize, &ElementEntry), &Key)| match &entry.treatment {
        Treatment::Monitor(MonitorParameters { what, .. })
            if what.iter().any(|what| what.needs_headers()) =>
        {
            let what = what.iter().copied().filter(|what| what.needs_headers()).collect();
            Some((key, HeaderReader { place: format!("{place}/{number}"), towards_host, what }))
        }
        _ => None,
    };
    elements.zip(chain).filter_map(reader).collect()
}

/// Whether a monitor at `index` of a place has a queue after it at each of its sites.
pub(crate) fn has_queue_behind(place: Place, entries: &[ElementEntry], index: usize) -> bool {
    let covers = |entry: &ElementEntry| entry.on.is_none() || entry.on == entries[index].on;
    place.leads_to_wire() || entries[index + 1..].iter().any(|entry| entry.has_queue() && covers(entry))
}

/// Converts to the engine's quantity, if the engine measures it.
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
        label: around.labels.of(select, around.fabric),
    }
}
