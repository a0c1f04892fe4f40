//! The engine: elements, paths and sources, driven by instants that the caller gives.

use alloc::borrow::ToOwned;
use alloc::collections::VecDeque;
use alloc::string::String;
use alloc::vec::Vec;

use crate::agenda::{Agenda, Target};
use crate::element::{Context, Element, ElementId, ElementSpec, Stage, Verdict};
use crate::error::{Problem, SpecError};
use crate::monitor::{ClassTotals, Counters, Totals};
use crate::outcome::{DropReason, Outcome};
use crate::packet::{Class, Packet};
use crate::path::{PathId, Paths};
use crate::random::Stream;
use crate::slab::{Slab, SlotId};
use crate::source::{Paced, SourceId, SourceSpec};
use crate::units::Instant;

/// What happens to packets. See the crate's documentation for its promises.
pub struct Engine {
    seed: u64,
    now: Instant,
    elements: Vec<Station>,
    paths: Paths,
    sources: Vec<Origin>,
    slab: Slab,
    agenda: Agenda,
    outcomes: VecDeque<Outcome>,
    /// `inside` is filled in when asked for.
    totals: Totals,
}

/// An element with its name and counters.
struct Station {
    element: Element,
    counters: Counters,
    name: String,
}

/// A source with its name.
struct Origin {
    source: Paced,
    name: String,
    running: bool,
}

impl core::fmt::Debug for Engine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Engine")
            .field("now", &self.now)
            .field("elements", &self.elements.len())
            .field("totals", &self.totals())
            .finish_non_exhaustive()
    }
}

impl Engine {
    /// An empty engine at the origin of time. All its random streams derive from `seed`.
    pub fn new(seed: u64) -> Engine {
        Engine {
            seed,
            now: Instant::ZERO,
            elements: Vec::new(),
            paths: Paths::default(),
            sources: Vec::new(),
            slab: Slab::new(),
            agenda: Agenda::default(),
            outcomes: VecDeque::new(),
            totals: Totals::default(),
        }
    }

    /// Adds an element; buckets start full, now.
    ///
    /// # Errors
    /// Where the name is taken or the specification cannot be carried out; nothing changed.
    pub fn add(&mut self, name: &str, spec: ElementSpec) -> Result<ElementId, SpecError> {
        let taken = self.elements.iter().any(|station| station.name == name);
        let checked = if taken { Err(Problem::NameTaken) } else { spec.check() };
        checked.map_err(|problem| SpecError { name: name.to_owned(), problem })?;
        let id = ElementId(u32::try_from(self.elements.len()).expect("fewer than 2^32 elements"));
        let element = Element::new(&spec, self.now);
        self.elements.push(Station { element, counters: Counters::default(), name: name.to_owned() });
        Ok(id)
    }

    /// Gives an element new parameters from `at` on, and returns the instant used (see [`Engine::push`]).
    ///
    /// Tokens are cut to the new burst; packets that wait keep their place, even beyond a smaller buffer; the packet being
    /// serialised finishes at its old rate; packets under way keep their instants and are not overtaken.
    ///
    /// # Errors
    /// Where the element is of another kind or the specification cannot be carried out; nothing changed.
    pub fn reconfigure(
        &mut self,
        at: Instant,
        id: ElementId,
        spec: ElementSpec,
    ) -> Result<Instant, SpecError> {
        let station = &self.elements[id.index()];
        let is = station.element.kind();
        let checked =
            if is == spec.kind() { spec.check() } else { Err(Problem::OtherKind { is, asked: spec.kind() }) };
        checked.map_err(|problem| SpecError { name: station.name.clone(), problem })?;
        self.advance(at);
        let mut context =
            Context { now: self.now, element: id, slab: &mut self.slab, agenda: &mut self.agenda };
        self.elements[id.index()].element.reconfigure(&spec, &mut context);
        Ok(self.now)
    }

    /// Adds a path through `elements`, in order; its end is the exit. An element may lie on many paths.
    ///
    /// # Panics
    /// Where an element is not of this engine.
    pub fn path(&mut self, elements: &[ElementId]) -> PathId {
        assert!(
            elements.iter().all(|id| id.index() < self.elements.len()),
            "a path has elements of its own engine"
        );
        self.paths.add(elements)
    }

    /// Whether every packet that enters the path at one instant leaves it at one instant: only constant delays, marks and
    /// links without a rate lie on it. A train may then be pushed as one ([`Packet::train`]).
    pub fn treats_alike(&self, path: PathId) -> bool {
        let mut hop = self.paths.first(path);
        while let Some(id) = self.paths.element(hop) {
            if !self.elements[id.index()].element.treats_alike() {
                return false;
            }
            hop = hop.next();
        }
        true
    }

    /// Starts a source of ghosts on `path` at `at` (at the earliest now).
    ///
    /// # Errors
    /// Where a source of that name is running or the specification cannot be carried out; nothing changed.
    pub fn start_source(
        &mut self,
        name: &str,
        spec: SourceSpec,
        path: PathId,
        at: Instant,
    ) -> Result<SourceId, SpecError> {
        let taken = self.sources.iter().any(|origin| origin.running && origin.name == name);
        let checked = if taken { Err(Problem::NameTaken) } else { spec.check() };
        checked.map_err(|problem| SpecError { name: name.to_owned(), problem })?;
        self.advance(at);
        let id = SourceId(u32::try_from(self.sources.len()).expect("fewer than 2^32 sources"));
        let source = Paced::new(spec, path, Stream::new(self.seed, name), self.now);
        self.sources.push(Origin { source, name: name.to_owned(), running: true });
        self.agenda.schedule(self.now, Target::Source(id));
        Ok(id)
    }

    /// Stops a source at `at`; its packets inside go on. Stopping it again does nothing.
    pub fn stop_source(&mut self, at: Instant, id: SourceId) {
        self.advance(at);
        self.agenda.cancel(Target::Source(id));
        self.sources[id.index()].running = false;
    }

    /// Sends a source's packets along another path from `at` on; its draws go on undisturbed.
    pub fn redirect_source(&mut self, at: Instant, id: SourceId, path: PathId) {
        self.advance(at);
        self.sources[id.index()].source.redirect(path);
    }

    /// Does everything due up to `at`, then lets `packet` in at the beginning of `path`; returns the instant used.
    ///
    /// That instant is `at`, or now where `at` is earlier: the past is settled. Pushing the same packets at the returned
    /// instants into an equal engine gives identical outcomes.
    pub fn push(&mut self, at: Instant, path: PathId, packet: Packet) -> Instant {
        self.advance(at);
        self.enter(path, packet);
        self.now
    }

    /// The instant of the next event, or `None` while nothing is going to happen. Not every event has an outcome.
    pub fn next_event(&self) -> Option<Instant> {
        self.agenda.next()
    }

    /// Does everything due up to and including `to`; an earlier instant than now counts as now.
    pub fn advance(&mut self, to: Instant) {
        let to = to.max(self.now);
        while let Some((at, target)) = self.agenda.pop_due(to) {
            self.now = at;
            match target {
                Target::Service(id) => self.wake(id, Stage::Service),
                Target::Line(id) => self.wake(id, Stage::Line),
                Target::Source(id) => self.wake_source(id),
            }
        }
        self.now = to;
    }

    /// The instant up to which everything has been done.
    pub fn now(&self) -> Instant {
        self.now
    }

    /// The next outcome of a real packet, in the order in which they happened.
    pub fn pop(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// Real packets inside: while there are none, nothing that happens can have an outcome.
    pub fn real_inside(&self) -> usize {
        usize::try_from(self.slab.inside(Class::Real)).expect("packets inside fit into memory")
    }

    /// What an element saw since the last reset.
    pub fn counters(&self, id: ElementId) -> &Counters {
        &self.elements[id.index()].counters
    }

    /// IP bytes that wait in an element's queue; those being serialised or propagating do not wait.
    pub fn queued_bytes(&self, id: ElementId) -> u64 {
        self.queued_bytes_of(id, Class::Real) + self.queued_bytes_of(id, Class::Ghost)
    }

    /// As [`Engine::queued_bytes`], of one class.
    pub fn queued_bytes_of(&self, id: ElementId, class: Class) -> u64 {
        self.elements[id.index()].element.queued_bytes(class)
    }

    /// Conservation since the last reset.
    pub fn totals(&self) -> Totals {
        let with_inside =
            |totals: ClassTotals, class| ClassTotals { inside: self.slab.inside(class), ..totals };
        Totals {
            real: with_inside(self.totals.real, Class::Real),
            ghost: with_inside(self.totals.ghost, Class::Ghost),
        }
    }

    /// Starts counters and totals anew; packets inside count as entered. Draws of sources are kept.
    pub fn reset_counters(&mut self) {
        for station in &mut self.elements {
            station.counters = Counters::default();
        }
        let anew = |class| ClassTotals { entered: self.slab.inside(class), ..ClassTotals::default() };
        self.totals = Totals { real: anew(Class::Real), ghost: anew(Class::Ghost) };
    }

    /// The name under which an element was added.
    pub fn element_name(&self, id: ElementId) -> &str {
        &self.elements[id.index()].name
    }

    /// Every rate that a source has drawn since it was started: when, and IP bits per second.
    pub fn draws(&self, id: SourceId) -> &[(Instant, u64)] {
        self.sources[id.index()].source.draws()
    }

    fn enter(&mut self, path: PathId, mut packet: Packet) {
        packet.entered = self.now;
        self.totals_of(packet.class).entered += u64::from(packet.count);
        let slot = self.slab.insert(packet, path, self.paths.first(path));
        self.forward(slot);
    }

    /// Moves a packet on from its hop until an element holds or drops it, or it leaves.
    fn forward(&mut self, slot: SlotId) {
        loop {
            let Some(id) = self.paths.element(self.slab[slot].hop) else {
                return self.depart(slot);
            };
            let station = &mut self.elements[id.index()];
            station.counters.arrived(&self.slab[slot].packet);
            let mut context =
                Context { now: self.now, element: id, slab: &mut self.slab, agenda: &mut self.agenda };
            match station.element.arrive(slot, &mut context) {
                Verdict::Held => return,
                Verdict::Passed => self.leave_element(id, slot),
                Verdict::Dropped(reason) => return self.drop(id, slot, reason),
            }
        }
    }

    fn wake(&mut self, id: ElementId, stage: Stage) {
        let mut context =
            Context { now: self.now, element: id, slab: &mut self.slab, agenda: &mut self.agenda };
        match self.elements[id.index()].element.wake(stage, &mut context) {
            None | Some((_, Verdict::Held)) => {}
            Some((slot, Verdict::Passed)) => {
                self.leave_element(id, slot);
                self.forward(slot);
            }
            Some((slot, Verdict::Dropped(reason))) => self.drop(id, slot, reason),
        }
    }

    fn wake_source(&mut self, id: SourceId) {
        let source = &mut self.sources[id.index()].source;
        let sends = source.wake(self.now);
        let (path, ip_bytes) = (source.path(), source.packet_ip_bytes());
        self.agenda.schedule(source.next_wake(), Target::Source(id));
        if sends {
            self.enter(path, Packet::ghost(ip_bytes));
        }
    }

    fn leave_element(&mut self, id: ElementId, slot: SlotId) {
        let slot = &mut self.slab[slot];
        self.elements[id.index()].counters.departed(&slot.packet);
        slot.hop = slot.hop.next();
    }

    fn depart(&mut self, slot: SlotId) {
        let (packet, path) = self.slab.remove(slot);
        self.totals_of(packet.class).left += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Departure { due: self.now, path, packet });
        }
    }

    fn drop(&mut self, element: ElementId, slot: SlotId, reason: DropReason) {
        let (packet, path) = self.slab.remove(slot);
        self.elements[element.index()].counters.dropped(&packet, reason);
        self.totals_of(packet.class).dropped += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Dropped { at: self.now, element, path, reason, packet });
        }
    }

    fn totals_of(&mut self, class: Class) -> &mut ClassTotals {
        match class {
            Class::Real => &mut self.totals.real,
            Class::Ghost => &mut self.totals.ghost,
        }
    }
}
