//! The connections that a node makes, from connecting to what was sent.

use std::collections::HashMap;
use std::sync::mpsc::channel;
use std::sync::Arc;

use super::control::{Answer, Done, Exchange, Sent, Task};
use super::message::{Asker, Left};
use super::progress::{End, Progress};
use super::size::Size;
use super::start::Start;
use super::{hello, stream, tcp};
use crate::clock::{Clock, WallClock};
use crate::driver::{self, Outcome};
use crate::output;
use crate::stop::Stop;
use crate::stream::Stream;
use crate::together::start_together;

/// The counts of a sending node, and the rows of its samples.
pub struct Finished {
    pub done: Done,
    pub rows: Vec<u8>,
}

/// Makes a task's connections, calls `connected`, and sends from the start on.
///
/// # Errors
/// When a connection cannot be made, or the run was called off.
pub fn run(
    task: &Task,
    start: &Arc<Start>,
    stop: &Arc<Stop>,
    connected: impl FnOnce(),
) -> Result<Finished, String> {
    let agree = || {
        connected();
        start.wait().ok_or_else(|| "the run was called off".to_string())
    };
    match task.load.exchange {
        Exchange::Stream { write_bytes } => run_streams(task, write_bytes, stop, agree),
        Exchange::Messages { size, answer } => run_messages(task, (size, answer), start, stop, agree),
    }
}

fn connect(task: &Task, number: usize, stop: &Arc<Stop>) -> Result<Stream, String> {
    let outgoing = &task.outgoing[number - task.first];
    let stream = Stream::connect(&outgoing.to, stop)?;
    if let Some(name) = &outgoing.congestion_control {
        tcp::set_congestion_control(stream.tcp(), name)?;
    }
    hello::say(&mut stream.tcp(), task.run, number)
        .map_err(|error| format!("connection {number} to {}: {error}", outgoing.to))?;
    Ok(stream)
}

fn run_streams(
    task: &Task,
    write_bytes: usize,
    stop: &Arc<Stop>,
    agree: impl FnOnce() -> Result<u64, String>,
) -> Result<Finished, String> {
    let numbers = task.first..task.first + task.outgoing.len();
    let connect = |number| {
        let stream = connect(task, number, stop)?;
        let described = stream.addresses().and_then(|addresses| {
            tcp::forget_when_closed(stream.tcp())?;
            Ok(addresses)
        });
        described
            .map(|addresses| (stream, addresses))
            .map_err(|error| format!("connection {number}: {error}"))
    };
    let (_, sent) =
        start_together(numbers, connect, agree, |number, (stream, (local, remote)), start_ns| {
            WallClock::for_this_thread(stop).sleep_until_ns(start_ns);
            let window = task.load.window(start_ns);
            let progress = Progress::new(number, End::Sender, window, task.load.progress_ns);
            let ended = stream::send(stream.tcp(), write_bytes, window, stop, progress);
            let info = tcp::info(stream.tcp()).ok();
            Sent {
                number,
                local: local.to_string(),
                remote: remote.to_string(),
                answers: None,
                finished_ns: None,
                cpu_ns: ended.cpu_ns,
                retransmits: info.map(|info| info.retransmits),
                rtt_us: ended.rtt_us,
                lost: ended.lost,
            }
        })?;
    let done =
        Done { sent, received: vec![], operations: 0, errors: 0, first_error: None, not_started: 0, rows: 0 };
    Ok(Finished { done, rows: vec![] })
}

fn run_messages(
    task: &Task,
    exchange: (Size, Answer),
    start: &Arc<Start>,
    stop: &Arc<Stop>,
    agree: impl FnOnce() -> Result<u64, String>,
) -> Result<Finished, String> {
    let plan = task.load.plan(task.connections);
    let numbers = task.first..task.first + task.outgoing.len();
    let (left, all_left) = channel();
    let outcome = driver::run_some(
        &plan,
        numbers,
        stop,
        None,
        |number, stop| {
            let stream = connect(task, number, stop)?;
            Ok(Asker::new(number, stream, exchange, &task.load, start, left.clone()))
        },
        agree,
    )?;
    drop(left);
    let left: HashMap<usize, Left> = all_left.iter().collect();
    let mut rows = Vec::new();
    output::write_rows(&mut rows, task.first, &outcome.connections).map_err(|error| error.to_string())?;
    let count = outcome.connections.iter().map(|connection| connection.samples.iter().count()).sum();
    Ok(Finished { done: done(task, outcome, left, count), rows })
}

fn done(task: &Task, outcome: Outcome, mut left: HashMap<usize, Left>, rows: usize) -> Done {
    let mut sent = Vec::new();
    for (number, connection) in (task.first..).zip(&outcome.connections) {
        let left = left.remove(&number);
        let retransmits = left.as_ref().and_then(|left| left.retransmits);
        let rtt_us = left.as_ref().and_then(|left| left.rtt_us);
        let measured = connection.samples.iter().filter(|sample| sample.measured && sample.ok);
        sent.push(Sent {
            number,
            local: connection.local.to_string(),
            remote: connection.remote.to_string(),
            cpu_ns: left.as_ref().map_or(0, |left| left.cpu_ns),
            answers: left.map(|left| left.answers),
            finished_ns: measured.map(|sample| sample.finished_ns).max(),
            retransmits,
            rtt_us,
            lost: connection.lost.then(|| "an answer never came, or came wrong".into()),
        });
    }
    Done {
        sent,
        received: vec![],
        operations: outcome.operations,
        errors: outcome.errors,
        first_error: outcome.first_error,
        not_started: outcome.not_started,
        rows,
    }
}
