//! Links whose capacity a process drives: what a condition asks for, and the processes of the engine that do it.
//!
//! A link that is asked to follow the process that it follows already goes on with it undisturbed; any other process begins
//! at its time 0. The process of a link is named after it, so that links and directions are independent, and one that begins
//! again draws what it drew before.

use crosswind_engine::{
    Capacity, Cell, Duration, ElementId, Engine, Instant, LevelSchedule, MarkovChain, MarkovState,
    OpportunitySchedule, PiecewiseUniform, ProcessId, ProcessSpec, Rate, SpecError,
};

use crate::process::Process;

/// A link under a process.
#[derive(Debug)]
struct Drive {
    link: String,
    element: ElementId,
    process: Process,
    spec: ProcessSpec,
    id: ProcessId,
}

/// A link, and what its capacity is to be.
pub(crate) struct Wanted<'a> {
    pub(crate) link: String,
    pub(crate) element: ElementId,
    pub(crate) process: &'a Process,
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
        // Links that follow one entry share its specification.
        let mut last: Option<(&Process, ProcessSpec)> = None;
        for &Wanted { ref link, element, process } in wanted {
            if self.0.iter().any(|drive| drive.element == element) {
                continue;
            }
            let spec = match last {
                Some((of, ref spec)) if std::ptr::eq(of, process) => spec.clone(),
                _ => process_spec(process),
            };
            last = Some((process, spec.clone()));
            let id = engine.start_process(&name(link), spec.clone(), element, at)?;
            self.0.push(Drive { link: link.clone(), element, process: process.clone(), spec, id });
        }
        Ok(())
    }

    /// Begins every process again, at its time 0.
    pub(crate) fn restart(&mut self, engine: &mut Engine, at: Instant) {
        for drive in &mut self.0 {
            engine.stop_process(at, drive.id);
            drive.id = engine
                .start_process(&name(&drive.link), drive.spec.clone(), drive.element, at)
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

/// What a process is in the engine. Where two lists differ in length, the rest of the longer is left out (see `check`).
pub(crate) fn process_spec(process: &Process) -> ProcessSpec {
    let nanos = |nanos: u64| Duration::from_nanos(nanos);
    match process {
        Process::Levels { at_ns, rate_bps, repeat_ns } => {
            ProcessSpec::Levels(levels(at_ns, rate_bps, *repeat_ns))
        }
        Process::Resampled { at_ns, rate_bps, period_ns, block_ns } => ProcessSpec::Resampled {
            trace: levels(at_ns, rate_bps, Some(*period_ns)),
            block: nanos(*block_ns),
        },
        Process::Opportunities { at_ns, ip_bytes, repeat_ns } => {
            ProcessSpec::Opportunities(OpportunitySchedule {
                opportunities: at_ns
                    .iter()
                    .zip(ip_bytes.iter())
                    .map(|(&at, &bytes)| (nanos(at), bytes))
                    .collect(),
                period: repeat_ns.map(nanos),
            })
        }
        Process::Drawn { cells, grid_bps, hold_ns } => ProcessSpec::Drawn {
            law: PiecewiseUniform {
                cells: cells
                    .iter()
                    .map(|cell| Cell { low: cell.low_bps, high: cell.high_bps, weight: cell.weight })
                    .collect(),
                grid: *grid_bps,
            },
            hold: nanos(*hold_ns),
        },
        Process::Markov { states, hold_ns } => ProcessSpec::Markov {
            chain: MarkovChain {
                states: states
                    .iter()
                    .map(|state| MarkovState {
                        level: capacity(state.rate_bps),
                        next_ppb: state.next_ppb.clone(),
                    })
                    .collect(),
            },
            hold: nanos(*hold_ns),
        },
    }
}

fn levels(at_ns: &[u64], rate_bps: &[Option<u64>], period_ns: Option<u64>) -> LevelSchedule {
    let level = |(&at, &rate)| (Duration::from_nanos(at), capacity(rate));
    LevelSchedule {
        levels: at_ns.iter().zip(rate_bps).map(level).collect(),
        period: period_ns.map(Duration::from_nanos),
    }
}

fn capacity(rate_bps: Option<u64>) -> Capacity {
    rate_bps.map_or(Capacity::Rate(Rate::Unlimited), Capacity::bits_per_second)
}
