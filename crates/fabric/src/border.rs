//! The border of a network that is one of several domains: its own part, the destinations of its cut links, and the
//! numbers of what crosses.
//!
//! Every domain has all elements of the fabric, in the same order. An element therefore has the same number
//! everywhere, and events of one instant have the same order. A source of interference runs where its packets enter. A
//! process that drives a link runs where the link's transmitter is. In other domains the same elements are idle.
//!
//! A network that is the only one has a border that nothing crosses.

use std::borrow::Cow;
use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;

use crosswind_engine::{Crossing, ElementId, Engine, Instant, LabelSet, Onward, PathId};

use crate::domains::Domains;
use crate::elements::Elements;
use crate::labels::LabelSets;
use crate::plan::Driven;

/// What one domain hands to another, in this order. Both domains use the same time.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Crosses {
    /// The elements that packets with this [`Onward`] pass from now on; sent once, before the first of them.
    Way(Onward, Box<[ElementId]>),
    /// The labels that packets with this set of labels have from now on; sent before the first of them.
    Labels(LabelSet, Box<[u16]>),
    /// A packet.
    Packet(Crossing),
}

/// The border of one domain.
#[derive(Debug, Default)]
pub(crate) struct Border {
    /// All domains, and the number of this one.
    domains: Option<(usize, Arc<Domains>)>,
    /// The domain that a cut link leads to, by element, for links that leave this domain.
    leads_to: Vec<usize>,
    /// Number of ways onward that have been announced to the others.
    announced: usize,
    /// The label sets that each other domain has received, as [`LabelSets::version`] counts them.
    announced_labels: Vec<HashSet<(u32, LabelSet)>>,
    /// Packets to hand out, each preceded by what its receiver must know.
    out: VecDeque<(usize, Crosses)>,
    /// By the domain of origin, and the number of their [`Onward`].
    paths: Vec<Vec<Option<PathId>>>,
    /// By the domain of origin: the local number of each of its label sets.
    labels: Vec<HashMap<LabelSet, LabelSet>>,
    /// Wires of other domains that have ever been driven by a process.
    driven_elsewhere: HashSet<ElementId>,
}

impl Border {
    /// The border of domain `which`.
    pub(crate) fn of(domains: &Arc<Domains>, which: usize) -> Self {
        assert!(which < domains.count(), "one of the domains");
        Self {
            paths: vec![Vec::new(); domains.count()],
            labels: vec![HashMap::new(); domains.count()],
            announced_labels: vec![HashSet::new(); domains.count()],
            domains: Some((which, Arc::clone(domains))),
            ..Self::default()
        }
    }

    /// Cuts every link that leaves this domain. `wire` returns the element of a link, by the link's place in the
    /// fabric's list.
    pub(crate) fn cut(&mut self, engine: &mut Engine, wire: impl Fn(usize) -> ElementId) {
        let Some((which, domains)) = &self.domains else { return };
        for cut in domains.cuts().iter().filter(|cut| cut.from == *which) {
            let wire = wire(cut.link);
            engine.cut(wire).expect("a cut has a delay");
            if self.leads_to.len() <= wire.index() {
                self.leads_to.resize(wire.index() + 1, *which);
            }
            self.leads_to[wire.index()] = cut.to;
        }
    }

    /// Whether packets from this host enter here.
    pub(crate) fn has_host(&self, host: usize) -> bool {
        self.domains.as_ref().is_none_or(|(which, domains)| domains.of_host(host) == *which)
    }

    /// Whether an element is a cut link that leads from a domain to this one; `wire` as of [`Border::cut`].
    pub(crate) fn is_entered_at(
        &self,
        from: usize,
        link: ElementId,
        wire: impl Fn(usize) -> ElementId,
    ) -> bool {
        self.domains.as_ref().is_some_and(|(which, domains)| {
            let mut cuts = domains.cuts().iter();
            cuts.any(|cut| (cut.from, cut.to) == (from, *which) && wire(cut.link) == link)
        })
    }

    /// The driven links whose process runs here; the others are recorded as driven.
    pub(crate) fn drives<'a>(&mut self, all: &'a [Driven], elements: &Elements) -> Cow<'a, [Driven]> {
        let Some((which, domains)) = &self.domains else { return Cow::Borrowed(all) };
        let (here, elsewhere): (Vec<&Driven>, _) =
            all.iter().partition(|driven| domains.of_link(driven.number) == *which);
        self.driven_elsewhere.extend(elsewhere.into_iter().map(|driven: &Driven| elements.id(driven.wire)));
        Cow::Owned(here.into_iter().cloned().collect())
    }

    /// Whether elements treat the packets of a train alike where this domain cannot see them: wires that were never
    /// driven behave as the fabric describes.
    pub(crate) fn treats_alike(&self, stages: &[ElementId]) -> bool {
        self.driven_elsewhere.is_empty() || !stages.iter().any(|stage| self.driven_elsewhere.contains(stage))
    }

    /// The next item that leaves this domain, and the domain that it goes to.
    pub(crate) fn next_out(&mut self, engine: &mut Engine, sets: &LabelSets) -> Option<(usize, Crosses)> {
        if self.out.is_empty() {
            let crossing = engine.pop_crossing()?;
            let to = self.leads_to[crossing.link.index()];
            let Crossing { onward, packet, .. } = crossing;
            // Ways are numbered in the order in which their first packets cross.
            if onward.index() == self.announced {
                self.announced += 1;
                self.out.push_back((to, Crosses::Way(onward, engine.onward(onward).into())));
            }
            let labels = packet.labels;
            if labels != LabelSet::NONE && self.announced_labels[to].insert((sets.version(), labels)) {
                self.out.push_back((to, Crosses::Labels(labels, sets.labels(labels).into())));
            }
            self.out.push_back((to, Crosses::Packet(crossing)));
        }
        self.out.pop_front()
    }

    /// Receives an item that domain `from` has handed out; returns when a packet is due here.
    pub(crate) fn take_in(
        &mut self,
        engine: &mut Engine,
        sets: &mut LabelSets,
        from: usize,
        crosses: Crosses,
    ) -> Option<Instant> {
        match crosses {
            Crosses::Way(onward, elements) => {
                let paths = &mut self.paths[from];
                if paths.len() <= onward.index() {
                    paths.resize(onward.index() + 1, None);
                }
                paths[onward.index()] = Some(engine.path(&elements));
                None
            }
            Crosses::Labels(there, labels) => {
                self.labels[from].insert(there, sets.named(&labels, engine));
                None
            }
            Crosses::Packet(mut crossing) => {
                let path = self.paths[from][crossing.onward.index()].expect("its way came before it");
                if crossing.packet.labels != LabelSet::NONE {
                    crossing.packet.labels = self.labels[from][&crossing.packet.labels];
                }
                Some(engine.cross(crossing, path))
            }
        }
    }
}
