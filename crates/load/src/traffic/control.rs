//! The protocol between a `traffic` and the nodes' `traffic-serve`: JSON lines over a Unix socket, one connection for each run.
//!
//! `listening` (node) · `prepare` · `prepared` · `connect` · `connected` · `start` · `done`, followed by the number of
//! sample rows that it announces. A node answers `failed` where it cannot go on; either end's closing calls the run off.

use std::io::{self, BufRead, Write};

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::meter::{Counted, Window};
use super::size::Size;
use crate::arrivals::ArrivalProcess;
use crate::plan::{Pace, Plan, Quota, RATE_MAX_PER_S, SECONDS_MAX};

/// An order to a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "do", rename_all = "kebab-case")]
pub enum Order {
    /// Its part of the run; from now on it accepts the connections that belong to it.
    Prepare(Task),
    /// To make its own connections.
    Connect,
    /// When all begin, CLOCK_MONOTONIC.
    Start { at_ns: u64 },
}

/// A report from a node.
#[derive(Debug, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub enum Report {
    /// Where it accepts data connections; sent first, without an order.
    Listening {
        address: String,
    },
    Prepared,
    Connected,
    Failed {
        message: String,
    },
    Done(Done),
}

/// One node's part of a run.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    /// Distinguishes this run's connections from those of another.
    pub run: u64,
    pub load: Load,
    /// Of all nodes together; they are numbered from 0.
    pub connections: usize,
    /// Number of the first of `outgoing`; the others follow.
    pub first: usize,
    pub outgoing: Vec<Outgoing>,
    pub incoming: Vec<Incoming>,
}

/// A connection that a node makes.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Outgoing {
    /// ADDRESS:PORT.
    pub to: String,
    pub congestion_control: Option<String>,
}

/// A connection that a node accepts.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Incoming {
    pub number: usize,
    pub congestion_control: Option<String>,
}

/// What goes over every connection, and for how long.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Load {
    pub exchange: Exchange,
    pub warm_up_ns: u64,
    /// Of the measured phase; absent where `count` ends it.
    pub duration_ns: Option<u64>,
    /// Messages of each connection.
    pub count: Option<u64>,
    /// Messages per second of all connections (open loop).
    pub rate_per_s: Option<f64>,
    /// First step of the series.
    pub part_ns: u64,
    /// How often each end of a stream prints its progress; never where absent.
    pub progress_ns: Option<u64>,
    pub seed: u64,
}

/// What goes over a connection.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Exchange {
    /// Bytes without end, in writes of this size.
    Stream { write_bytes: usize },
    /// Messages, the next when the one before it is answered, or when it is due.
    Messages { size: Size, answer: Answer },
}

/// The length of answers.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Answer {
    /// As short as can be: that the message has arrived.
    Receipt,
    /// As long as the message.
    Same,
    /// Drawn from a distribution of its own.
    Drawn(Size),
}

impl Task {
    /// Refuses what no `traffic` sends and what cannot be carried out, with the reason.
    pub fn check(&self) -> Result<(), String> {
        let numbers_end = self.first.checked_add(self.outgoing.len());
        if numbers_end.is_none_or(|end| end > self.connections)
            || self.incoming.iter().any(|incoming| incoming.number >= self.connections)
        {
            return Err(format!("a task with numbers beyond its {} connections", self.connections));
        }
        self.load.check()
    }
}

impl Load {
    fn check(&self) -> Result<(), String> {
        let longest_ns = (SECONDS_MAX * 1e9) as u64;
        let optional_ns = [self.duration_ns, self.progress_ns].map(Option::unwrap_or_default);
        let times_ns = [self.warm_up_ns, self.part_ns, optional_ns[0], optional_ns[1]];
        if times_ns.iter().any(|time_ns| *time_ns > longest_ns) {
            return Err(format!("a load with a time above {SECONDS_MAX} seconds"));
        }
        if self.part_ns == 0 || self.progress_ns == Some(0) {
            return Err("a load whose series or progress has parts of 0 ns".into());
        }
        if self.rate_per_s.is_some_and(|rate_per_s| !(rate_per_s > 0.0 && rate_per_s <= RATE_MAX_PER_S)) {
            return Err(format!("a load whose rate is not above 0 and at most {RATE_MAX_PER_S} per second"));
        }
        match self.exchange {
            Exchange::Stream { write_bytes } if write_bytes == 0 || u32::try_from(write_bytes).is_err() => {
                Err(format!("a load with writes of {write_bytes} bytes"))
            }
            _ => Ok(()),
        }
    }

    /// The measured window of a run that begins at this instant.
    pub fn window(&self, start_ns: u64) -> Window {
        let from_ns = start_ns.saturating_add(self.warm_up_ns);
        let to_ns = self.duration_ns.map(|duration_ns| from_ns.saturating_add(duration_ns));
        Window { start_ns, from_ns, to_ns }
    }

    /// When messages are due and which of them count.
    pub fn plan(&self, connections: usize) -> Plan {
        Plan {
            connections,
            pace: self
                .rate_per_s
                .map_or(Pace::Closed, |rate_per_s| Pace::Open { rate_per_s, process: ArrivalProcess::Even }),
            warm_up_ns: self.warm_up_ns,
            duration_ns: self.duration_ns,
            operations: self.count.map(Quota::Each),
            connects_again: false,
        }
    }
}

/// What a node has sent and received.
#[derive(Debug, Serialize, Deserialize)]
pub struct Done {
    pub sent: Vec<Sent>,
    pub received: Vec<Received>,
    /// Measured messages, failed ones included.
    pub operations: u64,
    pub errors: u64,
    pub first_error: Option<String>,
    /// Messages of an open loop that were due and never started.
    pub not_started: u64,
    /// Rows of samples that follow.
    pub rows: usize,
}

/// The sending end of a connection.
#[derive(Debug, Serialize, Deserialize)]
pub struct Sent {
    pub number: usize,
    pub local: String,
    pub remote: String,
    /// Answers, where messages are exchanged.
    pub answers: Option<Counted>,
    /// When the last measured message was answered.
    pub finished_ns: Option<u64>,
    /// Of the thread, in the measured window.
    pub cpu_ns: u64,
    /// Segments sent again, of the connection's whole life; null where the kernel did not report it.
    pub retransmits: Option<u32>,
    /// The smoothed round-trip time, averaged over the measured window; likewise.
    pub rtt_us: Option<u32>,
    /// Why it ended too early, if it did.
    pub lost: Option<String>,
}

/// The receiving end of a connection.
#[derive(Debug, Serialize, Deserialize)]
pub struct Received {
    pub number: usize,
    pub counted: Counted,
    /// Of the thread, in the measured window.
    pub cpu_ns: u64,
    pub lost: Option<String>,
}

/// Writes one message.
pub fn say(to: &mut impl Write, what: &impl Serialize) -> io::Result<()> {
    let mut line = serde_json::to_vec(what)?;
    line.push(b'\n');
    to.write_all(&line)
}

/// Reads one message; `None` when the other end has closed.
pub fn hear<T: DeserializeOwned>(from: &mut impl BufRead) -> io::Result<Option<T>> {
    let mut line = String::new();
    if from.read_line(&mut line)? == 0 {
        return Ok(None);
    }
    Ok(Some(serde_json::from_str(&line)?))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;
    use std::os::unix::net::UnixStream;

    #[test]
    fn what_one_end_says_the_other_hears() {
        let (mut here, there) = UnixStream::pair().unwrap();
        let mut there = BufReader::new(there);
        let task = Task {
            run: 1,
            load: Load {
                exchange: Exchange::Messages {
                    size: "pareto:1000:1.5".parse().unwrap(),
                    answer: Answer::Receipt,
                },
                warm_up_ns: 0,
                duration_ns: None,
                count: Some(3),
                rate_per_s: None,
                part_ns: 1,
                progress_ns: None,
                seed: 7,
            },
            connections: 2,
            first: 1,
            outgoing: vec![Outgoing { to: "10.77.0.1:7078".into(), congestion_control: None }],
            incoming: vec![Incoming { number: 0, congestion_control: Some("reno".into()) }],
        };
        say(&mut here, &Order::Prepare(task.clone())).unwrap();
        say(&mut here, &Order::Start { at_ns: 5 }).unwrap();
        drop(here);
        let Some(Order::Prepare(heard)) = hear(&mut there).unwrap() else { panic!("prepare comes first") };
        assert_eq!(format!("{heard:?}"), format!("{task:?}"));
        assert!(matches!(hear(&mut there).unwrap(), Some(Order::Start { at_ns: 5 })));
        assert!(hear::<Order>(&mut there).unwrap().is_none());
    }
}
