//! The engine: elements, paths and sources, driven by instants that the caller passes.

mod crossing;
mod driving;
mod lookahead;
mod watching;

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::{BTreeMap, VecDeque};
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::mem::MaybeUninit;

use crate::agenda::Target;
use crate::describe::Problem;
use crate::element::{Context, Element, ElementId, ElementSpec, Shared, Verdict};
use crate::error::SpecError;
use crate::label::LabelSet;
use crate::monitor::{ClassTotals, Counters, Readings, Totals};
use crate::outcome::{DropReason, Outcome, Sighting};
use crate::packet::{Class, Packet};
use crate::path::{PathId, Paths};
use crate::process::Process;
use crate::queue::{Memory, MemoryId};
use crate::random::Stream;
use crate::shaper::CreditLevel;
use crate::slab::{Slot, SlotId};
use crate::sound::Sound;
use crate::source::Tag;
use crate::units::Instant;
use crate::watch::Watch;
use crossing::Crossings;
pub use crossing::{Crossing, Onward};
use driving::Origin;
use lookahead::Beyond;

/// Processes packets. The crate's documentation lists its promises.
pub struct Engine {
    seed: u64,
    elements: Vec<Station>,
    /// By monitor, the elements that it watches.
    watches: BTreeMap<ElementId, Vec<ElementId>>,
    paths: Paths,
    beyond: Beyond,
    sources: Vec<Origin>,
    processes: Vec<Process>,
    shared: Shared,
    outcomes: VecDeque<Outcome>,
    sightings: VecDeque<Sighting>,
    /// `inside` is filled in on request.
    totals: Totals,
    crossings: Crossings,
}

/// An element that was made before an engine needs it ([`Engine::prepare`]).
pub struct Prepared(Station);

impl core::fmt::Debug for Prepared {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_tuple("Prepared").field(&self.0.name).finish()
    }
}

/// An element with its name and counters. The data that every packet touches is in four cache lines: three for the
/// element (see [`Link`](crate::link::Link)), one for its counters. With a hundred ports each further line costs more
/// than the computation on it.
#[repr(C, align(64))]
struct Station {
    watch: Option<Box<Watch>>,
    element: Element,
    name: String,
    counters: Counters,
}

impl core::fmt::Debug for Engine {
    fn fmt(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.debug_struct("Engine")
            .field("now", &self.shared.now)
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
            elements: Vec::new(),
            watches: BTreeMap::new(),
            paths: Paths::default(),
            beyond: Beyond::default(),
            sources: Vec::new(),
            processes: Vec::new(),
            shared: Shared::default(),
            outcomes: VecDeque::new(),
            sightings: VecDeque::new(),
            totals: Totals::default(),
            crossings: Crossings::default(),
        }
    }

    /// Adds an element; buckets start full, now. A memory that its queues share must belong to this engine.
    ///
    /// # Errors
    /// When the name is taken or the specification cannot be carried out; nothing changed.
    pub fn add(&mut self, name: &str, spec: ElementSpec) -> Result<ElementId, SpecError> {
        if self.elements.iter().any(|station| station.name == name) {
            let problem = Problem::new("the name is taken; names are unique, so choose another");
            return Err(SpecError { name: name.to_owned(), problem });
        }
        let id = self.admit(Engine::prepare(self.seed, name, &Sound::new(name, spec)?));
        self.begin(id);
        Ok(id)
    }

    /// Makes an element for an engine with this seed; the engine itself is not needed. Making one may take long;
    /// admitting it does not.
    pub fn prepare(seed: u64, name: &str, spec: &Sound<ElementSpec>) -> Prepared {
        let element = Element::new(spec.get(), Stream::new(seed, name));
        Prepared(Station { element, counters: Counters::default(), name: name.to_owned(), watch: None })
    }

    /// Adds an element that was prepared under an unused name. No packet may reach it before [`Engine::begin`].
    pub fn admit(&mut self, prepared: Prepared) -> ElementId {
        let id = ElementId(u32::try_from(self.elements.len()).expect("fewer than 2^32 elements"));
        self.elements.push(prepared.0);
        id
    }

    /// Starts an admitted element: buckets start full, monitors count.
    pub fn begin(&mut self, id: ElementId) {
        self.elements[id.index()].element.begin(self.shared.now);
    }

    /// Reserves memory for this total number of elements, so that admitting them moves none. The memory is written to:
    /// the first write to a page costs a microsecond or more.
    pub fn reserve(&mut self, elements: usize) {
        self.elements.reserve(elements.saturating_sub(self.elements.len()));
        self.elements.spare_capacity_mut().fill_with(MaybeUninit::zeroed);
    }

    /// Gives an element new parameters from `at` on, and returns the instant used (see [`Engine::push`]).
    ///
    /// Tokens are cut to the new burst. Waiting packets stay, even beyond a smaller buffer. The packet in transmission
    /// finishes at its old rate. Packets in flight leave at their scheduled instants and are not overtaken.
    ///
    /// # Errors
    /// When the element is of another kind or the specification cannot be carried out; nothing changed.
    pub fn reconfigure(
        &mut self,
        at: Instant,
        id: ElementId,
        spec: ElementSpec,
    ) -> Result<Instant, SpecError> {
        let spec = Sound::new(&self.elements[id.index()].name, spec)?;
        self.change(at, id, &spec)
    }

    /// As [`Engine::reconfigure`], with parameters that have been checked.
    ///
    /// # Errors
    /// When the element is of another kind; nothing changed.
    pub fn change(
        &mut self,
        at: Instant,
        id: ElementId,
        spec: &Sound<ElementSpec>,
    ) -> Result<Instant, SpecError> {
        let station = &self.elements[id.index()];
        let (is, wanted) = (station.element.kind(), spec.get().kind());
        if is != wanted {
            let problem = Problem::new(format!(
                "is a {is} and cannot become a {wanted}; add the {wanted} and send packets along a new path"
            ));
            return Err(SpecError { name: station.name.clone(), problem });
        }
        if let Some(problem) = self.refused_by_cut(id, spec.get()) {
            return Err(SpecError { name: station.name.clone(), problem });
        }
        self.advance(at);
        self.with_element(id, |element, context| element.reconfigure(spec.get(), context));
        self.announce_queue(id);
        self.beyond.forget();
        Ok(self.shared.now)
    }

    /// A set of labels, by which monitors and gates select packets ([`Packet::with_labels`]); `None` if there are 65 535 sets
    /// already. The same labels passed again make another set.
    pub fn label_set(&mut self, labels: &[u16]) -> Option<LabelSet> {
        self.shared.labels.add(labels)
    }

    /// Forgets all sets of labels. Packets inside that have labels may then be attributed to another set.
    pub fn forget_label_sets(&mut self) {
        self.shared.labels.clear();
    }

    /// Adds a memory for queues to share ([`MemoryShare`](crate::MemoryShare)).
    pub fn add_memory(&mut self, bytes: u64) -> MemoryId {
        let id = MemoryId::nth(self.shared.memories.len());
        self.shared.memories.push(Memory::new(bytes));
        id
    }

    /// Changes the size of a memory from `at` on; waiting packets stay.
    pub fn resize_memory(&mut self, at: Instant, id: MemoryId, bytes: u64) {
        self.advance(at);
        self.shared.memories[id.index()].resize(bytes);
    }

    /// The path through `elements`, in order; its end is the exit. An element may be on many paths. Paths are never
    /// removed: the same elements give the same path, so conditions that return need no more memory.
    ///
    /// # Panics
    /// When an element does not belong to this engine.
    pub fn path(&mut self, elements: &[ElementId]) -> PathId {
        assert!(
            elements.iter().all(|id| id.index() < self.elements.len()),
            "all elements of a path belong to this engine"
        );
        if let Some(path) = self.paths.find(elements) {
            return path;
        }
        self.beyond.forget();
        self.paths.add(elements)
    }

    /// The elements of a path.
    pub fn stages(&self, path: PathId) -> &[ElementId] {
        self.paths.rest(self.paths.first(path))
    }

    /// Whether all packets that enter the path at one instant leave it at one instant: it has only marks, monitors,
    /// links without a rate, and delays that are constant or drift. A train may then be pushed as one
    /// ([`Packet::train`]).
    pub fn treats_alike(&self, path: PathId) -> bool {
        let mut hop = self.paths.first(path);
        while let Some(id) = self.paths.element(hop) {
            if !self.elements[id.index()].element.treats_alike(self.shared.now) {
                return false;
            }
            hop = hop.next();
        }
        true
    }

    /// Processes everything due up to `at`, then lets `packet` enter at the start of `path`; returns the instant used.
    ///
    /// That instant is `at`, or now where `at` is earlier, because the past is fixed. Pushing the same packets at the
    /// returned instants into an equal engine gives identical outcomes.
    #[inline]
    pub fn push(&mut self, at: Instant, path: PathId, packet: Packet) -> Instant {
        self.advance(at);
        self.enter(path, packet);
        self.shared.now
    }

    /// The instant of the next event, or `None` if there is none. Not every event has an outcome.
    pub fn next_event(&self) -> Option<Instant> {
        self.shared.agenda.next()
    }

    /// Processes everything due up to and including `to`; an earlier instant than now counts as now.
    pub fn advance(&mut self, to: Instant) {
        let to = to.max(self.shared.now);
        while let Some((at, target)) = self.shared.agenda.pop_due(to) {
            self.shared.now = at;
            match target {
                Target::Transmitter(id) => self.wake_transmitter(id),
                Target::Tokens(id) => self.wake_shaper(id),
                Target::Line(id) => self.wake_line(id),
                Target::Source(id) => self.wake_source(id),
                Target::Process(id) => self.wake_process(id),
            }
        }
        self.shared.now = to;
    }

    /// The instant up to which everything has been processed.
    pub fn now(&self) -> Instant {
        self.shared.now
    }

    /// The next outcome of a real packet, in the order of outcomes.
    #[inline]
    pub fn pop(&mut self) -> Option<Outcome> {
        self.outcomes.pop_front()
    }

    /// The next packet that a monitor reports, in the order in which they passed. The sightings of a packet come
    /// before its outcome: a caller that takes both takes sightings first.
    #[inline]
    pub fn pop_sighting(&mut self) -> Option<Sighting> {
        self.sightings.pop_front()
    }

    /// Number of real packets inside: if it is 0, no event can have an outcome.
    pub fn real_inside(&self) -> usize {
        usize::try_from(self.shared.slab.inside(Class::Real)).expect("packets inside fit into memory")
    }

    /// Counts of an element since the last reset.
    pub fn counters(&self, id: ElementId) -> &Counters {
        &self.elements[id.index()].counters
    }

    /// Results of a monitor until now; `None` for another element.
    pub fn readings(&self, id: ElementId) -> Option<Readings> {
        self.elements[id.index()].element.monitor().map(|monitor| monitor.readings(self.shared.now))
    }

    /// IP bytes that wait in an element's queue; packets in transmission or propagation do not wait.
    pub fn queued_bytes(&mut self, id: ElementId) -> u64 {
        self.queued_bytes_of(id, Class::Real) + self.queued_bytes_of(id, Class::Ghost)
    }

    /// As [`Engine::queued_bytes`], for one class.
    pub fn queued_bytes_of(&mut self, id: ElementId, class: Class) -> u64 {
        self.with_element(id, |element, context| {
            element.catch_up(context);
            element.queued_bytes(class)
        })
    }

    /// Content of a credit bucket when it was made, and now; `None` for another element.
    pub fn credit(&self, id: ElementId) -> Option<CreditLevel> {
        self.elements[id.index()].element.credit(self.shared.now)
    }

    /// Conservation since the last reset.
    pub fn totals(&self) -> Totals {
        let with_inside =
            |totals: ClassTotals, class| ClassTotals { inside: self.shared.slab.inside(class), ..totals };
        Totals {
            real: with_inside(self.totals.real, Class::Real),
            ghost: with_inside(self.totals.ghost, Class::Ghost),
        }
    }

    /// Restarts counters, monitors and totals; packets inside count as entered. Draws of sources are not removed.
    pub fn reset_counters(&mut self) {
        for station in &mut self.elements {
            station.counters = Counters::default();
            station.element.reset(self.shared.now);
        }
        let anew = |class| ClassTotals { entered: self.shared.slab.inside(class), ..ClassTotals::default() };
        self.totals = Totals { real: anew(Class::Real), ghost: anew(Class::Ghost) };
        for index in 0..self.elements.len() {
            self.announce_queue(ElementId(index as u32));
        }
    }

    /// The name under which an element was added.
    pub fn element_name(&self, id: ElementId) -> &str {
        &self.elements[id.index()].name
    }

    #[inline(always)]
    fn enter(&mut self, path: PathId, mut packet: Packet) {
        packet.entered = self.shared.now;
        self.totals_of(packet.class).entered += u64::from(packet.count);
        let slot = self.shared.slab.insert(packet, path, self.paths.first(path));
        self.forward(slot);
    }

    /// Moves a packet from its hop onwards until an element holds or drops it, or it leaves.
    fn forward(&mut self, slot: SlotId) {
        loop {
            let Some(id) = self.paths.element(self.shared.slab[slot].hop) else {
                return self.depart(slot);
            };
            let Station { element, counters, watch, .. } = &mut self.elements[id.index()];
            counters.arrived(&self.shared.slab[slot].packet);
            let watched = watch.is_some();
            if watched {
                self.shared.slab[slot].at = self.shared.now;
            }
            let mut context = Context { element: id, counters, shared: &mut self.shared };
            let verdict = element.arrive(slot, &mut context);
            if watched || !self.shared.discarded.is_empty() {
                self.drop_discarded(id);
                if watched {
                    self.observe_arrival(id, slot, verdict);
                }
            } else if verdict == Verdict::Passed {
                // The most frequent case.
                let passed = &mut self.shared.slab[slot];
                counters.departed(&passed.packet);
                passed.hop = passed.hop.next();
                continue;
            }
            // Checked here first, because most packets that do not pass are held.
            if verdict == Verdict::Held || !self.carry_out(id, slot, verdict) {
                return;
            }
        }
    }

    /// Carries out an element's decision about a packet; returns whether the packet is at its next hop now. A separate
    /// function, so that packets which just pass do not pay for it.
    #[inline(never)]
    fn carry_out(&mut self, id: ElementId, slot: SlotId, verdict: Verdict) -> bool {
        match verdict {
            Verdict::Held => return false,
            Verdict::Passed => {}
            Verdict::PassedDamaged => {
                self.elements[id.index()].counters.corrupted(&self.shared.slab[slot].packet);
            }
            Verdict::PassedTwice => {
                self.leave_element(id, slot);
                let copy = self.duplicate(id, slot);
                self.forward(slot);
                self.forward(copy);
                return false;
            }
            Verdict::Seen { reported } => {
                let packet = self.shared.slab[slot].packet;
                if reported && packet.class == Class::Real {
                    self.sightings.push_back(Sighting { at: self.shared.now, element: id, packet });
                }
            }
            Verdict::Dropped(reason) => {
                self.drop(id, slot, reason);
                return false;
            }
        }
        self.leave_element(id, slot);
        true
    }

    /// The head of a line is due: it leaves the element.
    fn wake_line(&mut self, id: ElementId) {
        let Station { element, counters, watch, .. } = &mut self.elements[id.index()];
        let mut context = Context { element: id, counters, shared: &mut self.shared };
        if let Some(slot) = element.wake_line(&mut context) {
            let left = &mut self.shared.slab[slot];
            counters.departed(&left.packet);
            left.hop = left.hop.next();
            if watch.is_some() && element.line_is_queue() {
                self.announce_queue(id);
            }
            self.forward(slot);
        }
    }

    fn wake_transmitter(&mut self, id: ElementId) {
        self.with_element(id, Element::wake_transmitter);
        if let Some(is_cut) = self.elements[id.index()].watch.as_ref().map(|watch| watch.is_cut) {
            self.observe_transmitter(id);
            self.announce_queue(id);
            if is_cut {
                self.hand_out(id);
            }
        }
    }

    fn wake_shaper(&mut self, id: ElementId) {
        let served = self.with_element(id, Element::wake_shaper);
        if self.elements[id.index()].watch.is_some() {
            self.observe_shaper(id, served);
        }
        match served {
            Some((slot, Verdict::Passed)) => {
                self.leave_element(id, slot);
                self.forward(slot);
            }
            Some((slot, Verdict::Dropped(reason))) => self.drop(id, slot, reason),
            _ => {}
        }
    }

    /// Calls an element now, and drops the packets that it discards.
    #[inline(always)]
    fn with_element<T>(&mut self, id: ElementId, act: impl FnOnce(&mut Element, &mut Context<'_>) -> T) -> T {
        let Station { element, counters, .. } = &mut self.elements[id.index()];
        let mut context = Context { element: id, counters, shared: &mut self.shared };
        let acted = act(element, &mut context);
        if !self.shared.discarded.is_empty() {
            self.drop_discarded(id);
        }
        acted
    }

    fn drop_discarded(&mut self, id: ElementId) {
        let mut discarded = core::mem::take(&mut self.shared.discarded);
        for (slot, reason) in discarded.drain(..) {
            self.drop(id, slot, reason);
        }
        self.shared.discarded = discarded;
    }

    fn leave_element(&mut self, id: ElementId, slot: SlotId) {
        let slot = &mut self.shared.slab[slot];
        self.elements[id.index()].counters.departed(&slot.packet);
        slot.hop = slot.hop.next();
    }

    /// Makes a copy of the packet in `slot`, after the element that sends both.
    fn duplicate(&mut self, element: ElementId, slot: SlotId) -> SlotId {
        let &Slot { packet, path, hop, .. } = &self.shared.slab[slot];
        let counters = &mut self.elements[element.index()].counters;
        counters.duplicated(&packet);
        counters.departed(&packet);
        self.totals_of(packet.class).duplicated += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Duplicated { at: self.shared.now, element, path, packet });
        }
        self.shared.slab.insert(packet, path, hop)
    }

    fn depart(&mut self, slot: SlotId) {
        let (packet, path) = self.shared.slab.remove(slot);
        self.totals_of(packet.class).left += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Departure { due: self.shared.now, path, packet });
        } else if let Some(tag) = Tag::decoded(packet.tag).filter(|_| packet.damage.is_none()) {
            // A damaged packet fails its receiver's checksum.
            self.delivered(tag, packet.ecn);
        }
    }

    fn drop(&mut self, element: ElementId, slot: SlotId, reason: DropReason) {
        let (packet, path) = self.shared.slab.remove(slot);
        self.elements[element.index()].counters.dropped(&packet, reason);
        let now = self.shared.now;
        self.report(
            element,
            |watch| &watch.drops,
            |monitor, labels| monitor.dropped(&packet, labels, reason, now),
        );
        self.totals_of(packet.class).dropped += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Dropped { at: self.shared.now, element, path, reason, packet });
        }
    }

    fn totals_of(&mut self, class: Class) -> &mut ClassTotals {
        match class {
            Class::Real => &mut self.totals.real,
            Class::Ghost => &mut self.totals.ghost,
        }
    }
}
