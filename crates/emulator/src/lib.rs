//! The engine, driven by the wall clock and real packets.
//!
//! One thread reads every node's port, pushes the wire packets into the engine at the instants of the kernel's stamps,
//! and hands each surviving packet to its receiver when the engine's due instant has come, never earlier. The lateness
//! of every packet is recorded (the `ledger`).
//!
//! A fabric with several domains has one such thread for each (`threads`, `division`); packets cross between them
//! (`crossings`).
//!
//! * [`port`]: input and output of frames (AF_PACKET rings on veth; in memory for tests).
//! * [`forwarder`]: converts frames to wire packets in the engine and back. It reads no clock and does not wait;
//!   `sending` does.
//! * [`worker`]: the thread's loop: packets, [`commands`], the timeline; the same on a [`machine`] and in virtual
//!   time.
//! * [`machine`]: clock, spinning (`warmth`), sleeping (`sleeper`, `waking`, `precedence`); `waker` wakes it for a
//!   command.
//! * `pace`: the same machine with a slower clock, for applications whose time runs slower.
//! * `ledger`, `records` (with `held`), `series`, `sightings`, `monitors`: what is recorded; rows are stored in a
//!   `log`.
//! * `watch`: what is reported of every step while a reader watches.
//! * `snapshot`: the state that the thread returns when it is read; `rendering` makes the `measurement` of it, on the
//!   thread that requested it.
//!
//! The measurements behind these choices (spinning against sleeping, rings against reads) are in
//! docs/explanation/emulator.md.

mod addresses;
mod capture;
pub mod clock;
pub mod commands;
mod crossings;
mod division;
pub mod forwarder;
mod handovers;
mod held;
mod holding;
mod host;
mod late;
mod lead;
mod ledger;
mod log;
pub mod machine;
mod measurement;
mod merging;
mod monitor_report;
mod names;
mod nodes;
mod offered;
mod pace;
pub mod port;
mod precedence;
mod records;
mod rendering;
mod sending;
mod series;
mod sightings;
mod sleeper;
mod snapshot;
mod stalls;
mod thread;
mod threads;
mod trains;
mod waker;
mod waking;
mod warmth;
mod watch;
pub mod worker;

use std::fs::File;
use std::os::fd::AsFd;
use std::sync::mpsc::Sender;
use std::sync::Arc;
use std::time::Duration;

pub use capture::{Capture, CaptureLimits};
use crosswind_fabric::{Condition, Domains, ElementAt, Fabric, NodeCut, Planner};
pub use crosswind_recording::Written;
use crosswind_recording::{Header, Recorder};
use crosswind_tunnel::{ClockReport, Tunnel};

pub use host::application_cpus;
pub use measurement::Measurement;
pub use pace::{Anchor, Pace};
pub use port::PortOpener;
pub use sending::send_due;
pub use thread::NONE_TO_SPARE;

use clock::{Clock, MachineClock, Stamps};
use commands::{Command, Done};
use crossings::Crossings;
use forwarder::Forwarder;
use lead::Lead;
use machine::ThisMachine;
use pace::Paced;
use port::Veth;
use series::STEP_NS;
use threads::{Fault, Threads};
use warmth::Warmth;
pub use watch::StepReport;
use watch::Watch;
use worker::Worker;

/// Files that are written while the emulator runs.
#[derive(Debug, Default)]
pub struct Files {
    /// A new file for a recording of everything that happens to the engine.
    pub record: Option<File>,
    /// A new file for a capture, and its limits.
    pub capture: Option<(File, CaptureLimits)>,
}

/// The final state of the files.
#[derive(Debug, Default)]
pub struct Kept {
    /// The recording.
    pub recording: Option<Written>,
    /// The capture.
    pub capture: Option<Written>,
    /// The tunnel to other machines, for the next fabric.
    pub tunnel: Option<Tunnel>,
}

/// The part of a fabric that this machine carries: one of its domains. The others are on other machines.
#[derive(Debug)]
pub struct Part {
    /// Leads to the others, and says which is this machine's.
    pub tunnel: Tunnel,
    /// How many fabrics the run has brought up, with this one.
    pub generation: u32,
}

/// A running emulator; it owns its threads.
#[derive(Debug)]
pub struct Emulator {
    planner: Planner,
    threads: Threads,
    /// Present where there are several.
    domains: Option<Domains>,
    /// The domain of this machine, where others carry the rest.
    part: Option<usize>,
    wait_mode: &'static str,
    /// Of the threads' clock, by which all instants go.
    pace: Pace,
    /// One for each domain while a reader watches.
    watches: Vec<Watch>,
    /// Begin of the latest step that was reported.
    reported_ns: u64,
}

/// A packet thread closes a step within this time after its end, unless it has no CPU.
const CLOSED_WITHIN_NS: u64 = 5_000_000;
/// Where a step is not closed by then, it is looked for again after this time.
const LOOK_AGAIN: Duration = Duration::from_millis(20);

impl Emulator {
    /// Starts forwarding between ports, which are given in the order of the fabric's nodes, or of those [`nodes_here`].
    /// Call it on a thread inside the fabric's network namespace.
    ///
    /// `pace` is that of time in the nodes; a part of a fabric runs in real time. `fault` is called once, with the
    /// reason, if a thread of the emulator dies.
    pub fn start(
        fabric: &Fabric,
        part: Option<Part>,
        ports: PortOpener,
        files: Files,
        pace: Pace,
        fault: Fault,
    ) -> Result<Self, String> {
        let domains = division::domains(fabric)?;
        let machine = part.as_ref().map(|part| part.tunnel.domain());
        if machine.is_none() {
            division::check_files(domains.as_ref(), &files)?;
        }
        let carried: Vec<usize> = match machine {
            Some(domain) => vec![domain],
            None => (0..domains.as_ref().map_or(1, Domains::count)).collect(),
        };
        let count = carried.len();
        let now_ns = || pace.perceived_ns(MachineClock.monotonic_ns());
        let built_ns = now_ns();
        let mut planner = Planner::new(fabric).map_err(|error| error.to_string())?;
        if let Some(domains) = &domains {
            planner = planner.divided(domains.clone());
        }
        let networks = carried.iter().map(|&domain| planner.domain(clock::instant(built_ns), domain));
        let networks = networks.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())?;
        // With files there is only one domain on this machine.
        let mut recorder = files
            .record
            .map(|file| Recorder::start(file, &Header::new(fabric, machine, built_ns)))
            .transpose()
            .map_err(|error| thread::refused("start the recording", &error))?;
        let names = fabric.nodes.iter().map(|node| node.name.clone());
        // Captures of several machines are put on one clock by their monotonic ones.
        let difference_ns = match machine {
            Some(_) => 0,
            None => Stamps::new(&MachineClock).realtime_minus_monotonic_ns(),
        };
        let mut capture = files
            .capture
            .map(|(file, limits)| Capture::start(file, names, limits, difference_ns))
            .transpose()
            .map_err(|error| thread::refused("start the capture", &error))?;
        let mut veths: Vec<Vec<Veth>> = networks.iter().map(|_| Vec::new()).collect();
        let nodes = nodes_here(fabric, machine)?;
        let opened = ports.finish().map_err(|(at, error)| {
            thread::refused(&format!("port of node {}", fabric.nodes[nodes[at]].name), &error)
        })?;
        for (&node, veth) in nodes.iter().zip(opened) {
            let domain = domains.as_ref().map_or(0, |domains| domains.of_node(node));
            veths[if machine.is_some() { 0 } else { domain }].push(veth);
        }
        let shortest_ns = lead::shortest_way_ns()
            .map_err(|error| format!("measure the kernel's sending time on lo: {error}"))?;
        let asking = networks.iter().map(|_| commands::commands()).collect::<Result<Vec<_>, _>>();
        let asking = asking.map_err(|error| format!("eventfd for the emulator: {error}"))?;
        let (commands, inboxes): (Vec<_>, Vec<_>) = asking.into_iter().unzip();
        let crossings = match (&domains, part) {
            (None, _) => Vec::new(),
            (Some(domains), None) => Crossings::between(domains, &inboxes),
            (Some(domains), Some(Part { mut tunnel, generation })) => {
                tunnel.start_generation(generation, fabric.nodes.len());
                vec![Crossings::over(tunnel, domains)]
            }
        };
        let mut crossings = crossings.into_iter().map(Box::new);
        let kept = host::cpus_for_emulator(fabric, pace, count);
        let mut reserved = kept.iter().copied();
        let timeline = planner.timeline().map_err(|error| error.to_string())?;
        let mut timelines = each(count, timeline, |timeline| planner.timeline_again(timeline)).into_iter();
        let mut workers = Vec::with_capacity(count);
        for (((network, veths), inbox), commands) in
            networks.into_iter().zip(veths).zip(inboxes).zip(commands)
        {
            let keep_warm =
                || Warmth::open().map_err(|error| format!("socket on the fabric's own lo: {error}"));
            let own = reserved.next().map(|cpu| keep_warm().map(|warmth| (cpu, warmth))).transpose()?;
            let mut forwarder = Forwarder::new(network, veths);
            forwarder.lead = Lead::new(shortest_ns, pace);
            (forwarder.recorder, forwarder.capture) = (recorder.take(), capture.take());
            forwarder.crossings = crossings.next();
            let tunnel = forwarder.crossings.as_ref().and_then(|crossings| crossings.tunnel());
            let tunnel = tunnel.map(|tunnel| tunnel.as_fd().try_clone_to_owned()).transpose();
            let tunnel = tunnel.map_err(|error| format!("descriptor of the tunnel: {error}"))?;
            let machine = ThisMachine::new(forwarder.ports.iter().map(Veth::descriptors), own)
                .map_err(|error| format!("epoll for the ports: {error}"))?
                .with(tunnel)
                .off(kept.clone());
            let machine = Paced::new(machine, pace);
            let timeline = timelines.next().expect("one for each domain");
            workers.push((Worker::new(forwarder, machine, inbox, timeline), commands));
        }
        let spin = workers.iter().all(|(worker, _)| worker.wait_mode() == "spin");
        let threads = Threads::start(workers, now_ns(), fault)?;
        Ok(Self {
            planner,
            threads,
            domains,
            part: machine,
            wait_mode: if spin { "spin" } else { "sleep" },
            pace,
            watches: Vec::new(),
            reported_ns: 0,
        })
    }

    /// `spin` if a CPU is available for each domain, else `sleep`.
    pub fn wait_mode(&self) -> &'static str {
        self.wait_mode
    }

    /// Number of domains that carry the network: the requested number, or fewer where the graph has fewer possible
    /// cuts.
    pub fn domains(&self) -> usize {
        self.threads.count()
    }

    /// Applies another condition, at an instant or now; returns the instant at which it took effect.
    pub fn set(&mut self, condition: &Condition, at_ns: Option<u64>) -> Result<u64, String> {
        let plan = self.planner.condition(condition).map_err(|error| error.to_string())?;
        let plans = each(self.threads.count(), plan, |plan| self.planner.again(plan));
        let mut plans = plans.into_iter().map(Box::new);
        let at_ns = self.reached(at_ns);
        self.agree(|reply| {
            let plan = plans.next().expect("one for each domain");
            Command::Set { at_ns, plan, reply }
        })
    }

    /// Cuts nodes off by hand, at an instant or now, and ends all earlier cuts by hand; returns the instant at which it
    /// took effect.
    pub fn cut(&mut self, cuts: &[NodeCut], at_ns: Option<u64>) -> Result<u64, String> {
        let cuts = self.planner.cuts(cuts).map_err(|error| error.to_string())?;
        let at_ns = self.reached(at_ns);
        self.agree(|reply| Command::Cut { at_ns, cuts: Arc::clone(&cuts), reply })
    }

    /// Starts a measurement window, and with it the condition's timeline, at an instant or now; returns its instant.
    pub fn measure(&mut self, at_ns: Option<u64>) -> Result<u64, String> {
        let timeline = self.planner.timeline().map_err(|error| error.to_string())?;
        let timelines = each(self.threads.count(), timeline, |it| self.planner.timeline_again(it));
        let mut timelines = timelines.into_iter().map(Box::new);
        let steal_ns = host::steal_ns();
        let at_ns = (at_ns.is_some() || self.domains() > 1).then(|| self.reached(at_ns));
        self.agree(|reply| {
            let timeline = timelines.next().expect("one for each domain");
            Command::Measure { at_ns, steal_ns, timeline, reply }
        })
    }

    /// The measurement of the window so far; null if the emulator has died.
    pub fn read(&self) -> serde_json::Value {
        let steal_ns = host::steal_ns();
        let snapshots = self.threads.ask(|reply| Command::Read { steal_ns, reply });
        let measurement = snapshots.ok().and_then(|snapshots| {
            let mut snapshots: Vec<_> = snapshots.into_iter().map(|snapshot| *snapshot).collect();
            let snapshot = match (&self.domains, self.part) {
                (None, _) => snapshots.pop()?,
                (Some(domains), Some(own)) => merging::own(snapshots.pop()?, domains, own),
                (Some(domains), None) => merging::merged(snapshots, domains),
            };
            serde_json::to_value(Measurement::new(snapshot)).ok()
        });
        measurement.unwrap_or_default()
    }

    /// The time, and the estimates of the clocks of other machines, by domain.
    ///
    /// # Errors
    /// When the emulator has died.
    pub fn clocks(&self) -> Result<(u64, Vec<(usize, ClockReport)>), String> {
        let mut answers = self.threads.ask(Command::Clocks)?;
        answers.pop().ok_or_else(|| "the emulator has no thread".to_owned())
    }

    /// Reports every step of the series from now on, to [`reports`](Self::reports).
    pub fn watch(&mut self) -> Result<(), String> {
        self.watches = self.threads.watch()?;
        Ok(())
    }

    /// The steps reported since the last call, each as every domain has counted it; it does not wait.
    pub fn reports(&mut self) -> Vec<StepReport> {
        let Self { watches, domains, part, .. } = self;
        let owns = |domain: usize, element: &ElementAt| {
            domains.as_ref().is_none_or(|it| it.of_element(element) == part.unwrap_or(domain))
        };
        let reports: Vec<_> = watches.iter_mut().flat_map(|watch| watch.reports(owns)).collect();
        self.reported_ns = reports.iter().map(|report| report.at_ns).fold(self.reported_ns, u64::max);
        reports
    }

    /// When to look for the next step, from now on. No packet thread wakes the caller for it: that would cost it time.
    pub fn next_report_in(&self) -> Duration {
        let closed_ns = self.reported_ns + 2 * STEP_NS + CLOSED_WITHIN_NS;
        let closed_ns = self.pace.real_ns(closed_ns);
        Duration::from_nanos(closed_ns.saturating_sub(MachineClock.monotonic_ns())).max(LOOK_AGAIN)
    }

    /// Ends the threads and closes the ports; returns the final state of the files.
    pub fn stop(mut self) -> Kept {
        self.threads.end()
    }

    /// Waits until an instant has come, and returns it; the present one where it is past, or there is none.
    fn reached(&self, at_ns: Option<u64>) -> u64 {
        let now_ns = self.pace.perceived_ns(MachineClock.monotonic_ns());
        let Some(at_ns) = at_ns.filter(|&at_ns| at_ns > now_ns) else { return now_ns };
        std::thread::sleep(Duration::from_nanos(self.pace.real_length_ns(at_ns - now_ns)));
        at_ns
    }

    /// Sends every domain its part of a command; returns the latest instant at which it took effect.
    fn agree(&self, command: impl FnMut(Sender<Done>) -> Command) -> Result<u64, String> {
        let done = self.threads.ask(command)?;
        Ok(done.iter().map(|done| done.at_ns).max().unwrap_or_default())
    }
}

/// The nodes that a machine has which carries this domain, or all of them: their positions in the fabric.
///
/// # Errors
/// When the fabric cannot be divided as it says.
pub fn nodes_here(fabric: &Fabric, domain: Option<usize>) -> Result<Vec<usize>, String> {
    let domains = division::domains(fabric)?;
    let all = 0..fabric.nodes.len();
    let Some(domain) = domain else { return Ok(all.collect()) };
    let domains = domains.ok_or("the fabric is one domain; name the domain of each machine in `domains`")?;
    if domain >= domains.count() {
        return Err(format!("domain {domain}: the fabric has {}, counted from 0", domains.count()));
    }
    Ok(all.filter(|&node| domains.of_node(node) == domain).collect())
}

/// A value for each domain: `first` for the first, and copies of it for the others.
fn each<T>(count: usize, first: T, again: impl Fn(&T) -> T) -> Vec<T> {
    let mut all: Vec<T> = (1..count).map(|_| again(&first)).collect();
    all.insert(0, first);
    all
}
