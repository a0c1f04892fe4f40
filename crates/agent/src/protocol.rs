//! The agent's protocol: one JSON object per line (docs/reference/contracts.md, section 2).
//!
//! A line that is not a request is answered with an `invalid` error and changes nothing. Unknown keys are errors: a
//! request that is only partly understood would be only partly honoured.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{self, Write};
use std::net::IpAddr;
use std::os::fd::AsFd;
use std::path::PathBuf;
use std::time::Duration;

use crosswind_dilation::{Anchor, Wrong};
use crosswind_emulator::StepReport;
use crosswind_fabric::{Condition, Fabric, NodeCut};
use crosswind_tunnel::{Address, Network};
use nix::poll::{poll, PollFd, PollFlags, PollTimeout};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::{json, Value};

use crate::account::Account;
use crate::cgroup::Limits;
use crate::failure::Failure;
use crate::folder::Owner;
use crate::init::Keep;
use crate::overlay::Overlay;
use crate::session::Put;

/// Number of this protocol; a change that an older caller cannot follow increments it.
pub const PROTOCOL: u32 = 1;

/// The requests.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(tag = "do", rename_all = "lowercase", deny_unknown_fields)]
pub enum Action {
    Hello {},
    /// Open the socket to other machines.
    Bind(Binding),
    Join(Join),
    /// Exchange datagrams with the other machines for a while, without a fabric.
    Meet {
        for_ns: u64,
    },
    Up {
        fabric: Box<Fabric>,
        /// How many fabrics the run has brought up, with this one; after `join`, when machines share them.
        #[serde(default)]
        generation: Option<u32>,
        /// Absolute path of a new file for a recording.
        #[serde(default)]
        record: Option<PathBuf>,
        #[serde(default)]
        capture: Option<Capture>,
        /// Limits by node.
        #[serde(default)]
        limits: BTreeMap<String, Limits>,
        /// No emulator carries the packets: programs do that the caller starts in the switch.
        #[serde(default)]
        switch: bool,
        /// Nodes have a network on top of the fabric.
        #[serde(default)]
        overlay: Option<Overlay>,
        /// The clock of every program in the nodes is slower.
        #[serde(default)]
        dilation: Option<Dilation>,
        /// Nodes may get clocks of their own (`clock`): whether this machine can is found out now.
        #[serde(default)]
        clocks: bool,
    },
    Start(Start),
    Stop {
        process: u64,
        grace_ns: u64,
    },
    Signal {
        process: u64,
        signal: i32,
    },
    Set {
        condition: Box<Condition>,
        /// When, on CLOCK_MONOTONIC; now when absent.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    /// Cut nodes off by hand, and end all earlier cuts by hand.
    Cut {
        cuts: Vec<NodeCut>,
        /// When, on CLOCK_MONOTONIC; now when absent.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    Measure {
        /// When, on CLOCK_MONOTONIC; now when absent.
        #[serde(default)]
        at_ns: Option<u64>,
    },
    /// Stop every process of nodes.
    Pause(Struck),
    /// Let every process of nodes go on.
    Resume(Struck),
    /// Kill every process of nodes.
    Kill(Struck),
    /// Change the limits of nodes.
    Limit(Limit),
    /// Give a node a disk of its own at a folder, with a copy of what is there; before it has a process.
    Mount {
        node: String,
        folder: PathBuf,
    },
    /// Find out whether nodes can have disks that become full, and slow with `rate`.
    Disks {
        #[serde(default)]
        rate: bool,
    },
    /// Make disks of nodes full or slow.
    Disk(DiskChange),
    /// Change the clocks of programs that nodes start from now on.
    Clock(ClockChange),
    /// The clocks of other machines.
    Clocks {},
    /// The sockets of a node that listen.
    Listening {
        node: String,
    },
    /// This machine's wall clock.
    Wall {},
    Read {},
    /// Write a `step` event ten times a second from now on.
    Watch {},
    Lease {
        seconds: u64,
    },
    Down {},
    /// Make the folder of the run on this machine, or open it where it is there.
    Folder {
        path: PathBuf,
        /// It stays when the agent ends.
        #[serde(default)]
        keep: bool,
    },
    /// Make a folder in it.
    Make {
        path: PathBuf,
        #[serde(rename = "for")]
        owner: Owner,
        /// Permissions; others may enter it when absent.
        #[serde(default)]
        mode: Option<u32>,
    },
    /// Remove what stands directly in it, or a stored file.
    Clear {
        path: PathBuf,
    },
    /// Copy a stored file.
    Copy {
        path: PathBuf,
        from: PathBuf,
        #[serde(rename = "for")]
        owner: Owner,
        /// Permissions.
        mode: u32,
    },
    Put(Put),
    /// Read a piece of a file.
    Get {
        path: PathBuf,
        offset: u64,
        length: usize,
    },
    /// The checksum of a file.
    Checksum {
        path: PathBuf,
    },
}

/// Nodes whose processes get a signal, and when.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Struck {
    /// Names of nodes; at least one.
    pub nodes: Vec<String>,
    /// When, on CLOCK_MONOTONIC; now when absent.
    #[serde(default)]
    pub at_ns: Option<u64>,
}

/// Other limits of nodes that came up with `changing`.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limit {
    /// Names of nodes; at least one.
    pub nodes: Vec<String>,
    /// When, on CLOCK_MONOTONIC; now when absent.
    #[serde(default)]
    pub at_ns: Option<u64>,
    /// Those that the nodes came up with when absent.
    #[serde(default)]
    pub limits: Option<Limits>,
}

/// What is left of the disks of nodes.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskChange {
    /// Names of nodes with a disk; at least one.
    pub nodes: Vec<String>,
    /// When, on CLOCK_MONOTONIC; now when absent.
    #[serde(default)]
    pub at_ns: Option<u64>,
    /// Whole again when absent.
    #[serde(default)]
    pub disk: DiskState,
}

/// A disk that is full or slow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskState {
    /// What is left free at that moment; everything when absent.
    #[serde(default)]
    pub free_bytes: Option<u64>,
    /// Bytes per perceived second that the node reads, and that it writes; unlimited when absent.
    #[serde(default)]
    pub bytes_per_s: Option<u64>,
}

/// A wrong clock for nodes.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockChange {
    /// Names of nodes; at least one.
    pub nodes: Vec<String>,
    /// The instant at which it is off by its offset, on CLOCK_MONOTONIC; now when absent.
    #[serde(default)]
    pub at_ns: Option<u64>,
    /// Right when absent.
    #[serde(default)]
    pub clock: Option<Wrong>,
}

/// A pcapng file to write.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Capture {
    /// Absolute path of a new file.
    pub to: PathBuf,
    /// Bytes stored of each frame, at least its Ethernet header.
    pub snap_bytes: u32,
    /// Largest size of the file.
    pub limit_bytes: u64,
}

/// How much slower the clock of programs is, and since when.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Dilation {
    /// 1 to 1000; 1 changes nothing.
    pub factor: u64,
    /// When perceived time is real time; the moment of the request when absent.
    #[serde(default)]
    pub anchor: Option<Anchor>,
}

/// What carries packets to other machines, and where theirs arrive.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Binding {
    /// Of this machine.
    pub address: IpAddr,
    /// Of UDP; one that is free when absent.
    #[serde(default)]
    pub port: Option<u16>,
    /// UDP when absent.
    #[serde(default)]
    pub network: Network,
    /// Of raw Ethernet; the one that has the address when absent.
    #[serde(default)]
    pub interface: Option<String>,
}

/// The other machines that carry the fabrics of a run.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Join {
    /// The domain of this machine.
    pub domain: u16,
    /// Number of the run.
    pub run: u64,
    /// 32 bytes in hexadecimal; every machine of the run has the same.
    pub key: String,
    pub peers: Vec<PeerAddress>,
}

/// Where another machine's socket is.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PeerAddress {
    pub domain: u16,
    pub address: Address,
}

/// A process to run in a node.
#[derive(Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Start {
    /// Name of the node.
    pub node: String,
    /// The name of the process in messages.
    pub name: String,
    /// Program and arguments; at least the program.
    pub argv: Vec<String>,
    /// Added to a minimal environment.
    #[serde(default)]
    pub env: BTreeMap<String, String>,
    /// Absolute path in the process's root.
    pub cwd: PathBuf,
    #[serde(default)]
    pub root: Option<Root>,
    /// The user and group that it runs as, instead of the account for applications.
    #[serde(default)]
    pub account: Option<Account>,
    /// Output is appended; the file is created if necessary.
    pub stdout: PathBuf,
    /// Output is appended; the file is created if necessary.
    pub stderr: PathBuf,
    /// How much of each of these files is stored, instead of everything.
    #[serde(default)]
    pub keep: Option<Keep>,
}

/// A root file system for a process, instead of the host's.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Root {
    /// Absolute path.
    pub folder: PathBuf,
    /// What else is visible in it.
    #[serde(default)]
    pub binds: Vec<Bind>,
    /// The host name that the process sees; the node's when absent.
    #[serde(default)]
    pub hostname: Option<String>,
}

/// A file or folder that is also visible at another path.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Bind {
    /// Absolute path in the node.
    pub from: PathBuf,
    /// Absolute path in the node: in `folder`, where a file or folder must exist already.
    pub to: PathBuf,
    #[serde(default)]
    pub read_only: bool,
}

/// Reads one line as one of the requests `A`. On failure the result still has the id, if one could be read.
pub fn parse<A: DeserializeOwned>(line: &[u8]) -> (Option<u64>, Result<A, Failure>) {
    let mut object: serde_json::Map<String, Value> = match serde_json::from_slice(line) {
        Ok(object) => object,
        Err(error) => {
            return (None, Err(Failure::invalid(format!("request: {error}; write one JSON object per line"))))
        }
    };
    let Some(id) = object.remove("id").as_ref().and_then(Value::as_u64) else {
        return (
            None,
            Err(Failure::invalid(
                "request: \"id\" is missing or not a whole number from 0; number the requests",
            )),
        );
    };
    let name = object.get("do").and_then(Value::as_str).unwrap_or("request").to_owned();
    let action = serde_json::from_value(Value::Object(object)).map_err(|error| {
        Failure::invalid(format!("{name}: {error}; docs/reference/contracts.md section 2 lists the requests"))
    });
    (Some(id), action)
}

/// The only output: replies and events, each a whole line.
pub struct Writer {
    out: File,
    /// How long a caller may leave a full pipe unread; `None` means without limit.
    pub patience: Option<Duration>,
}

impl Writer {
    pub fn new(out: File) -> Self {
        Self { out, patience: None }
    }

    pub fn reply(&mut self, id: Option<u64>, outcome: &Result<Value, Failure>) -> io::Result<()> {
        match outcome {
            Ok(ok) => self.line(&json!({"id": id, "ok": ok})),
            Err(error) => self.line(&json!({"id": id, "error": error})),
        }
    }

    pub fn exited(&mut self, process: u64, code: Option<i32>, signal: Option<i32>) -> io::Result<()> {
        self.line(&json!({"event": "exited", "process": process, "code": code, "signal": signal}))
    }

    pub fn fault(&mut self, message: &str) -> io::Result<()> {
        self.line(&json!({"event": "fault", "message": message}))
    }

    /// A report of a step. It is left out while the caller's pipe is full: the next request must not wait for a
    /// reader of reports.
    pub fn step(&mut self, report: &StepReport) -> io::Result<()> {
        let mut writable = [PollFd::new(self.out.as_fd(), PollFlags::POLLOUT)];
        if poll(&mut writable, PollTimeout::ZERO)? == 0 {
            return Ok(());
        }
        let mut event = serde_json::to_value(report).map_err(io::Error::other)?;
        event["event"] = json!("step");
        self.line(&event)
    }

    /// Writes piece by piece. Each piece is at most what a pipe that polls writable takes without blocking, so a
    /// caller that hangs cannot block the agent beyond its lease.
    fn line(&mut self, value: &Value) -> io::Result<()> {
        let mut line = value.to_string();
        line.push('\n');
        for piece in line.as_bytes().chunks(libc::PIPE_BUF) {
            let timeout = match self.patience {
                None => PollTimeout::NONE,
                Some(patience) => PollTimeout::try_from(patience).unwrap_or(PollTimeout::MAX),
            };
            let mut writable = [PollFd::new(self.out.as_fd(), PollFlags::POLLOUT)];
            if poll(&mut writable, timeout)? == 0 {
                return Err(io::Error::new(
                    io::ErrorKind::TimedOut,
                    "the caller left its pipe full for the length of its lease",
                ));
            }
            self.out.write_all(piece)?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn message(line: &str) -> String {
        parse::<Action>(line.as_bytes()).1.expect_err("must be refused").message
    }

    #[test]
    fn requests_are_read() {
        assert_eq!(parse(br#"{"id": 4, "do": "hello"}"#), (Some(4), Ok(Action::Hello {})));
        assert_eq!(
            parse(br#"{"do": "stop", "process": 3, "grace_ns": 5, "id": 0}"#),
            (Some(0), Ok(Action::Stop { process: 3, grace_ns: 5 }))
        );
    }

    #[test]
    fn a_cut_names_nodes_on_both_sides_and_what_their_senders_learn() {
        let line = br#"{"id": 1, "do": "cut", "cuts": [{"from": ["a"], "to": ["b", "c"], "answer": "reset"}], "at_ns": 5}"#;
        let (_, action) = parse::<Action>(line);
        let Ok(Action::Cut { cuts, at_ns: Some(5) }) = action else { panic!("{action:?}") };
        assert_eq!(
            (cuts[0].from.len(), cuts[0].to.len(), cuts[0].answer),
            (1, 2, crosswind_fabric::Answer::Reset)
        );
        assert!(message(r#"{"id": 1, "do": "cut"}"#).contains("cuts"));
        assert!(message(r#"{"id": 1, "do": "cut", "cuts": [{"from": ["a"]}]}"#).contains("to"));
        assert!(message(r#"{"id": 1, "do": "cut", "cuts": [{"from": ["a"], "to": ["b"], "answer": "no"}]}"#)
            .contains("no"));
    }

    #[test]
    fn unknown_keys_and_requests_are_errors_that_name_them() {
        assert!(message(r#"{"id": 1, "do": "hello", "verbose": true}"#).contains("verbose"));
        assert!(message(r#"{"id": 1, "do": "dance"}"#).contains("dance"));
        assert!(message(r#"{"id": 1}"#).contains("do"));
        assert!(message(r#"{"id": 1, "do": "lease", "seconds": -1}"#).contains("-1"));
        let start = r#"{"id": 1, "do": "start", "node": "a", "name": "n", "argv": ["x"], "cwd": "/", "stdout": "/o",
                        "stderr": "/e", "nice": 5}"#;
        assert!(message(start).contains("nice"));
    }

    #[test]
    fn a_request_without_a_number_is_answered_without_one() {
        for line in ["", "[]", "7", "{\"do\": \"hello\"}", "{\"id\": -1, \"do\": \"hello\"}", "{\"id\": 1.5}"]
        {
            assert_eq!(parse::<Action>(line.as_bytes()).0, None, "{line}");
        }
    }

    #[test]
    fn no_damage_to_any_request_can_end_the_reader() {
        crosswind_fuzz::corpus::run("protocol", 1_000, |line| drop(parse::<Action>(line)));
    }

    proptest! {
        #[test]
        fn no_bytes_can_end_the_reader(line: Vec<u8>) {
            let _ = parse::<Action>(&line);
        }

        #[test]
        fn no_damage_to_a_request_can_end_the_reader(at in 0usize..600, byte: u8) {
            let mut line = br#"{"id": 1, "do": "up", "fabric": {"seed": 7, "hosts": ["h0"], "nodes": [{"name": "a", "host": "h0"}],
                "switches": ["switch"],
                "links": [{"from": "h0", "to": "switch", "rate_bps": 1000, "delay_ns": 2000, "buffer_bytes": null},
                          {"from": "switch", "to": "h0", "rate_bps": 1000, "delay_ns": 2000, "buffer_bytes": null}], "mtu_bytes": 1500,
                "tcp": {"congestion_control": "cubic", "rto_min_us": 200000}, "merge_window_ns": 0,
                "condition": {"name": "none"}}}"#.to_vec();
            let at = at % line.len();
            line[at] = byte;
            let _ = parse::<Action>(&line);
        }
    }
}
