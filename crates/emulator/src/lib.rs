//! The engine driven by the wall clock and real packets.
//!
//! One thread reads every node's port, pushes the wire packets into the engine at the instants the kernel stamped them,
//! and hands each surviving packet to its receiver at the instant the engine says it is due: never earlier. How much
//! later it was is kept for every packet (the `ledger`).
//!
//! * [`port`]: how frames come in and go out (AF_PACKET rings on veth; in-memory for tests).
//! * `forwarder`: frames to wire packets to the engine and back. No clock of its own, no waiting.
//! * `worker`: the thread: waiting, spinning, commands, the timeline.
//! * `ledger`, `records` (with `held`), `series`, `sightings`, `monitors`: what is remembered.
//!
//! Measured facts behind the choices (spinning against sleeping, rings against reads) are in docs/explanation/emulator.md.

mod capture;
mod clock;
pub mod forwarder;
mod held;
mod host;
mod lead;
mod ledger;
mod measurement;
mod monitors;
pub mod port;
mod precedence;
mod records;
mod series;
mod sightings;
mod stalls;
mod trains;
mod waking;
mod warmth;
mod worker;

use std::fs::File;
use std::sync::mpsc::{channel, Sender};
use std::thread::JoinHandle;

pub use capture::{Capture, CaptureLimits};
use crosswind_fabric::{Condition, Fabric, Network};
pub use crosswind_recording::Written;
use crosswind_recording::{Header, Recorder};

pub use host::application_processors;
pub use measurement::Measurement;

use forwarder::Forwarder;
use lead::Lead;
use port::{Veth, OPENED_AT_ONCE};
use warmth::Warmth;
use worker::{Command, Waker, Worker};

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
            let threads: Vec<_> =
                group.iter().map(|(port, _)| scope.spawn(|| Veth::open(port.ifindex, ports.len()))).collect();
            threads.into_iter().map(|thread| thread.join().expect("opening a port does not panic")).collect()
        });
        for ((_, node), veth) in group.iter().zip(opened) {
            veths.push(veth.map_err(|error| format!("port of node {}: {error}", node.name))?);
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
    commands: Sender<Command>,
    waker: Waker,
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
        let built_ns = clock::monotonic_ns();
        let network = Network::new(fabric, clock::instant(built_ns)).map_err(|error| error.to_string())?;
        let recorder = files
            .record
            .map(|file| Recorder::start(file, &Header::new(fabric, built_ns)))
            .transpose()
            .map_err(|error| format!("start the recording: {error}"))?;
        let names = fabric.nodes.iter().map(|node| node.name.clone());
        let difference_ns = clock::Stamps::new().realtime_minus_monotonic_ns();
        let capture = files
            .capture
            .map(|(file, limits)| Capture::start(file, names, limits, difference_ns))
            .transpose()
            .map_err(|error| format!("start the capture: {error}"))?;
        let veths = open_all(fabric, &ports)?;
        let (commands, inbox) = channel();
        let waker = Waker::new().map_err(|error| format!("eventfd for the emulator: {error}"))?;
        let cpu = host::cpu_for_emulator(fabric.wait);
        let keep_warm = || Warmth::open().map_err(|error| format!("socket on the fabric's own lo: {error}"));
        let own = cpu.map(|cpu| keep_warm().map(|warmth| (cpu, warmth))).transpose()?;
        let shortest_ns =
            lead::shortest_way_ns().map_err(|error| format!("measure the kernel's way on lo: {error}"))?;
        let mut forwarder = Forwarder::new(network, veths);
        (forwarder.lead, forwarder.recorder, forwarder.capture) = (Lead::new(shortest_ns), recorder, capture);
        let worker = Worker::new(forwarder, inbox, waker.clone(), own);
        let wait_mode = worker.wait_mode();
        let thread = std::thread::Builder::new()
            .name("emulator".into())
            .spawn(move || {
                let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| worker.run()));
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
            .map_err(|error| format!("emulator thread: {error}"))?;
        Ok(Self { commands, waker, thread: Some(thread), wait_mode })
    }

    /// `spin` where a core can be spared for it, else `sleep`.
    pub fn wait_mode(&self) -> &'static str {
        self.wait_mode
    }

    /// Puts another condition in force; returns the instant it took effect.
    pub fn set(&self, condition: Condition) -> Result<u64, String> {
        self.ask(|reply| Command::Set(Box::new(condition), reply))?.map_err(|error| error.to_string())
    }

    /// Starts a measurement window, and with it the condition's timeline; returns its instant.
    pub fn measure(&self) -> u64 {
        self.ask(Command::Measure).unwrap_or(0)
    }

    /// The measurement of the window so far; null once the emulator has died.
    pub fn read(&self) -> serde_json::Value {
        let measurement = self.ask(Command::Read);
        measurement.ok().and_then(|measurement| serde_json::to_value(*measurement).ok()).unwrap_or_default()
    }

    /// Ends the thread and closes the ports; returns what became of the files.
    pub fn stop(mut self) -> Kept {
        self.end()
    }

    fn ask<T>(&self, command: impl FnOnce(Sender<T>) -> Command) -> Result<T, String> {
        let (reply, answer) = channel();
        let dead = || "the emulator has died".to_owned();
        self.commands.send(command(reply)).map_err(|_| dead())?;
        self.waker.wake();
        answer.recv().map_err(|_| dead())
    }

    fn end(&mut self) -> Kept {
        let Some(thread) = self.thread.take() else { return Kept::default() };
        // A dead thread has dropped its inbox; there is nothing left to stop.
        let _ = self.commands.send(Command::Stop);
        self.waker.wake();
        thread.join().unwrap_or_default()
    }
}

impl Drop for Emulator {
    fn drop(&mut self) {
        self.end();
    }
}
