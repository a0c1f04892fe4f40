//! What monitors select by and only headers tell: each distinct header match of a condition is one bit of a packet's labels.
//!
//! The caller says what the headers say when a frame enters, the engine carries the bits, and a monitor asks for its own. A
//! condition has room for eight different header matches, its timeline included; a match that stays in the next condition keeps its
//! bit, so that packets under way are still known.

use crosswind_engine::{Begin, Match, MonitorParameters, Treatment};

use crate::routes::mix;
use crate::spec::{Condition, Fabric};

/// Different header matches that a condition has room for.
pub(crate) const LABELS_MAX: usize = 8;

/// What the headers of a frame say.
#[derive(Clone, Copy, Debug)]
pub struct Facts {
    /// Position of the sending node.
    pub from: usize,
    /// Position of the receiving node.
    pub to: usize,
    /// IP protocol number.
    pub protocol: u8,
    /// Source and destination port, where there are any.
    pub ports: Option<(u16, u16)>,
}

impl Facts {
    /// Equal for packets of one flow: sender, receiver, protocol and ports.
    pub(crate) fn hash(&self) -> u32 {
        let (source, destination) = self.ports.unwrap_or_default();
        let ends = (self.from as u64) << 32 | self.to as u64;
        let flow = u64::from(self.protocol) << 32 | u64::from(source) << 16 | u64::from(destination);
        mix(ends ^ mix(flow)) as u32
    }
}

/// The part of a match that needs headers; what is absent may be anything.
#[derive(Clone, Debug, PartialEq, Eq)]
struct HeaderMatch {
    from: Option<usize>,
    to: Option<usize>,
    protocol: Option<u8>,
    source_port: Option<u16>,
    destination_port: Option<u16>,
}

impl HeaderMatch {
    /// `None` where a match needs no header.
    fn of(select: &Match, fabric: &Fabric) -> Option<Self> {
        let node = |name: &Option<String>| {
            name.as_ref().and_then(|name| fabric.nodes.iter().position(|node| node.name == *name))
        };
        select.needs_headers().then(|| Self {
            from: node(&select.from),
            to: node(&select.to),
            protocol: select.protocol,
            source_port: select.source_port,
            destination_port: select.destination_port,
        })
    }

    fn holds(&self, facts: &Facts) -> bool {
        let port = |wanted: Option<u16>, which: fn((u16, u16)) -> u16| {
            wanted.is_none_or(|wanted| facts.ports.is_some_and(|ports| which(ports) == wanted))
        };
        self.from.is_none_or(|from| from == facts.from)
            && self.to.is_none_or(|to| to == facts.to)
            && self.protocol.is_none_or(|protocol| protocol == facts.protocol)
            && port(self.source_port, |ports| ports.0)
            && port(self.destination_port, |ports| ports.1)
    }
}

/// The header matches in force, by bit.
#[derive(Clone, Debug, Default)]
pub(crate) struct Labels {
    matches: [Option<HeaderMatch>; LABELS_MAX],
}

impl Labels {
    /// The labels of the next condition, which has been checked.
    pub(crate) fn next(&self, condition: &Condition, fabric: &Fabric) -> Labels {
        let wanted: Vec<HeaderMatch> =
            matches_of(condition).filter_map(|select| HeaderMatch::of(select, fabric)).collect();
        let mut next = self.clone();
        for slot in &mut next.matches {
            slot.take_if(|old| !wanted.contains(old));
        }
        for header in wanted {
            if !next.matches.contains(&Some(header.clone())) {
                let free = next.matches.iter_mut().find(|slot| slot.is_none());
                *free.expect("a condition has at most eight") = Some(header);
            }
        }
        next
    }

    /// The bit of a match, where it needs headers.
    pub(crate) fn bit(&self, select: &Match, fabric: &Fabric) -> Option<u8> {
        let header = HeaderMatch::of(select, fabric)?;
        self.matches.iter().position(|slot| slot.as_ref() == Some(&header)).map(|bit| bit as u8)
    }

    /// The bits of a frame.
    #[inline]
    pub(crate) fn of(&self, facts: &Facts) -> u8 {
        let set = |(bit, header): (usize, &Option<HeaderMatch>)| {
            u8::from(header.as_ref().is_some_and(|header| header.holds(facts))) << bit
        };
        self.matches.iter().enumerate().map(set).fold(0, |labels, bit| labels | bit)
    }
}

/// How many different header matches a condition has.
pub(crate) fn count(condition: &Condition) -> usize {
    let mut different: Vec<&Match> = Vec::new();
    for select in matches_of(condition).filter(|select| select.needs_headers()) {
        if !different.contains(&select) {
            different.push(select);
        }
    }
    different.len()
}

fn matches_of(condition: &Condition) -> impl Iterator<Item = &Match> {
    let steps = condition.timeline.iter().map(|step| &step.places);
    let entries = std::iter::once(&condition.places)
        .chain(steps)
        .flat_map(|places| places.each().into_iter().flat_map(|(_, entries)| entries));
    entries.flat_map(|entry| match &entry.treatment {
        Treatment::Monitor(MonitorParameters { select, start, .. }) => {
            let first = match start {
                Begin::Packet(first) => Some(first),
                Begin::After(_) => None,
            };
            [Some(select), first].into_iter().flatten().collect::<Vec<_>>()
        }
        _ => Vec::new(),
    })
}
