//! Memory and CPU limits of nodes, enforced by the kernel's control groups where this machine allows the agent to make
//! them.
//!
//! A node with limits gets its own group below the agent's group. The file system is version 1 or 2, whichever has the
//! controller. The node's init moves there before it has a child, so every process of the node is under the limit. The
//! agent's group lies below the group in which the agent was started. In version 2 a group with processes cannot have
//! limited children, so there it lies below the nearest ancestor that hands the controllers on. Limits of the user who
//! started the agent therefore still apply. Where no such group can be made, the kernel does not enforce the limit and
//! the caller must compare it with the values of `usage`; `KeptBy::Checks` marks this case.
//!
//! Groups are the only objects with a name on the host that the agent makes. They are removed with the fabric, and by
//! `sweep` when the agent was killed.

mod branch;
mod hierarchy;
mod sweep;

use std::fs;
use std::path::Path;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use branch::{Branch, Leaf};
pub use sweep::main as sweep_main;

use crate::failure::Failure;
use crate::sweeper::Sweeper;

/// What the processes of a node may use in total.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Limits {
    /// Memory, including page cache where the kernel counts it; at least [`MEMORY_BYTES_MIN`].
    #[serde(default)]
    pub memory_bytes: Option<u64>,
    /// CPU time per perceived time, in millionths of one CPU; at least [`CPUS_PPM_MIN`] of real time.
    #[serde(default)]
    pub cpus_ppm: Option<u64>,
    /// Both will be changed while the fabric is up, so there are groups for both from the start.
    #[serde(default)]
    pub changing: bool,
}

/// Less would not be enough for the init itself.
const MEMORY_BYTES_MIN: u64 = 4 << 20;
/// The kernel's smallest quota is 1 ms of a period of 100 ms.
const CPUS_PPM_MIN: u64 = 10_000;

impl Limits {
    /// `slower`: how many times slower time is perceived.
    pub fn check(self, node: &str, slower: u64) -> Result<(), Failure> {
        if self.memory_bytes.is_some_and(|bytes| bytes < MEMORY_BYTES_MIN) {
            return Err(Failure::invalid(format!(
                "limits of node {node}: memory_bytes {} is below {MEMORY_BYTES_MIN}; allow at least that",
                self.memory_bytes.unwrap_or_default()
            )));
        }
        if self.cpus_ppm.is_some_and(|ppm| ppm < CPUS_PPM_MIN * slower) {
            return Err(Failure::invalid(format!(
                "limits of node {node}: cpus_ppm {} is below {}; the kernel divides no finer",
                self.cpus_ppm.unwrap_or_default(),
                CPUS_PPM_MIN * slower
            )));
        }
        Ok(())
    }

    fn controllers(self) -> impl Iterator<Item = Controller> {
        let memory = self.needs(self.memory_bytes).then_some(Controller::Memory);
        memory.into_iter().chain(self.needs(self.cpus_ppm).then_some(Controller::Cpu))
    }

    fn needs(self, amount: Option<u64>) -> bool {
        self.changing || amount.is_some()
    }
}

/// What a group can limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Controller {
    Memory,
    Cpu,
}

impl Controller {
    pub fn name(self) -> &'static str {
        match self {
            Self::Memory => "memory",
            Self::Cpu => "cpu",
        }
    }
}

/// What enforces a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum KeptBy {
    CgroupV1,
    CgroupV2,
    /// The kernel does not; the reader of the measurement must compare.
    Checks,
}

/// A limit of a node as the measurement shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct MemoryLimit {
    pub bytes: u64,
    pub kept_by: KeptBy,
    /// Processes that the kernel killed because of this limit.
    pub kills: u64,
}

/// A limit of a node as the measurement shows it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct CpusLimit {
    pub ppm: u64,
    pub kept_by: KeptBy,
    /// Perceived time in which processes were runnable and throttled, since the fabric came up.
    pub throttled_ns: u64,
}

/// The groups of a fabric, removed with it.
#[derive(Default)]
pub struct Groups {
    branches: Vec<Branch>,
    /// Removes the groups when this process is killed.
    _sweeper: Option<Sweeper>,
}

impl Groups {
    /// Makes the agent's own groups that these limits need; fewer, or none, where this machine does not allow it.
    pub fn for_limits(limits: impl Iterator<Item = Limits>) -> Self {
        let mut wanted = Vec::new();
        for controller in limits.flat_map(Limits::controllers) {
            if !wanted.contains(&controller) {
                wanted.push(controller);
            }
        }
        if wanted.is_empty() {
            return Self::default();
        }
        let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let hierarchies = hierarchy::parse(&read("mountinfo"), &read("cgroup"));
        sweep::sweep(&hierarchies, |_| {});
        let branches = branch::make(&hierarchies, wanted, &sweep::own_name());
        let sweeper =
            if branches.is_empty() { None } else { Sweeper::start(sweep::own_name().as_ref()).ok() };
        Self { branches, _sweeper: sweeper }
    }

    /// Puts the init of a node, and every process that it will start, under the node's limits. `slower`: how many times
    /// slower time is perceived there.
    pub fn limit(&self, node: &str, limits: Limits, slower: u64, init: Pid) -> Kept {
        let place = |controller, amount: Option<u64>| {
            let branch = self.branches.iter().find(|branch| branch.has(controller))?;
            limits.needs(amount).then(|| branch.place(node, controller, amount, init).ok())?
        };
        Kept {
            limits,
            slower,
            memory: place(Controller::Memory, limits.memory_bytes),
            cpus: place(Controller::Cpu, limits.cpus_ppm.map(|ppm| ppm / slower)),
        }
    }
}

impl Drop for Groups {
    /// Every process of the nodes has ended at this point.
    fn drop(&mut self) {
        self.branches.iter().for_each(|branch| sweep::remove(branch.folder()));
    }
}

/// The limits of a node and the groups that enforce them.
#[derive(Default)]
pub struct Kept {
    limits: Limits,
    slower: u64,
    memory: Option<Leaf>,
    cpus: Option<Leaf>,
}

impl Kept {
    /// Enforces other limits from now on; `None`: those that the node came up with.
    pub fn change(&self, limits: Option<Limits>) -> Result<(), String> {
        let limits = limits.unwrap_or(self.limits);
        let cpus_ppm = limits.cpus_ppm.map(|ppm| ppm / self.slower.max(1));
        let changes = [
            ("cpus", &self.cpus, Controller::Cpu, cpus_ppm),
            ("memory", &self.memory, Controller::Memory, limits.memory_bytes),
        ];
        for (what, leaf, controller, amount) in changes {
            match leaf {
                Some(leaf) => leaf.limit(controller, amount).map_err(|error| match error.raw_os_error() {
                    Some(libc::EBUSY) => format!("{what}: its processes use more, and cannot give it back; allow more"),
                    _ => format!("{what}: {error}"),
                })?,
                None if amount.is_none() => {}
                None => {
                    return Err(format!(
                        "{what}: the node has no control group for it; ask for `changing` in `up`, as root or where control groups are delegated to you"
                    ))
                }
            }
        }
        Ok(())
    }

    pub fn memory_limit(&self) -> Option<MemoryLimit> {
        let bytes = self.limits.memory_bytes?;
        let kills = self.memory.as_ref().map_or(0, Leaf::kills);
        Some(MemoryLimit { bytes, kept_by: kept_by(self.memory.as_ref()), kills })
    }

    pub fn cpus_limit(&self) -> Option<CpusLimit> {
        let ppm = self.limits.cpus_ppm?;
        let throttled_ns = self.cpus.as_ref().map_or(0, Leaf::throttled_ns) / self.slower.max(1);
        Some(CpusLimit { ppm, kept_by: kept_by(self.cpus.as_ref()), throttled_ns })
    }
}

fn kept_by(leaf: Option<&Leaf>) -> KeptBy {
    leaf.map_or(KeptBy::Checks, |leaf| leaf.version().into())
}

/// Moves this process into the groups of another process, so that its children are under the same limits.
pub fn join(pid: u32) -> Result<(), String> {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let theirs = hierarchy::parse(&read("/proc/self/mountinfo".into()), &read(format!("/proc/{pid}/cgroup")));
    for group in theirs.iter().map(|hierarchy| &hierarchy.own).filter(|own| is_a_nodes(own)) {
        let procs = group.join("cgroup.procs");
        fs::write(&procs, std::process::id().to_string()).map_err(|error| {
            format!(
                "move into {}: {error}; the node has limits, and this must run as the user who brought it up",
                procs.display()
            )
        })?;
    }
    Ok(())
}

fn is_a_nodes(group: &Path) -> bool {
    group.parent().and_then(Path::file_name).is_some_and(|name| sweep::agent_of(name).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn limits_that_the_kernel_cannot_enforce_are_refused() {
        let limits = |memory_bytes, cpus_ppm| Limits { memory_bytes, cpus_ppm, changing: false };
        assert!(limits(None, None).check("a", 1).is_ok());
        assert!(limits(Some(4 << 20), Some(10_000)).check("a", 1).is_ok());
        assert!(limits(Some(4096), None).check("db0", 1).unwrap_err().message.contains("node db0"));
        assert!(limits(None, Some(9_999)).check("a", 1).unwrap_err().message.contains("9999"));
        assert!(limits(None, Some(99_999)).check("a", 10).unwrap_err().message.contains("below 100000"));
    }

    #[test]
    fn only_groups_of_nodes_are_joined() {
        assert!(is_a_nodes(Path::new("/sys/fs/cgroup/memory/x/crosswind-12-345/node-db0")));
        assert!(!is_a_nodes(Path::new("/sys/fs/cgroup/memory/x/user-12/session")));
        assert!(!is_a_nodes(Path::new("/")));
    }
}
