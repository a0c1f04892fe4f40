//! The active parts: sources of ghosts, and processes that drive links.

use alloc::borrow::ToOwned;
use alloc::format;
use alloc::string::String;

use super::Engine;
use crate::agenda::Target;
use crate::describe::Problem;
use crate::ecn::Ecn;
use crate::element::{Context, ElementId};
use crate::error::SpecError;
use crate::link::Link;
use crate::path::PathId;
use crate::process::{Change, Process, ProcessId, ProcessSpec};
use crate::random::Stream;
use crate::sound::Sound;
use crate::source::{ReplaySpec, Shot, Source, SourceId, SourceSpec, Tag};
use crate::units::{Capacity, Instant};

/// A source with its name.
pub(super) struct Origin {
    source: Source,
    name: String,
    running: bool,
    /// Its next event in the agenda. There may be later ones as well, left over from timers that were moved forward.
    armed: Option<Instant>,
}

impl Engine {
    /// Starts a source of ghosts on `path` at `at` (at the earliest now).
    ///
    /// # Errors
    /// When a source of that name is running or the specification cannot be carried out; nothing changed.
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

    /// As [`Engine::start_source`], for a source that sends a recording.
    ///
    /// # Errors
    /// When a source of that name is running or the specification cannot be carried out; nothing changed.
    pub fn start_replay(
        &mut self,
        name: &str,
        spec: ReplaySpec,
        path: PathId,
        at: Instant,
    ) -> Result<SourceId, SpecError> {
        self.replay(name, Sound::new(name, spec)?, path, at)
    }

    /// As [`Engine::start_replay`], with a specification that has been checked.
    ///
    /// # Errors
    /// When a source of that name is running; nothing changed.
    pub fn replay(
        &mut self,
        name: &str,
        spec: Sound<ReplaySpec>,
        path: PathId,
        at: Instant,
    ) -> Result<SourceId, SpecError> {
        self.start(name, at, |_, start| Source::replaying(spec.into_inner(), path, start))
    }

    fn start(
        &mut self,
        name: &str,
        at: Instant,
        make: impl FnOnce(SourceId, Instant) -> Source,
    ) -> Result<SourceId, SpecError> {
        if self.sources.iter().any(|origin| origin.running && origin.name == name) {
            return Err(SpecError {
                name: name.to_owned(),
                problem: Problem::new("the name is taken; names are unique, so choose another"),
            });
        }
        self.advance(at);
        let id = SourceId(u32::try_from(self.sources.len()).expect("fewer than 2^32 sources"));
        let source = make(id, self.shared.now);
        self.sources.push(Origin { source, name: name.to_owned(), running: true, armed: None });
        self.arm(id);
        Ok(id)
    }

    /// Stops a source at `at`; its packets inside continue. Stopping it again has no effect.
    pub fn stop_source(&mut self, at: Instant, id: SourceId) {
        self.advance(at);
        self.sources[id.index()].running = false;
    }

    /// Sends a source's packets along another path from `at` on; its draws continue unchanged.
    pub fn redirect_source(&mut self, at: Instant, id: SourceId, path: PathId) {
        self.advance(at);
        self.sources[id.index()].source.redirect(path);
    }

    /// Sends the acknowledgements of a responsive source's packets along another path from `at` on.
    ///
    /// # Errors
    /// When the source is of another kind; nothing changed.
    pub fn redirect_acks(&mut self, at: Instant, id: SourceId, path: PathId) -> Result<(), SpecError> {
        self.advance(at);
        let origin = &mut self.sources[id.index()];
        if origin.source.redirect_acks(path) {
            return Ok(());
        }
        Err(SpecError {
            name: origin.name.clone(),
            problem: Problem::new("sends no acknowledgements that could take another path"),
        })
    }

    /// Every rate that a source has drawn since its start: instant, and IP bits per second.
    pub fn draws(&self, id: SourceId) -> &[(Instant, u64)] {
        self.sources[id.index()].source.draws()
    }

    /// Makes a process drive a link from `at` on (at the earliest now), which is the process's time 0.
    ///
    /// Its draws depend on the engine's seed and `name` alone: started again under its name it draws the same levels.
    ///
    /// # Errors
    /// When the element is not a link, the link is driven already, or the specification cannot be carried out; nothing
    /// changed.
    pub fn start_process(
        &mut self,
        name: &str,
        spec: ProcessSpec,
        link: ElementId,
        at: Instant,
    ) -> Result<ProcessId, SpecError> {
        self.drive(name, &Sound::new(name, spec)?, link, at)
    }

    /// As [`Engine::start_process`], with a specification that has been checked.
    ///
    /// # Errors
    /// When the element is not a link, or the link is driven already; nothing changed.
    pub fn drive(
        &mut self,
        name: &str,
        spec: &Sound<ProcessSpec>,
        link: ElementId,
        at: Instant,
    ) -> Result<ProcessId, SpecError> {
        let refuse = |problem| SpecError { name: name.to_owned(), problem };
        let element = &self.elements[link.index()].element;
        match element.link().map(Link::is_driven) {
            Some(false) => {}
            Some(true) => {
                let refusal = "drives a link that another process drives; stop that one first";
                return Err(refuse(Problem::new(refusal)));
            }
            None => {
                let is = element.kind();
                let refusal = format!("drives a {is}, which has no capacity; let it drive a link");
                return Err(refuse(Problem::new(refusal)));
            }
        }
        self.advance(at);
        self.with_link(link, |link, context| link.take_drive(context));
        Ok(self.follow_process(name, spec, link))
    }

    /// Makes another process drive the link of a running one from `at` on, which is the new one's time 0. The link's
    /// own rate does not apply in between, so nothing leaves at it.
    ///
    /// # Panics
    /// When the process has been stopped.
    pub fn replace_process(
        &mut self,
        name: &str,
        spec: &Sound<ProcessSpec>,
        before: ProcessId,
        at: Instant,
    ) -> ProcessId {
        self.advance(at);
        let process = &mut self.processes[before.index()];
        assert!(process.stop(), "the process drives its link");
        let link = process.link();
        self.follow_process(name, spec, link)
    }

    /// The driven link follows this process from now on.
    fn follow_process(&mut self, name: &str, spec: &Sound<ProcessSpec>, link: ElementId) -> ProcessId {
        let id = ProcessId(u32::try_from(self.processes.len()).expect("fewer than 2^32 processes"));
        let process = Process::new(spec.get().clone(), link, Stream::new(self.seed, name), self.shared.now);
        if process.is_of_opportunities() {
            self.follow(link, Change::Opportunity { ip_bytes: 0 });
        }
        self.processes.push(process);
        self.expect_process(id);
        self.advance(self.shared.now);
        id
    }

    /// Stops a process at `at`; its link has its own rate again. Stopping it again has no effect.
    pub fn stop_process(&mut self, at: Instant, id: ProcessId) {
        self.advance(at);
        let process = &mut self.processes[id.index()];
        if process.stop() {
            let link = process.link();
            self.with_link(link, |link, context| link.end_drive(context));
        }
    }

    /// The changes of level of a process since its start, the first 65 536 of them: instant and new level.
    pub fn changes(&self, id: ProcessId) -> &[(Instant, Capacity)] {
        self.processes[id.index()].changes()
    }

    /// The number of later changes of level, which [`Engine::changes`] does not have.
    pub fn changes_not_stored(&self, id: ProcessId) -> u64 {
        self.processes[id.index()].changes_not_stored()
    }

    pub(super) fn wake_source(&mut self, id: SourceId) {
        let origin = &mut self.sources[id.index()];
        if !origin.running {
            return;
        }
        if origin.armed == Some(self.shared.now) {
            origin.armed = None;
        }
        let shot = origin.source.wake(self.shared.now);
        self.arm(id);
        if let Some(Shot { path, packet }) = shot {
            self.enter(path, packet);
        }
    }

    /// Wakes a source at the instant that it requests, unless it is woken before.
    fn arm(&mut self, id: SourceId) {
        let origin = &mut self.sources[id.index()];
        let Some(next) = origin.source.next_wake() else { return };
        if origin.armed.is_none_or(|armed| next < armed) {
            origin.armed = Some(next);
            self.shared.agenda.schedule(next, Target::Source(id));
        }
    }

    /// A ghost for which its source waits has reached the end of its path.
    pub(super) fn delivered(&mut self, tag: Tag, ecn: Ecn) {
        // The tag may come from another engine, which this one does not trust.
        let Some(origin) = self.sources.get_mut(tag.source.index()).filter(|origin| origin.running) else {
            return;
        };
        let answer = origin.source.delivered(tag, ecn, self.shared.now);
        self.arm(tag.source);
        if let Some(Shot { path, packet }) = answer {
            self.enter(path, packet);
        }
    }

    pub(super) fn wake_process(&mut self, id: ProcessId) {
        let process = &mut self.processes[id.index()];
        if !process.is_running() {
            return;
        }
        let link = process.link();
        let change = process.wake(self.shared.now);
        self.follow(link, change);
        self.expect_process(id);
    }

    fn expect_process(&mut self, id: ProcessId) {
        if let Some(next) = self.processes[id.index()].next_wake() {
            self.shared.agenda.schedule(next, Target::Process(id));
        }
    }

    fn follow(&mut self, link: ElementId, change: Change) {
        self.with_link(link, |link, context| link.follow(change, context));
    }

    pub(super) fn with_link(&mut self, id: ElementId, act: impl FnOnce(&mut Link, &mut Context<'_>)) {
        self.with_element(id, |element, context| {
            if let Some(link) = element.link_mut() {
                act(link, context);
            }
        });
        // The queue may have released a packet.
        self.observe_transmitter(id);
        self.announce_queue(id);
    }
}
