//! Links whose capacity a process drives: matches the engine's processes to a plan.
//!
//! If a link continues with the process that it already follows, the process is not disturbed; any other process
//! begins at its time 0. The process of a link is named after the link, so links and directions are independent. A
//! process that restarts draws the same values again.

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
    /// Drives exactly these links, in the order of their wires, from `at` on. Returns the previous drives.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        elements: &Elements,
        at: Instant,
        wanted: &[Driven],
    ) -> Vec<Drive> {
        let before = std::mem::take(&mut self.0);
        let mut running = before.iter().peekable();
        let continuing = wanted.iter().map(|driven| {
            while running.next_if(|(old, _)| old.wire < driven.wire).is_some() {}
            let same =
                |(old, _): &&Drive| old.wire == driven.wire && Arc::ptr_eq(&old.process, &driven.process);
            running.next_if(same).map(|(_, id)| *id)
        });
        let continuing: Vec<Option<ProcessId>> = continuing.collect();
        // Restarting a continuing process would have no effect; the continuing ones are in the order of the others.
        let mut kept = continuing.iter().flatten().peekable();
        for (_, id) in &before {
            if kept.next_if_eq(&id).is_none() {
                engine.stop_process(at, *id);
            }
        }
        for (driven, id) in wanted.iter().zip(continuing) {
            let id = id.unwrap_or_else(|| begin(engine, elements, at, driven));
            self.0.push((driven.clone(), id));
        }
        before
    }

    /// Restarts every process at its time 0.
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
