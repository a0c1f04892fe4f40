//! Memory, CPU and disk limits of nodes, enforced by the kernel's control groups where this machine allows the agent to make
//! them. Nodes whose clocks are slower have groups, too, for what asks the group of a socket (`bpf::handshake`).
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
mod throttle;

use std::fs;
use std::path::Path;

use nix::unistd::Pid;
use serde::{Deserialize, Serialize};

use branch::{Branch, Leaf};
use hierarchy::{Hierarchy, Version};
pub use sweep::main as sweep_main;

use crate::bpf::handshake::Longer;
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
    /// The node gets a disk of its own (`mount`), which may become full.
    #[serde(default)]
    pub disk: bool,
    /// That disk may become slow, so there is a group for it from the start.
    #[serde(default)]
    pub disk_rate: bool,
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
        let cpu = self.needs(self.cpus_ppm).then_some(Controller::Cpu);
        let disk = self.disk_rate.then_some(Controller::Disk);
        [memory, cpu, disk].into_iter().flatten()
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
    Disk,
}

impl Controller {
    pub fn name(self, version: Version) -> &'static str {
        match (self, version) {
            (Self::Memory, _) => "memory",
            (Self::Cpu, _) => "cpu",
            (Self::Disk, Version::One) => "blkio",
            (Self::Disk, Version::Two) => "io",
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
    /// Where clocks are slower, for as long as every node is in a group of its branch.
    handshakes: Option<Longer>,
    /// Removes the groups when this process is killed.
    _sweeper: Option<Sweeper>,
}

impl Groups {
    /// Makes the agent's own groups that these limits, and clocks that are `slower` times slower, need; fewer, or none,
    /// where this machine does not allow it.
    pub fn make(limits: impl Iterator<Item = Limits>, slower: u64) -> Self {
        let mut wanted = Vec::new();
        for controller in limits.flat_map(Limits::controllers) {
            if !wanted.contains(&controller) {
                wanted.push(controller);
            }
        }
        if wanted.is_empty() && slower == 1 {
            return Self::default();
        }
        let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
        let hierarchies = hierarchy::parse(&read("mountinfo"), &read("cgroup"));
        sweep::sweep(&hierarchies, |_| {});
        let mut groups = Self::default();
        groups.branches = branch::make(&hierarchies, wanted, &sweep::own_name());
        if slower > 1 {
            groups.slow(slower, &hierarchies);
        }
        if !groups.branches.is_empty() {
            groups._sweeper = Sweeper::start(sweep::own_name().as_ref()).ok();
        }
        groups
    }

    /// Lengthens the first timeouts of sockets where this machine allows it. A process is in one group of version 2, so
    /// those that have limits are used for that, too.
    fn slow(&mut self, slower: u64, hierarchies: &[Hierarchy]) {
        let own = self.branches.iter().position(|branch| branch.version() == Version::Two);
        let plain = if own.is_some() { None } else { branch::make_plain(hierarchies, &sweep::own_name()) };
        let Some(group) = own.map(|at| &self.branches[at]).or(plain.as_ref()) else { return };
        self.handshakes = Longer::times(slower, group.folder()).ok();
        match plain {
            Some(plain) if self.handshakes.is_some() => self.branches.push(plain),
            Some(plain) => sweep::remove(plain.folder()),
            None => {}
        }
    }

    /// Puts the init of a node, and every process that it will start, where first timeouts are longer.
    pub fn slow_handshakes(&mut self, node: &str, init: Pid) {
        let branch = self.branches.iter().find(|branch| branch.version() == Version::Two);
        if branch.is_none_or(|branch| branch.place(node, init).is_err()) {
            self.handshakes = None;
        }
    }

    /// Whether the first timeouts of all nodes are longer.
    pub fn slows_handshakes(&self) -> bool {
        self.handshakes.is_some()
    }

    /// Whether disks of nodes in them can become slow.
    pub fn can_slow(&self) -> bool {
        self.branches.iter().any(|branch| branch.has(Controller::Disk))
    }

    /// Puts the init of a node, and every process that it will start, under the node's limits. `slower`: how many times
    /// slower time is perceived there.
    pub fn limit(&self, node: &str, limits: Limits, slower: u64, init: Pid) -> Kept {
        let place = |controller, amount: Option<u64>| {
            let branch = self.branches.iter().find(|branch| branch.has(controller))?;
            let leaf = branch.place(node, init).ok()?;
            amount.map_or(Ok(()), |_| leaf.limit(controller, amount)).ok().map(|()| leaf)
        };
        let wanted: Vec<_> = limits.controllers().collect();
        let place = |controller, amount| wanted.contains(&controller).then(|| place(controller, amount))?;
        Kept {
            limits,
            slower,
            memory: place(Controller::Memory, limits.memory_bytes),
            cpus: place(Controller::Cpu, limits.cpus_ppm.map(|ppm| ppm / slower)),
            disk: place(Controller::Disk, None),
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
    disk: Option<Leaf>,
}

impl Kept {
    /// The limits that the node came up with.
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// Limits how many bytes per perceived second the node reads from a device, and writes to it; `None`: no limit.
    pub fn slow(&self, device: &str, rate: Option<u64>) -> Result<(), String> {
        let rate = rate.map(|rate| rate / self.slower.max(1));
        match &self.disk {
            Some(leaf) => leaf.slow(device, rate).map_err(|error| format!("rate: {error}")),
            None if rate.is_none() => Ok(()),
            None => Err("rate: the node has no control group for it; ask for `disk_rate` in `up`".into()),
        }
    }

    /// Ends the limit of every device.
    pub fn lift(&self) {
        self.disk.iter().for_each(Leaf::lift);
    }

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

/// Moves this process into the groups of another process, so that its children are under the same limits, and have the
/// same first timeouts.
pub fn join(pid: u32) -> Result<(), String> {
    let read = |path: String| fs::read_to_string(path).unwrap_or_default();
    let theirs = hierarchy::parse(&read("/proc/self/mountinfo".into()), &read(format!("/proc/{pid}/cgroup")));
    for group in theirs.iter().map(|hierarchy| &hierarchy.own).filter(|own| is_a_nodes(own)) {
        let procs = group.join("cgroup.procs");
        fs::write(&procs, std::process::id().to_string()).map_err(|error| {
            format!(
                "move into {}: {error}; the node has a control group, and this must run as the user who brought it up",
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
        let limits = |memory_bytes, cpus_ppm| Limits { memory_bytes, cpus_ppm, ..Limits::default() };
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
