//! The engine driven by the wall clock and real packets.
//!
//! One thread reads every node's port, pushes the wire packets into the engine at the instants the kernel stamped them,
//! and hands each surviving packet to its receiver at the instant the engine says it is due: never earlier. How much
//! later it was is kept for every packet (the `ledger`).
//!
//! * [`port`]: how frames come in and go out (AF_PACKET rings on veth; in-memory for tests).
//! * [`forwarder`]: frames to wire packets to the engine and back. It reads no clock and waits for nothing; `sending` does.
//! * [`worker`]: what the thread does when: packets, [`commands`], the timeline; the same on a [`machine`] and in virtual time.
//! * [`machine`]: clock, spinning (`warmth`), sleeping (`sleeper`, `waking`, `precedence`); `waker` wakes it for a command.
//! * `ledger`, `records` (with `held`), `series`, `sightings`, `monitors`: what is remembered; rows stand in a `log`.
//! * `snapshot`: what the thread hands over when it is read; `rendering` makes the `measurement` of it, on the thread that asked.
//!
//! Measured facts behind the choices (spinning against sleeping, rings against reads) are in docs/explanation/emulator.md.

mod capture;
pub mod clock;
pub mod commands;
pub mod forwarder;
mod handovers;
mod held;
mod holding;
mod host;
mod lead;
mod ledger;
mod log;
pub mod machine;
mod measurement;
mod monitors;
mod names;
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
mod trains;
mod waker;
mod waking;
mod warmth;
pub mod worker;

use std::fs::File;
use std::sync::mpsc::{channel, Sender};
use std::thread::{JoinHandle, ScopedJoinHandle};

pub use capture::{Capture, CaptureLimits};
use crosswind_fabric::{Condition, Fabric, Planner};
pub use crosswind_recording::Written;
use crosswind_recording::{Header, Recorder};

pub use host::application_processors;
pub use measurement::Measurement;
pub use sending::send_due;
pub use thread::NONE_TO_SPARE;

use clock::{Clock, MachineClock, Stamps};
use commands::{Command, Commands, Done};
use forwarder::Forwarder;
use lead::Lead;
use machine::ThisMachine;
use port::{close_all, Veth, OPENED_AT_ONCE};
use warmth::Warmth;
use worker::Worker;

/// The fabric-side end of a node's veth pair; ports come in the order of the fabric's nodes.
#[derive(Clone, Copy, Debug)]
pub struct Port {
    /// Index of the interface in the fabric's network namespace.
    pub ifindex: i32,
}

fn open_all(fabric: &Fabric, ports: &[Port]) -> Result<Vec<Veth>, String> {
    let mut veths = Vec::with_capacity(ports.len());
    let named: Vec<_> = ports.iter().zip(&fabric.nodes).collect();
    for group in named.chunks(OPENED_AT_ONCE) {
        // A new thread is in the network namespace of its maker.
        let opened: Vec<_> = std::thread::scope(|scope| {
            let open = |port: &Port| Veth::open(port.ifindex, ports.len());
            let threads: Vec<_> = group
                .iter()
                .map(|&(port, _)| std::thread::Builder::new().spawn_scoped(scope, move || open(port)))
                .collect();
            let joined =
                |thread: ScopedJoinHandle<'_, _>| thread.join().expect("opening a port does not panic");
            threads.into_iter().map(|thread| thread.and_then(joined)).collect()
        });
        for ((_, node), veth) in group.iter().zip(opened) {
            let named = |error| thread::refused(&format!("port of node {}", node.name), &error);
            veths.push(veth.map_err(named)?);
        }
    }
    Ok(veths)
}

/// Files that are written while the emulator runs.
#[derive(Debug, Default)]
pub struct Files {
    /// A new file for a recording of everything that happens to the engine.
    pub record: Option<File>,
    /// A new file for a capture, and how much is kept.
    pub capture: Option<(File, CaptureLimits)>,
}

/// What became of them.
#[derive(Debug, Default)]
pub struct Kept {
    /// The recording.
    pub recording: Option<Written>,
    /// The capture.
    pub capture: Option<Written>,
}

/// A running emulator; it owns its thread.
#[derive(Debug)]
pub struct Emulator {
    planner: Planner,
    commands: Commands,
    thread: Option<JoinHandle<Kept>>,
    wait_mode: &'static str,
}

impl Emulator {
    /// Opens the ports and starts forwarding. Must be called on a thread inside the fabric's network namespace.
    ///
    /// `fault` is called once, with the reason, should the emulator's thread die.
    pub fn start(
        fabric: &Fabric,
        ports: Vec<Port>,
        files: Files,
        fault: Box<dyn Fn(String) + Send>,
    ) -> Result<Self, String> {
        let built_ns = MachineClock.monotonic_ns();
        let mut planner = Planner::new(fabric).map_err(|error| error.to_string())?;
        let network = planner.network(clock::instant(built_ns)).map_err(|error| error.to_string())?;
        let recorder = files
            .record
            .map(|file| Recorder::start(file, &Header::new(fabric, built_ns)))
            .transpose()
            .map_err(|error| thread::refused("start the recording", &error))?;
        let names = fabric.nodes.iter().map(|node| node.name.clone());
        let difference_ns = Stamps::new(&MachineClock).realtime_minus_monotonic_ns();
        let capture = files
            .capture
            .map(|(file, limits)| Capture::start(file, names, limits, difference_ns))
            .transpose()
            .map_err(|error| thread::refused("start the capture", &error))?;
        let veths = open_all(fabric, &ports)?;
        let (commands, inbox) =
            commands::commands().map_err(|error| format!("eventfd for the emulator: {error}"))?;
        let cpu = host::cpu_for_emulator(fabric.wait);
        let keep_warm = || Warmth::open().map_err(|error| format!("socket on the fabric's own lo: {error}"));
        let own = cpu.map(|cpu| keep_warm().map(|warmth| (cpu, warmth))).transpose()?;
        let shortest_ns =
            lead::shortest_way_ns().map_err(|error| format!("measure the kernel's way on lo: {error}"))?;
        let mut forwarder = Forwarder::new(network, veths);
        (forwarder.lead, forwarder.recorder, forwarder.capture) = (Lead::new(shortest_ns), recorder, capture);
        let machine = ThisMachine::new(forwarder.ports.iter().map(Veth::descriptors), own)
            .map_err(|error| format!("epoll for the ports: {error}"))?;
        let timeline = planner.timeline().map_err(|error| error.to_string())?;
        let worker = Worker::new(forwarder, machine, inbox, timeline);
        let wait_mode = worker.wait_mode();
        let thread = std::thread::Builder::new()
            .name("emulator".into())
            .spawn(move || {
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| run(worker)));
                match outcome {
                    Ok((Ok(()), kept)) => kept,
                    Ok((Err(error), kept)) => {
                        fault(format!("emulator: {error}"));
                        kept
                    }
                    Err(_) => {
                        fault("emulator: internal error, see the agent's standard error".to_owned());
                        Kept::default()
                    }
                }
            })
            .map_err(|error| thread::refused("emulator thread", &error))?;
        Ok(Self { planner, commands, thread: Some(thread), wait_mode })
    }

    /// `spin` where a core can be spared for it, else `sleep`.
    pub fn wait_mode(&self) -> &'static str {
        self.wait_mode
    }

    /// Puts another condition in force; returns the instant it took effect.
    pub fn set(&mut self, condition: &Condition) -> Result<u64, String> {
        let plan = Box::new(self.planner.condition(condition).map_err(|error| error.to_string())?);
        let Done { at_ns, .. } = self.ask(|reply| Command::Set(plan, reply))?;
        Ok(at_ns)
    }

    /// Starts a measurement window, and with it the condition's timeline; returns its instant.
    pub fn measure(&mut self) -> Result<u64, String> {
        let timeline = Box::new(self.planner.timeline().map_err(|error| error.to_string())?);
        let steal_ns = host::steal_ns();
        let Done { at_ns, .. } = self.ask(|reply| Command::Measure { steal_ns, timeline, reply })?;
        Ok(at_ns)
    }

    /// The measurement of the window so far; null once the emulator has died.
    pub fn read(&self) -> serde_json::Value {
        let steal_ns = host::steal_ns();
        let snapshot = self.ask(|reply| Command::Read { steal_ns, reply });
        let measurement = snapshot.map(|snapshot| Measurement::new(*snapshot));
        measurement.ok().and_then(|measurement| serde_json::to_value(measurement).ok()).unwrap_or_default()
    }

    /// Ends the thread and closes the ports; returns what became of the files.
    pub fn stop(mut self) -> Kept {
        self.end()
    }

    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, String> {
        let (reply, answer) = channel();
        let dead = || "the emulator has died".to_owned();
        if !self.commands.send(command(reply)) {
            return Err(dead());
        }
        answer.recv().map_err(|_| dead())
    }

    fn end(&mut self) -> Kept {
        let Some(thread) = self.thread.take() else { return Kept::default() };
        // A dead thread has dropped its inbox; there is nothing left to stop.
        self.commands.send(Command::Stop);
        thread.join().unwrap_or_default()
    }
}

/// Forwards until told to stop, then closes the files and the ports.
fn run(mut worker: Worker<Veth, ThisMachine>) -> (Result<(), String>, Kept) {
    let outcome = worker.run();
    let (ports, kept) = worker.finish();
    close_all(ports);
    (outcome, kept)
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}
