//! The engine: elements, paths and sources, driven by instants that the caller gives.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::collections::VecDeque;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::agenda::{Agenda, Target};
use crate::ecn::Ecn;
use crate::element::{Context, Element, ElementId, ElementSpec, Stage, Verdict};
use crate::error::{Problem, SpecError};
use crate::monitor::{ClassTotals, Counters, Monitor, Readings, Totals};
use crate::outcome::{DropReason, Outcome, Sighting};
use crate::packet::{Class, Packet};
use crate::path::{PathId, Paths};
use crate::process::{Change, Process, ProcessId, ProcessSpec};
use crate::queue::{Memory, MemoryId};
use crate::random::Stream;
use crate::slab::{Slab, Slot, SlotId};
use crate::source::{ReplaySpec, Shot, Source, SourceId, SourceSpec, Tag};
use crate::units::{Capacity, Duration, Instant};
use crate::watch::Watch;

/// What happens to packets. See the crate's documentation for its promises.
pub struct Engine {
    seed: u64,
    now: Instant,
    elements: Vec<Station>,
    paths: Paths,
    sources: Vec<Origin>,
    processes: Vec<Process>,
    slab: Slab,
    agenda: Agenda,
    outcomes: VecDeque<Outcome>,
    sightings: VecDeque<Sighting>,
    /// Empty between calls; kept so that nothing is allocated per packet.
    discarded: Vec<(SlotId, DropReason)>,
    memories: Vec<Memory>,
    /// `inside` is filled in when asked for.
    totals: Totals,
}

/// An element with its name and counters. What every packet touches comes first, and together: with a hundred ports each
/// further line of the cache costs more than what is done with it.
#[repr(C, align(64))]
struct Station {
    watch: Option<Box<Watch>>,
    counters: Counters,
    element: Element,
    name: String,
}

/// A source with its name.
struct Origin {
    source: Source,
    name: String,
    running: bool,
    /// Its next event in the agenda. Later ones may be there too, left behind by timers that were brought forward.
    armed: Option<Instant>,
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
            processes: Vec::new(),
            slab: Slab::new(),
            agenda: Agenda::default(),
            outcomes: VecDeque::new(),
            sightings: VecDeque::new(),
            discarded: Vec::new(),
            memories: Vec::new(),
            totals: Totals::default(),
        }
    }

    /// Adds an element; buckets start full, now. A memory that its queues share must be of this engine.
    ///
    /// # Errors
    /// Where the name is taken or the specification cannot be carried out; nothing changed.
    pub fn add(&mut self, name: &str, spec: ElementSpec) -> Result<ElementId, SpecError> {
        let taken = self.elements.iter().any(|station| station.name == name);
        let checked = if taken { Err(Problem::NameTaken) } else { spec.check() };
        checked.map_err(|problem| SpecError { name: name.to_owned(), problem })?;
        let id = ElementId(u32::try_from(self.elements.len()).expect("fewer than 2^32 elements"));
        let element = Element::new(&spec, self.now, Stream::new(self.seed, name));
        let name = name.to_owned();
        self.elements.push(Station { element, counters: Counters::default(), name, watch: None });
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
        self.with_element(id, |element, context| element.reconfigure(&spec, context));
        self.announce_queue(id);
        Ok(self.now)
    }

    /// Lets a monitor measure the queue of one element and count the drops of others, from `at` on, instead of those that it
    /// looked at before.
    ///
    /// # Panics
    /// Where `monitor` is no monitor, or `queue` has no queue ([`Engine::has_queue`]).
    pub fn watch(&mut self, at: Instant, monitor: ElementId, queue: Option<ElementId>, drops: &[ElementId]) {
        self.advance(at);
        assert!(self.elements[monitor.index()].element.monitor().is_some(), "only monitors watch");
        assert!(queue.is_none_or(|queue| self.has_queue(queue)), "a queue is watched where there is one");
        for station in &mut self.elements {
            if let Some(watch) = &mut station.watch {
                watch.forget(monitor);
            }
        }
        for &element in drops {
            self.watch_of(element).drops.push(monitor);
        }
        if let Some(queue) = queue {
            self.watch_of(queue).queue.push(monitor);
            self.announce_queue(queue);
        }
        for station in &mut self.elements {
            station.watch.take_if(|watch| watch.is_idle());
        }
    }

    fn watch_of(&mut self, id: ElementId) -> &mut Watch {
        let station = &mut self.elements[id.index()];
        let serving = station.element.serving();
        station.watch.get_or_insert_with(|| Box::new(Watch { serving, ..Watch::default() }))
    }

    /// Whether packets wait in an element, so that a monitor can measure its queue.
    pub fn has_queue(&self, id: ElementId) -> bool {
        self.elements[id.index()].element.has_queue()
    }

    /// Adds a memory for queues to share ([`MemoryShare`](crate::MemoryShare)).
    pub fn add_memory(&mut self, bytes: u64) -> MemoryId {
        let id = MemoryId(u32::try_from(self.memories.len()).expect("fewer than 2^32 memories"));
        self.memories.push(Memory::new(bytes));
        id
    }

    /// Gives a memory another size from `at` on; what waits stays.
    pub fn resize_memory(&mut self, at: Instant, id: MemoryId, bytes: u64) {
        self.advance(at);
        self.memories[id.index()].resize(bytes);
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

    /// Whether every packet that enters the path at one instant leaves it at one instant: only marks, monitors, links without
    /// a rate, and delays that are constant or drift lie on it. A train may then be pushed as one ([`Packet::train`]).
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
        spec.check().map_err(|problem| SpecError { name: name.to_owned(), problem })?;
        let streams = [Stream::new(self.seed, name), Stream::new(self.seed, &format!("{name} packets"))];
        self.start(name, at, |id, start| Source::new(spec, id, path, streams, start))
    }

    /// As [`Engine::start_source`], of a source that sends what was recorded.
    ///
    /// # Errors
    /// Where a source of that name is running or the specification cannot be carried out; nothing changed.
    pub fn start_replay(
        &mut self,
        name: &str,
        spec: ReplaySpec,
        path: PathId,
        at: Instant,
    ) -> Result<SourceId, SpecError> {
        spec.check().map_err(|problem| SpecError { name: name.to_owned(), problem })?;
        self.start(name, at, |_, start| Source::replaying(spec, path, start))
    }

    fn start(
        &mut self,
        name: &str,
        at: Instant,
        make: impl FnOnce(SourceId, Instant) -> Source,
    ) -> Result<SourceId, SpecError> {
        if self.sources.iter().any(|origin| origin.running && origin.name == name) {
            return Err(SpecError { name: name.to_owned(), problem: Problem::NameTaken });
        }
        self.advance(at);
        let id = SourceId(u32::try_from(self.sources.len()).expect("fewer than 2^32 sources"));
        let source = make(id, self.now);
        self.sources.push(Origin { source, name: name.to_owned(), running: true, armed: None });
        self.arm(id);
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

    /// Sends the acknowledgements of a responsive source's packets along another path from `at` on.
    ///
    /// # Errors
    /// Where the source is of another kind; nothing changed.
    pub fn redirect_acks(&mut self, at: Instant, id: SourceId, path: PathId) -> Result<(), SpecError> {
        self.advance(at);
        let origin = &mut self.sources[id.index()];
        if origin.source.redirect_acks(path) {
            return Ok(());
        }
        Err(SpecError { name: origin.name.clone(), problem: Problem::NoAcks })
    }

    /// Lets a process drive a link from `at` on (at the earliest now), which is the process's time 0.
    ///
    /// Its draws depend on the engine's seed and `name` alone: started again under its name it draws the same levels again.
    ///
    /// # Errors
    /// Where the element is no link, the link is driven already, or the specification cannot be carried out; nothing changed.
    pub fn start_process(
        &mut self,
        name: &str,
        spec: ProcessSpec,
        link: ElementId,
        at: Instant,
    ) -> Result<ProcessId, SpecError> {
        let refuse = |problem| SpecError { name: name.to_owned(), problem };
        spec.check().map_err(refuse)?;
        match &mut self.elements[link.index()].element {
            Element::Link(link) => {
                if !link.take_drive() {
                    return Err(refuse(Problem::AlreadyDriven));
                }
            }
            other => return Err(refuse(Problem::NotALink { is: other.kind() })),
        }
        self.advance(at);
        let id = ProcessId(u32::try_from(self.processes.len()).expect("fewer than 2^32 processes"));
        let process = Process::new(spec, link, Stream::new(self.seed, name), self.now);
        if process.is_of_opportunities() {
            self.follow(link, Change::Opportunity { ip_bytes: 0 });
        }
        self.processes.push(process);
        self.expect_process(id);
        self.advance(self.now);
        Ok(id)
    }

    /// Stops a process at `at`; its link has its own rate again. Stopping it again does nothing.
    pub fn stop_process(&mut self, at: Instant, id: ProcessId) {
        self.advance(at);
        let process = &mut self.processes[id.index()];
        if process.stop() {
            let link = process.link();
            self.agenda.cancel(Target::Process(id));
            self.with_element(link, |element, context| {
                if let Element::Link(link) = element {
                    link.end_drive(context);
                }
            });
        }
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
                Target::Process(id) => self.wake_process(id),
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

    /// The next packet that a monitor reports, in the order in which they passed. Those of a packet come before its outcome:
    /// who takes both takes these first.
    pub fn pop_sighting(&mut self) -> Option<Sighting> {
        self.sightings.pop_front()
    }

    /// Real packets inside: while there are none, nothing that happens can have an outcome.
    pub fn real_inside(&self) -> usize {
        usize::try_from(self.slab.inside(Class::Real)).expect("packets inside fit into memory")
    }

    /// What an element saw since the last reset.
    pub fn counters(&self, id: ElementId) -> &Counters {
        &self.elements[id.index()].counters
    }

    /// What a monitor has measured until now; `None` of another element.
    pub fn readings(&self, id: ElementId) -> Option<Readings> {
        self.elements[id.index()].element.monitor().map(|monitor| monitor.readings(self.now))
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

    /// Starts counters, monitors and totals anew; packets inside count as entered. Draws of sources are kept.
    pub fn reset_counters(&mut self) {
        for station in &mut self.elements {
            station.counters = Counters::default();
            station.element.reset(self.now);
        }
        let anew = |class| ClassTotals { entered: self.slab.inside(class), ..ClassTotals::default() };
        self.totals = Totals { real: anew(Class::Real), ghost: anew(Class::Ghost) };
        for index in 0..self.elements.len() {
            self.announce_queue(ElementId(index as u32));
        }
    }

    /// The name under which an element was added.
    pub fn element_name(&self, id: ElementId) -> &str {
        &self.elements[id.index()].name
    }

    /// Every rate that a source has drawn since it was started: when, and IP bits per second.
    pub fn draws(&self, id: SourceId) -> &[(Instant, u64)] {
        self.sources[id.index()].source.draws()
    }

    /// The changes of level of a process since it was started, the first 65 536 of them: when, and to what.
    pub fn changes(&self, id: ProcessId) -> &[(Instant, Capacity)] {
        self.processes[id.index()].changes()
    }

    /// How many more changes of level there were than [`Engine::changes`] has.
    pub fn changes_not_kept(&self, id: ProcessId) -> u64 {
        self.processes[id.index()].changes_not_kept()
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
            let Station { element, counters, watch, .. } = &mut self.elements[id.index()];
            counters.arrived(&self.slab[slot].packet);
            let watched = watch.is_some();
            if watched {
                self.slab[slot].at = self.now;
            }
            let mut context = Context {
                now: self.now,
                element: id,
                slab: &mut self.slab,
                agenda: &mut self.agenda,
                counters,
                discarded: &mut self.discarded,
                memories: &mut self.memories,
            };
            let verdict = element.arrive(slot, &mut context);
            if verdict == Verdict::Passed && !watched && self.discarded.is_empty() {
                // What most elements do with most packets.
                let passed = &mut self.slab[slot];
                counters.departed(&passed.packet);
                passed.hop = passed.hop.next();
                continue;
            }
            if !self.discarded.is_empty() {
                self.drop_discarded(id);
            }
            if watched {
                self.observe_arrival(id, slot, verdict);
            }
            match verdict {
                Verdict::Held => return,
                Verdict::Passed => self.leave_element(id, slot),
                Verdict::PassedDamaged => {
                    self.elements[id.index()].counters.corrupted(&self.slab[slot].packet);
                    self.leave_element(id, slot);
                }
                Verdict::PassedTwice => {
                    self.leave_element(id, slot);
                    let copy = self.duplicate(id, slot);
                    self.forward(slot);
                    return self.forward(copy);
                }
                Verdict::Seen { reported } => {
                    let packet = self.slab[slot].packet;
                    if reported && packet.class == Class::Real {
                        self.sightings.push_back(Sighting { at: self.now, element: id, packet });
                    }
                    self.leave_element(id, slot);
                }
                Verdict::Dropped(reason) => return self.drop(id, slot, reason),
            }
        }
    }

    fn wake(&mut self, id: ElementId, stage: Stage) {
        let settled = self.with_element(id, |element, context| element.wake(stage, context));
        if stage == Stage::Service && self.elements[id.index()].watch.is_some() {
            self.observe_service(id, settled);
        }
        match settled {
            None | Some((_, Verdict::Held | Verdict::Seen { .. })) => {}
            Some((slot, Verdict::Passed)) => {
                self.leave_element(id, slot);
                self.forward(slot);
            }
            Some((slot, Verdict::Dropped(reason))) => self.drop(id, slot, reason),
            Some((_, Verdict::PassedTwice | Verdict::PassedDamaged)) => {
                unreachable!("packets are duplicated and damaged as they arrive")
            }
        }
    }

    /// Lets an element act now, and drops what it gives up besides.
    #[inline(always)]
    fn with_element<T>(&mut self, id: ElementId, act: impl FnOnce(&mut Element, &mut Context<'_>) -> T) -> T {
        let Station { element, counters, .. } = &mut self.elements[id.index()];
        let mut context = Context {
            now: self.now,
            element: id,
            slab: &mut self.slab,
            agenda: &mut self.agenda,
            counters,
            discarded: &mut self.discarded,
            memories: &mut self.memories,
        };
        let acted = act(element, &mut context);
        if !self.discarded.is_empty() {
            self.drop_discarded(id);
        }
        acted
    }

    fn drop_discarded(&mut self, id: ElementId) {
        let mut discarded = core::mem::take(&mut self.discarded);
        for (slot, reason) in discarded.drain(..) {
            self.drop(id, slot, reason);
        }
        self.discarded = discarded;
    }

    fn wake_source(&mut self, id: SourceId) {
        let origin = &mut self.sources[id.index()];
        if origin.armed == Some(self.now) {
            origin.armed = None;
        }
        let shot = origin.source.wake(self.now);
        self.arm(id);
        if let Some(Shot { path, packet }) = shot {
            self.enter(path, packet);
        }
    }

    /// Wakes a source at the instant that it asks for, unless it is woken before.
    fn arm(&mut self, id: SourceId) {
        let origin = &mut self.sources[id.index()];
        let Some(next) = origin.source.next_wake() else { return };
        if origin.armed.is_none_or(|armed| next < armed) {
            origin.armed = Some(next);
            self.agenda.schedule(next, Target::Source(id));
        }
    }

    /// A ghost that its source waits for has reached the end of its path.
    fn delivered(&mut self, tag: Tag, ecn: Ecn) {
        let origin = &mut self.sources[tag.source.index()];
        if !origin.running {
            return;
        }
        let answer = origin.source.delivered(tag, ecn, self.now);
        self.arm(tag.source);
        if let Some(Shot { path, packet }) = answer {
            self.enter(path, packet);
        }
    }

    fn wake_process(&mut self, id: ProcessId) {
        let process = &mut self.processes[id.index()];
        let link = process.link();
        if matches!(&self.elements[link.index()].element, Element::Link(link) if link.is_finishing(self.now))
        {
            return self.agenda.schedule(self.now, Target::Process(id));
        }
        let change = process.wake(self.now);
        self.follow(link, change);
        self.expect_process(id);
    }

    fn expect_process(&mut self, id: ProcessId) {
        if let Some(next) = self.processes[id.index()].next_wake() {
            self.agenda.schedule(next, Target::Process(id));
        }
    }

    fn follow(&mut self, link: ElementId, change: Change) {
        self.with_element(link, |element, context| {
            if let Element::Link(link) = element {
                link.follow(change, context);
            }
        });
    }

    fn leave_element(&mut self, id: ElementId, slot: SlotId) {
        let slot = &mut self.slab[slot];
        self.elements[id.index()].counters.departed(&slot.packet);
        slot.hop = slot.hop.next();
    }

    /// Makes a second packet like the one in `slot`, behind the element that sends both on.
    fn duplicate(&mut self, element: ElementId, slot: SlotId) -> SlotId {
        let &Slot { packet, path, hop, .. } = &self.slab[slot];
        let counters = &mut self.elements[element.index()].counters;
        counters.duplicated(&packet);
        counters.departed(&packet);
        self.totals_of(packet.class).duplicated += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Duplicated { at: self.now, element, path, packet });
        }
        self.slab.insert(packet, path, hop)
    }

    fn depart(&mut self, slot: SlotId) {
        let (packet, path) = self.slab.remove(slot);
        self.totals_of(packet.class).left += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Departure { due: self.now, path, packet });
        } else if let Some(tag) = Tag::decoded(packet.tag).filter(|_| packet.damage.is_none()) {
            // A damaged packet fails its receiver's checksum.
            self.delivered(tag, packet.ecn);
        }
    }

    fn drop(&mut self, element: ElementId, slot: SlotId, reason: DropReason) {
        let (packet, path) = self.slab.remove(slot);
        self.elements[element.index()].counters.dropped(&packet, reason);
        let now = self.now;
        self.tell(element, |watch| &watch.drops, |monitor| monitor.dropped(&packet, reason, now));
        self.totals_of(packet.class).dropped += u64::from(packet.count);
        if packet.class == Class::Real {
            self.outcomes.push_back(Outcome::Dropped { at: self.now, element, path, reason, packet });
        }
    }

    /// After a packet has come to a watched element: did it, or the one on the transmitter now, wait?
    fn observe_arrival(&mut self, id: ElementId, slot: SlotId, verdict: Verdict) {
        let element = &self.elements[id.index()].element;
        let passes_at_once = match verdict {
            // A link without a rate holds packets only while they propagate.
            Verdict::Held => matches!(element, Element::Link(_)) && element.serving().is_none(),
            Verdict::Dropped(_) => false,
            _ => true,
        };
        if passes_at_once {
            self.announce_wait(id, slot, Duration::ZERO);
        }
        self.observe_transmitter(id);
        self.announce_queue(id);
    }

    /// After the service of a watched element: whose wait has ended?
    fn observe_service(&mut self, id: ElementId, settled: Option<(SlotId, Verdict)>) {
        match settled {
            Some((slot, Verdict::Passed))
                if !matches!(self.elements[id.index()].element, Element::Link(_)) =>
            {
                let wait = self.now - self.slab[slot].at;
                self.announce_wait(id, slot, wait);
            }
            _ => self.observe_transmitter(id),
        }
        self.announce_queue(id);
    }

    /// A packet that is on the transmitter and was not before has waited until now.
    fn observe_transmitter(&mut self, id: ElementId) {
        let station = &mut self.elements[id.index()];
        let serving = station.element.serving();
        let Some(watch) = &mut station.watch else { return };
        if watch.serving == serving {
            return;
        }
        watch.serving = serving;
        if let Some(slot) = serving {
            let wait = self.now - self.slab[slot].at;
            self.announce_wait(id, slot, wait);
        }
    }

    fn announce_wait(&mut self, id: ElementId, slot: SlotId, wait: Duration) {
        let (packet, now) = (self.slab[slot].packet, self.now);
        self.tell(id, |watch| &watch.queue, |monitor| monitor.waited(&packet, wait, now));
    }

    fn announce_queue(&mut self, id: ElementId) {
        if self.elements[id.index()].watch.is_some() {
            let (bytes, now) = (self.queued_bytes(id), self.now);
            self.tell(id, |watch| &watch.queue, |monitor| monitor.queued(bytes, now));
        }
    }

    /// Tells the monitors that watch an element.
    fn tell(&mut self, id: ElementId, whom: fn(&Watch) -> &Vec<ElementId>, what: impl Fn(&mut Monitor)) {
        let Some(watch) = self.elements[id.index()].watch.take() else { return };
        for monitor in whom(&watch) {
            if let Some(monitor) = self.elements[monitor.index()].element.monitor_mut() {
                what(monitor);
            }
        }
        self.elements[id.index()].watch = Some(watch);
    }

    fn totals_of(&mut self, class: Class) -> &mut ClassTotals {
        match class {
            Class::Real => &mut self.totals.real,
            Class::Ghost => &mut self.totals.ghost,
        }
    }
}
