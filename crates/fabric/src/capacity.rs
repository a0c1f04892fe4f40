//! Links whose capacity a process drives: the processes of the engine that do what a plan asks for.
//!
//! A link that is to follow the process that it follows already goes on with it undisturbed; any other process begins
//! at its time 0. The process of a link is named after it, so that links and directions are independent, and one that begins
//! again draws what it drew before.

use std::sync::Arc;

use crosswind_engine::{Engine, Instant, ProcessId};

use crate::elements::Elements;
use crate::plan::Driven;

/// All links under a process.
#[derive(Debug, Default)]
pub(crate) struct Drives(Vec<Drive>);

/// A driven link and its process.
pub(crate) type Drive = (Driven, ProcessId);

impl Drives {
    /// Lets exactly these links, in the order of their wires, be driven from `at` on. Returns what drove links before.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        elements: &Elements,
        at: Instant,
        wanted: &[Driven],
    ) -> Vec<Drive> {
        let before = std::mem::take(&mut self.0);
        let mut running = before.iter().peekable();
        let goes_on = wanted.iter().map(|driven| {
            while running.next_if(|(old, _)| old.wire < driven.wire).is_some() {}
            let same =
                |(old, _): &&Drive| old.wire == driven.wire && Arc::ptr_eq(&old.process, &driven.process);
            running.next_if(same).map(|(_, id)| *id)
        });
        let goes_on: Vec<Option<ProcessId>> = goes_on.collect();
        // Stopping one again would do nothing, and those that go on are in the order of the others.
        let mut kept = goes_on.iter().flatten().peekable();
        for (_, id) in &before {
            if kept.next_if_eq(&id).is_none() {
                engine.stop_process(at, *id);
            }
        }
        for (driven, id) in wanted.iter().zip(goes_on) {
            let id = id.unwrap_or_else(|| begin(engine, elements, at, driven));
            self.0.push((driven.clone(), id));
        }
        before
    }

    /// Begins every process again, at its time 0.
    pub(crate) fn restart(&mut self, engine: &mut Engine, elements: &Elements, at: Instant) {
        for (driven, id) in &mut self.0 {
            engine.stop_process(at, *id);
            *id = begin(engine, elements, at, driven);
        }
    }

    /// The links' places in the fabric's list, in the order of [`Drives::iter`].
    pub(crate) fn places(&self) -> impl Iterator<Item = usize> + '_ {
        self.0.iter().map(|(driven, _)| driven.number)
    }

    /// Every driven link by name, with its process.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&Arc<str>, ProcessId)> {
        self.0.iter().map(|(driven, id)| (&driven.link, *id))
    }
}

fn begin(engine: &mut Engine, elements: &Elements, at: Instant, driven: &Driven) -> ProcessId {
    let Driven { name, wire, process, .. } = driven;
    engine.drive(name, process, elements.id(*wire), at).expect("a wire that nothing drives")
}
