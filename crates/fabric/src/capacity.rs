//! Links whose capacity a process drives: matches the engine's processes to a plan.
//!
//! If a link continues with the process that it already follows, the process is not disturbed; any other process
//! begins at its time 0. The process of a link is named after the link, so links and directions are independent. A
//! process that restarts draws the same values again.
//!
//! Processes that were replaced since the restart are remembered, because a measurement shows every level of a link.

use std::collections::BTreeMap;
use std::sync::Arc;

use crosswind_engine::{Capacity, Engine, Instant, ProcessId, Rate, CHANGES_STORED};

use crate::elements::Elements;
use crate::plan::Driven;

/// All links under a process.
#[derive(Debug, Default)]
pub(crate) struct Drives {
    now: Vec<Drive>,
    /// In the order in which they stopped.
    stopped: Vec<Stopped>,
}

/// A driven link and its process.
pub(crate) type Drive = (Driven, ProcessId);

/// A process that was stopped after the restart.
#[derive(Debug)]
struct Stopped {
    link: Arc<str>,
    place: usize,
    id: ProcessId,
    /// When the link had its own rate again; `None` where another process followed at once.
    free: Option<Instant>,
}

impl Stopped {
    fn of(driven: &Driven, id: ProcessId, free: Option<Instant>) -> Self {
        Self { link: Arc::clone(&driven.link), place: driven.number, id, free }
    }
}

/// The levels of a link that a process drives, or has driven since the restart.
#[derive(Clone, Debug)]
pub struct Levels {
    /// Its place in the fabric's list.
    pub place: usize,
    /// Its name.
    pub link: Arc<str>,
    /// Start and level, also that of the link's own rate where no process followed; the first 65 536 of them.
    pub changes: Vec<(Instant, Capacity)>,
    /// Number of changes that did not fit.
    pub not_stored: u64,
}

impl Drives {
    /// Drives exactly these links, in the order of their wires, from `at` on. Returns the previous drives.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        elements: &Elements,
        at: Instant,
        wanted: &[Driven],
    ) -> Vec<Drive> {
        let before = std::mem::take(&mut self.now);
        let mut running = before.iter().peekable();
        let mut ended: Vec<&Drive> = Vec::new();
        // By wanted process: the one that drives its link now, and whether it is the same, which then continues.
        let mut present = Vec::with_capacity(wanted.len());
        for driven in wanted {
            ended.extend(std::iter::from_fn(|| running.next_if(|(old, _)| old.wire < driven.wire)));
            let here = running.next_if(|(old, _)| old.wire == driven.wire);
            present.push(here.map(|(old, id)| (*id, Arc::ptr_eq(&old.process, &driven.process))));
        }
        for (driven, id) in ended.into_iter().chain(running) {
            engine.stop_process(at, *id);
            self.stopped.push(Stopped::of(driven, *id, Some(at)));
        }
        for (driven, present) in wanted.iter().zip(present) {
            let id = match present {
                None => begin(engine, elements, at, driven),
                Some((id, true)) => id,
                Some((id, false)) => {
                    self.stopped.push(Stopped::of(driven, id, None));
                    replace(engine, at, driven, id)
                }
            };
            self.now.push((driven.clone(), id));
        }
        before
    }

    /// Restarts every process at its time 0; what was before is forgotten.
    pub(crate) fn restart(&mut self, engine: &mut Engine, at: Instant) {
        self.stopped.clear();
        for (driven, id) in &mut self.now {
            *id = replace(engine, at, driven, *id);
        }
    }

    /// The levels since the restart of every link that was driven, in the order of the fabric's list.
    ///
    /// `own` is the rate of a link, by place, that no process drives.
    pub(crate) fn levels(&self, engine: &Engine, own: impl Fn(usize) -> Rate) -> Vec<Levels> {
        let stopped = self.stopped.iter().map(|it| (&it.link, it.place, it.id, it.free));
        let now = self.now.iter().map(|(driven, id)| (&driven.link, driven.number, *id, None));
        let mut found: BTreeMap<usize, Levels> = BTreeMap::new();
        for (link, place, id, free) in stopped.chain(now) {
            let none = || Levels { place, link: Arc::clone(link), changes: Vec::new(), not_stored: 0 };
            let levels = found.entry(place).or_insert_with(none);
            engine.changes(id).iter().for_each(|&(at, level)| levels.note(at, level));
            levels.not_stored += engine.changes_not_stored(id);
            if let Some(at) = free {
                levels.note(at, Capacity::Rate(own(place)));
            }
        }
        found.into_values().collect()
    }
}

impl Levels {
    fn note(&mut self, at: Instant, level: Capacity) {
        if self.changes.last().is_some_and(|&(_, before)| before == level) {
            return;
        }
        if self.changes.len() < CHANGES_STORED {
            self.changes.push((at, level));
        } else {
            self.not_stored += 1;
        }
    }
}

fn begin(engine: &mut Engine, elements: &Elements, at: Instant, driven: &Driven) -> ProcessId {
    let Driven { name, wire, process, .. } = driven;
    engine.drive(name, process, elements.id(*wire), at).expect("a wire that nothing drives")
}

/// Follows another process of the same link at once, so that the link's own rate does not apply between the two.
fn replace(engine: &mut Engine, at: Instant, driven: &Driven, before: ProcessId) -> ProcessId {
    engine.replace_process(&driven.name, &driven.process, before, at)
}
