//! What a network that is one of several domains knows of the others: what it carries itself, where its cut links lead, and what
//! packets are called that cross.
//!
//! Every domain has all elements of the fabric, in the same order, so that an element has the same number everywhere and events of one
//! instant the same order. Sources of interference and processes that drive a link run where their packets enter and where the
//! link's transmitter is. Elsewhere the same elements stand idle.
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

/// What one domain hands to another, in this order. Instants are those of both.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Crosses {
    /// The elements that packets with this [`Onward`] pass from now on; comes once, before the first of them.
    Way(Onward, Box<[ElementId]>),
    /// The labels that packets with this set of labels have from now on; comes before the first of them.
    Labels(LabelSet, Box<[u16]>),
    /// A packet.
    Packet(Crossing),
}

/// The border of one domain.
#[derive(Debug, Default)]
pub(crate) struct Border {
    /// With the domain that this one is.
    domains: Option<(usize, Arc<Domains>)>,
    /// Where cut links lead that leave this domain, by element.
    leads_to: Vec<usize>,
    /// How many ways onward the others know.
    told: usize,
    /// The label sets that each other domain knows, as [`LabelSets::version`] counts them.
    told_labels: Vec<HashSet<(u32, LabelSet)>>,
    /// A packet, behind what has to be known before it.
    out: VecDeque<(usize, Crosses)>,
    /// By the domain that they come from, and the number of their [`Onward`].
    paths: Vec<Vec<Option<PathId>>>,
    /// By the domain that they come from: what its label sets are called here.
    labels: Vec<HashMap<LabelSet, LabelSet>>,
    /// Wires of other domains that a process has ever driven.
    driven_elsewhere: HashSet<ElementId>,
}

impl Border {
    /// Of domain `which` of these.
    pub(crate) fn of(domains: &Arc<Domains>, which: usize) -> Self {
        assert!(which < domains.count(), "one of the domains");
        Self {
            paths: vec![Vec::new(); domains.count()],
            labels: vec![HashMap::new(); domains.count()],
            told_labels: vec![HashSet::new(); domains.count()],
            domains: Some((which, Arc::clone(domains))),
            ..Self::default()
        }
    }

    /// Cuts every link that leaves this domain. `wire`: its element, by the place of the link in the fabric's list.
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

    /// Whether packets enter here that come from a host.
    pub(crate) fn has_host(&self, host: usize) -> bool {
        self.domains.as_ref().is_none_or(|(which, domains)| domains.of_host(host) == *which)
    }

    /// Those of the driven links whose process runs here. The others are known to be driven.
    pub(crate) fn drives<'a>(&mut self, all: &'a [Driven], elements: &Elements) -> Cow<'a, [Driven]> {
        let Some((which, domains)) = &self.domains else { return Cow::Borrowed(all) };
        let (here, elsewhere): (Vec<&Driven>, _) =
            all.iter().partition(|driven| domains.of_link(driven.number) == *which);
        self.driven_elsewhere.extend(elsewhere.into_iter().map(|driven: &Driven| elements.id(driven.wire)));
        Cow::Owned(here.into_iter().cloned().collect())
    }

    /// Whether elements treat a train alike where this domain cannot see them: wires that were never driven do what the fabric says.
    pub(crate) fn treats_alike(&self, stages: &[ElementId]) -> bool {
        self.driven_elsewhere.is_empty() || !stages.iter().any(|stage| self.driven_elsewhere.contains(stage))
    }

    /// The next thing that leaves this domain, and the domain that it goes to.
    pub(crate) fn next_out(&mut self, engine: &mut Engine, sets: &LabelSets) -> Option<(usize, Crosses)> {
        if self.out.is_empty() {
            let crossing = engine.pop_crossing()?;
            let to = self.leads_to[crossing.link.index()];
            let Crossing { onward, packet, .. } = crossing;
            // They are numbered in the order in which their first packets cross.
            if onward.index() == self.told {
                self.told += 1;
                self.out.push_back((to, Crosses::Way(onward, engine.onward(onward).into())));
            }
            let labels = packet.labels;
            if labels != LabelSet::NONE && self.told_labels[to].insert((sets.version(), labels)) {
                self.out.push_back((to, Crosses::Labels(labels, sets.labels(labels).into())));
            }
            self.out.push_back((to, Crosses::Packet(crossing)));
        }
        self.out.pop_front()
    }

    /// Takes in what domain `from` has handed out; returns when a packet is due here.
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
