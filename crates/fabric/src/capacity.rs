//! Links whose capacity a process drives: what a condition asks for, and the processes of the engine that do it.
//!
//! A link that is asked to follow the process that it follows already goes on with it undisturbed; any other process begins
//! at its time 0. The process of a link is named after it, so that links and directions are independent, and one that begins
//! again draws what it drew before.

use crosswind_engine::{ElementId, Engine, Instant, ProcessId, ProcessSpec, SpecError};

/// A link under a process.
#[derive(Debug)]
struct Drive {
    link: String,
    element: ElementId,
    process: ProcessSpec,
    id: ProcessId,
}

/// A link, and what its capacity is to be.
pub(crate) struct Wanted<'a> {
    pub(crate) link: String,
    pub(crate) element: ElementId,
    pub(crate) process: &'a ProcessSpec,
}

/// All links under a process.
#[derive(Debug, Default)]
pub(crate) struct Drives(Vec<Drive>);

impl Drives {
    /// Lets exactly the wanted links be driven from `at` on.
    pub(crate) fn put(
        &mut self,
        engine: &mut Engine,
        at: Instant,
        wanted: &[Wanted<'_>],
    ) -> Result<(), SpecError> {
        let goes_on = |drive: &Drive| {
            wanted.iter().any(|wanted| wanted.element == drive.element && *wanted.process == drive.process)
        };
        let (on, off): (Vec<Drive>, Vec<Drive>) = std::mem::take(&mut self.0).into_iter().partition(goes_on);
        self.0 = on;
        for drive in off {
            engine.stop_process(at, drive.id);
        }
        for &Wanted { ref link, element, process } in wanted {
            if self.0.iter().any(|drive| drive.element == element) {
                continue;
            }
            let id = engine.start_process(&name(link), process.clone(), element, at)?;
            self.0.push(Drive { link: link.clone(), element, process: process.clone(), id });
        }
        Ok(())
    }

    /// Begins every process again, at its time 0.
    pub(crate) fn restart(&mut self, engine: &mut Engine, at: Instant) {
        for drive in &mut self.0 {
            engine.stop_process(at, drive.id);
            drive.id = engine
                .start_process(&name(&drive.link), drive.process.clone(), drive.element, at)
                .expect("it was running on this link");
        }
    }

    /// Every driven link by name, with its process.
    pub(crate) fn iter(&self) -> impl Iterator<Item = (&str, ProcessId)> {
        self.0.iter().map(|drive| (drive.link.as_str(), drive.id))
    }
}

fn name(link: &str) -> String {
    format!("{link}:capacity")
}
