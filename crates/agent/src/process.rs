//! Processes of the application as the agent's caller knows them: by number, from `start` until the fabric ends.

use std::collections::BTreeMap;

use crate::failure::Failure;

/// Where programs are looked up when nothing names a PATH: the same on every machine, unlike the caller's PATH.
pub const SEARCH_PATH: &str = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin";

/// How a process ended; one of the two is set.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Exit {
    pub code: Option<i32>,
    pub signal: Option<i32>,
}

/// A process that was started.
#[derive(Debug)]
pub struct Process {
    /// Position of its node.
    pub node: usize,
    /// Process id that the agent's caller sees.
    pub pid: i32,
    pub exit: Option<Exit>,
    /// Whether the rest of its process group has ended too.
    pub group_ended: bool,
}

/// All processes of the fabric. An agent never uses a number twice.
#[derive(Default)]
pub struct Processes {
    known: BTreeMap<u64, Process>,
    last: u64,
}

impl Processes {
    /// Takes the next number for a process of a node.
    pub fn add(&mut self, node: usize) -> u64 {
        self.last += 1;
        self.known.insert(self.last, Process { node, pid: 0, exit: None, group_ended: false });
        self.last
    }

    pub fn remove(&mut self, number: u64) {
        self.known.remove(&number);
    }

    pub fn get(&self, number: u64) -> Result<&Process, Failure> {
        self.known.get(&number).ok_or_else(|| {
            Failure::invalid(format!(
                "process {number}: not started since the last `up`; `start` replies with the number"
            ))
        })
    }

    pub fn get_mut(&mut self, number: u64) -> Option<&mut Process> {
        self.known.get_mut(&number)
    }

    /// Marks every process of a node as killed, because its init has ended; returns their numbers.
    pub fn node_lost(&mut self, node: usize) -> Vec<u64> {
        let mut taken = Vec::new();
        for (&number, process) in self.known.iter_mut().filter(|(_, process)| process.node == node) {
            process.group_ended = true;
            if process.exit.is_none() {
                process.exit = Some(Exit { code: None, signal: Some(libc::SIGKILL) });
                taken.push(number);
            }
        }
        taken
    }

    pub fn clear(&mut self) {
        self.known.clear();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_never_used_twice() {
        let mut processes = Processes::default();
        assert_eq!(processes.add(0), 1);
        processes.clear();
        assert_eq!(processes.add(0), 2);
        assert!(processes.get(1).is_err());
    }

    #[test]
    fn a_lost_node_takes_only_its_own_running_processes() {
        let mut processes = Processes::default();
        let (ended, running, elsewhere) = (processes.add(0), processes.add(0), processes.add(1));
        processes.get_mut(ended).unwrap().exit = Some(Exit { code: Some(0), signal: None });
        assert_eq!(processes.node_lost(0), vec![running]);
        assert_eq!(processes.get(ended).unwrap().exit.unwrap().code, Some(0));
        assert!(processes.get(elsewhere).unwrap().exit.is_none());
    }
}
