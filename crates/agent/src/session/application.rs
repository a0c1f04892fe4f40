//! Starts, signals and stops processes of the application, and of the switch.

use std::fs::{File, OpenOptions};
use std::os::fd::AsFd;
use std::path::{Component, Path};
use std::time::{Duration, Instant};

use serde_json::{json, Value};

use super::switch::SWITCH;
use super::{about, unreachable, Session, Step};
use crate::account::Account;
use crate::channel::{FromInit, StartOrder, ToInit, MESSAGE_BYTES_MAX};
use crate::failure::Failure;
use crate::listening::listening;
use crate::process::{Process, SEARCH_PATH};
use crate::protocol::{Root, Start};

/// How often `stop` checks whether a group still exists: another process may reap its members without notice.
const GROUP_CHECK: Duration = Duration::from_millis(20);
/// How long the kernel may take to end a killed process; only a process blocked in a device takes longer.
const KILL_TIME: Duration = Duration::from_secs(5);

impl Session {
    pub(super) fn start(&mut self, start: Start) -> Result<Value, Failure> {
        let what = format!("start {} in {}", start.name, start.node);
        let node = self.node(&start.node).map_err(|failure| about(&what, failure))?;
        if !start.cwd.is_absolute() {
            return Err(Failure::invalid(format!(
                "{what}: cwd {:?} is relative; write it from /",
                start.cwd
            )));
        }
        if let Some(root) = &start.root {
            check_root(root).map_err(|failure| about(&what, failure))?;
        }
        let account = if start.node == SWITCH {
            if start.account.is_some() {
                return Err(Failure::invalid(format!(
                    "{what}: account: programs of the switch keep the agent's; leave it out"
                )));
            }
            None
        } else {
            Some(self.account(start.account).map_err(|failure| about(&what, failure))?)
        };
        let stdout = open(&start.stdout).map_err(|failure| about(&what, failure))?;
        let stderr = open(&start.stderr).map_err(|failure| about(&what, failure))?;
        let process = self.processes.add(node);
        let order = ToInit::Start(StartOrder {
            process,
            env: environment(&start),
            name: start.name,
            argv: start.argv,
            cwd: start.cwd,
            root: start.root,
            account,
            keep: start.keep,
        });
        let answer =
            self.order_start(node, &order, [stdout, stderr]).map_err(|failure| about(&what, failure));
        if answer.is_err() {
            self.processes.remove(process);
        }
        answer?;
        Ok(json!({"process": process, "pid": self.processes.get(process)?.pid}))
    }

    /// The position of a node.
    pub(super) fn node(&self, name: &str) -> Result<usize, Failure> {
        self.nodes.iter().position(|node| node.name == name).ok_or_else(|| {
            let known: Vec<_> = self.nodes.iter().map(|node| node.name.as_str()).collect();
            let known = if known.is_empty() {
                "no fabric is up; request `up` first".to_owned()
            } else {
                format!("nodes are {}", known.join(", "))
            };
            Failure::invalid(format!("no such node; {known}"))
        })
    }

    pub(super) fn listening(&self, name: &str) -> Result<Value, Failure> {
        let what = format!("listening in {name}");
        let node = self.node(name).map_err(|failure| about(&what, failure))?;
        let sockets = listening(self.nodes[node].init)
            .map_err(|error| Failure::internal(format!("{what}: {error}; is /proc mounted?")))?;
        Ok(json!({ "sockets": sockets }))
    }

    /// The requested account, if this agent can become it and it is not root.
    fn account(&self, requested: Option<Account>) -> Result<Account, Failure> {
        match requested {
            None => Ok(self.application),
            Some(account) if account.uid == 0 || account.gid == 0 => {
                Err(Failure::invalid("account: applications never run as root; name another user and group"))
            }
            Some(account) if self.rootless && account != self.application => {
                Err(Failure::preflight(format!(
                    "account: user {} is not available without root; run as root, or leave account out",
                    account.uid
                )))
            }
            Some(account) => Ok(account),
        }
    }

    fn order_start(&mut self, node: usize, order: &ToInit, files: [File; 2]) -> Result<(), Failure> {
        self.nodes[node].send(order, &[files[0].as_fd(), files[1].as_fd()]).map_err(|error| {
            match error.kind() {
                std::io::ErrorKind::InvalidInput => Failure::invalid(format!(
                    "argv and env take more than {MESSAGE_BYTES_MAX} bytes; pass a file"
                )),
                _ => unreachable(&self.nodes[node].name),
            }
        })?;
        self.await_done(node)
    }

    /// Waits until a node has carried out its order.
    pub(super) fn await_done(&mut self, node: usize) -> Result<(), Failure> {
        loop {
            match self.wait(None)? {
                Step::Answer(from, FromInit::Done) if from == node => return Ok(()),
                Step::Answer(from, FromInit::Refused(failure)) if from == node => return Err(failure),
                _ if self.nodes[node].lost => return Err(unreachable(&self.nodes[node].name)),
                _ => {}
            }
        }
    }

    pub(super) fn signal(&mut self, number: u64, signal: i32) -> Result<Value, Failure> {
        if !(1..=libc::SIGRTMAX()).contains(&signal) {
            return Err(Failure::invalid(format!(
                "signal {signal}: outside 1 to {}; `kill -l` lists them",
                libc::SIGRTMAX()
            )));
        }
        let process = self.processes.get(number)?;
        if !process.group_ended {
            self.pass_signal(number, process.node, signal)?;
        }
        Ok(json!({}))
    }

    /// Ends a process and its group: SIGTERM, then SIGKILL after the grace time, or at once when the session is
    /// ending.
    pub(super) fn stop(&mut self, number: u64, grace: Duration) -> Result<Value, Failure> {
        let node = self.processes.get(number)?.node;
        if !self.has_ended(number)? {
            self.pass_signal(number, node, libc::SIGTERM)?;
            if !self.wait_for_end(number, node, grace, Session::ending)? {
                self.pass_signal(number, node, libc::SIGKILL)?;
                self.wait_for_end(number, node, KILL_TIME, |_| false)?;
            }
        }
        let exit = self.processes.get(number)?.exit.ok_or_else(|| {
            Failure::internal(format!(
                "process {number}: did not end within {} s of SIGKILL; a device blocks it; request `down`",
                KILL_TIME.as_secs()
            ))
        })?;
        Ok(json!({"code": exit.code, "signal": exit.signal}))
    }

    /// Waits until the whole group has ended; `false` when `patience` or the reason to wait ended first.
    fn wait_for_end(
        &mut self,
        number: u64,
        node: usize,
        patience: Duration,
        hurry: fn(&Session) -> bool,
    ) -> Result<bool, Failure> {
        let deadline = Instant::now().checked_add(patience);
        let mut next_check = Instant::now() + GROUP_CHECK;
        while !self.has_ended(number)? {
            let now = Instant::now();
            if deadline.is_some_and(|deadline| now >= deadline) || hurry(self) {
                return Ok(false);
            }
            if now >= next_check {
                self.pass_signal(number, node, 0)?;
                next_check = now + GROUP_CHECK;
            }
            self.wait(Some(deadline.map_or(next_check, |deadline| deadline.min(next_check))))?;
        }
        Ok(true)
    }

    fn has_ended(&self, number: u64) -> Result<bool, Failure> {
        let Process { exit, group_ended, .. } = self.processes.get(number)?;
        Ok(exit.is_some() && *group_ended)
    }

    /// When a node has ended, so have its processes; there is nothing to signal.
    fn pass_signal(&self, process: u64, node: usize, signal: i32) -> Result<(), Failure> {
        let node = &self.nodes[node];
        if node.lost {
            return Ok(());
        }
        node.send(&ToInit::Signal { process, signal }, &[]).map_err(|_| unreachable(&node.name))
    }
}

/// Accepts only plain absolute paths, so that a path means what it shows.
fn check_root(root: &Root) -> Result<(), Failure> {
    for path in root.binds.iter().flat_map(|bind| [&bind.from, &bind.to]).chain([&root.folder]) {
        if !path.is_absolute() || path.components().any(|part| part == Component::ParentDir) {
            return Err(Failure::invalid(format!(
                "root: {path:?} is relative or has \"..\" in it; write it from /"
            )));
        }
    }
    match root.binds.iter().find(|bind| !bind.to.starts_with(&root.folder)) {
        Some(outside) => Err(Failure::invalid(format!(
            "root: {:?} is not in {:?}; binds are visible in the root only",
            outside.to, root.folder
        ))),
        None => Ok(()),
    }
}

fn open(path: &Path) -> Result<File, Failure> {
    OpenOptions::new().append(true).create(true).open(path).map_err(|error| {
        Failure::invalid(format!(
            "open {} to append output: {error}; make its folder, writable for the agent's user",
            path.display()
        ))
    })
}

/// A minimal environment, the same wherever the agent was started, plus the given variables.
fn environment(start: &Start) -> Vec<(String, String)> {
    let home = start.cwd.to_string_lossy().into_owned();
    let minimal = [("PATH", SEARCH_PATH.to_owned()), ("HOME", home), ("LANG", "C.UTF-8".to_owned())];
    let mut environment: std::collections::BTreeMap<_, _> =
        minimal.map(|(name, value)| (name.to_owned(), value)).into();
    environment.extend(start.env.clone());
    environment.into_iter().collect()
}
