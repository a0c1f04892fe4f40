//! The packet threads of an emulator: one for each domain of the fabric.

use std::sync::mpsc::{channel, Receiver, Sender, TryRecvError};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::{sleep, JoinHandle};
use std::time::Duration;

use crate::commands::{Command, Commands};
use crate::machine::ThisMachine;
use crate::pace::Paced;
use crate::port::{close_all, Veth};
use crate::thread;
use crate::watch::{self, Watch};
use crate::worker::Worker;
use crate::Kept;

/// The pause between two checks for an answer. If the packet thread had to wake the requesting thread, that would cost
/// it 9 us (median, live).
const LOOK_AGAIN: Duration = Duration::from_micros(20);

/// Called once with the reason why a thread has died.
pub type Fault = Box<dyn Fn(String) + Send>;

#[derive(Debug)]
struct PacketThread {
    commands: Commands,
    handle: Option<JoinHandle<Kept>>,
}

/// All packet threads, by domain.
#[derive(Debug)]
pub struct Threads(Vec<PacketThread>);

impl Threads {
    /// Starts a thread for each worker. They begin at this instant and receive commands from `commands`.
    pub fn start(
        workers: Vec<(Worker<Veth, Paced<ThisMachine>>, Commands)>,
        at_ns: u64,
        fault: Fault,
    ) -> Result<Self, String> {
        let fault = Arc::new(Mutex::new(Some(fault)));
        // If one cannot be started, those before it end when they are dropped.
        let mut threads = Self(Vec::with_capacity(workers.len()));
        for (worker, commands) in workers {
            let fault = Arc::clone(&fault);
            let dies = move |why: String| {
                let first = fault.lock().unwrap_or_else(PoisonError::into_inner).take();
                first.iter().for_each(|fault| fault(why.clone()));
            };
            let handle = std::thread::Builder::new()
                .name("emulator".into())
                .spawn(move || {
                    let run = std::panic::AssertUnwindSafe(|| run(worker, at_ns));
                    match std::panic::catch_unwind(run) {
                        Ok((Ok(()), kept)) => kept,
                        Ok((Err(error), kept)) => {
                            dies(format!("emulator: {error}"));
                            kept
                        }
                        Err(_) => {
                            dies("emulator: internal error, see the agent's standard error".to_owned());
                            Kept::default()
                        }
                    }
                })
                .map_err(|error| thread::refused("emulator thread", &error))?;
            threads.0.push(PacketThread { commands, handle: Some(handle) });
        }
        Ok(threads)
    }

    /// Number of threads.
    pub fn count(&self) -> usize {
        self.0.len()
    }

    /// Sends every thread its command and returns their answers.
    pub fn ask<T>(&self, mut command: impl FnMut(Sender<T>) -> Command) -> Result<Vec<T>, String> {
        let mut answers = Vec::with_capacity(self.count());
        for thread in &self.0 {
            let (reply, answer) = channel();
            if !thread.commands.send(command(reply)) {
                return Err(dead());
            }
            answers.push(answer);
        }
        answers.iter().map(|answer| poll(answer).ok_or_else(dead)).collect()
    }

    /// Has every thread report the steps of its series; returns where, by domain.
    pub fn watch(&self) -> Result<Vec<Watch>, String> {
        let begin = |(domain, thread): (usize, &PacketThread)| {
            let (watched, watch) = watch::watch(domain);
            let sent = thread.commands.send(Command::Watch(Box::new(watched)));
            sent.then_some(watch).ok_or_else(dead)
        };
        self.0.iter().enumerate().map(begin).collect()
    }

    /// Ends all threads and closes the ports; returns the final state of the files.
    pub fn end(&mut self) -> Kept {
        for thread in &self.0 {
            // A dead thread has dropped its inbox; there is nothing to stop.
            thread.commands.send(Command::Stop);
        }
        let mut kept = Kept::default();
        for handle in self.0.iter_mut().filter_map(|thread| thread.handle.take()) {
            // Only one thread writes files.
            let Kept { recording, capture, tunnel } = handle.join().unwrap_or_default();
            kept = Kept {
                recording: kept.recording.or(recording),
                capture: kept.capture.or(capture),
                tunnel: kept.tunnel.or(tunnel),
            };
        }
        kept
    }
}

impl Drop for Threads {
    fn drop(&mut self) {
        self.end();
    }
}

fn dead() -> String {
    "the emulator has died".to_owned()
}

/// Polls for an answer, so that the packet thread need not wake this one; `None` if the thread has died.
fn poll<T>(answer: &Receiver<T>) -> Option<T> {
    loop {
        match answer.try_recv() {
            Ok(answer) => return Some(answer),
            Err(TryRecvError::Empty) => sleep(LOOK_AGAIN),
            Err(TryRecvError::Disconnected) => return None,
        }
    }
}

/// Forwards until it is stopped, then closes the files and the ports.
fn run(mut worker: Worker<Veth, Paced<ThisMachine>>, at_ns: u64) -> (Result<(), String>, Kept) {
    let outcome = worker.run(at_ns);
    let (ports, kept) = worker.finish();
    close_all(ports);
    (outcome, kept)
}
