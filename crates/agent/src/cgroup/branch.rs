//! The agent's own group in one tree, and the groups of nodes below it.
//!
//! Source: kernel documentation, admin-guide/cgroup-v1/memory.rst, scheduler/sched-bwc.rst, admin-guide/cgroup-v2.rst.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use nix::unistd::Pid;

use super::hierarchy::{Hierarchy, Version};
use super::{throttle, Controller};

/// The period that container engines use as well: a node with half a CPU runs 50 ms and waits 50 ms.
const PERIOD_US: u64 = 100_000;

/// A group of the agent; it limits nothing itself.
pub struct Branch {
    version: Version,
    folder: PathBuf,
    controllers: Vec<Controller>,
}

/// Makes groups called `name`, in as many trees as it takes to have all the controllers in `wanted`.
pub fn make(hierarchies: &[Hierarchy], mut wanted: Vec<Controller>, name: &str) -> Vec<Branch> {
    let mut branches = Vec::new();
    for hierarchy in hierarchies {
        if let Some(branch) = make_in(hierarchy, &wanted, name) {
            wanted.retain(|controller| !branch.controllers.contains(controller));
            branches.push(branch);
        }
    }
    branches
}

fn make_in(hierarchy: &Hierarchy, wanted: &[Controller], name: &str) -> Option<Branch> {
    let has = |list: &[&str]| -> Vec<Controller> {
        wanted
            .iter()
            .copied()
            .filter(|controller| list.contains(&controller.name(hierarchy.version)))
            .collect()
    };
    let mut places: Vec<(&Path, Vec<Controller>)> = match hierarchy.version {
        Version::One => {
            let all: Vec<_> = hierarchy.controllers.iter().map(String::as_str).collect();
            vec![(&hierarchy.own, has(&all))]
        }
        // "Non-root cgroups can distribute domain resources to their children only when they don't have any processes
        // of their own" (cgroup-v2.rst). The agent's own group has a process, so the new group goes below an ancestor
        // that already hands the controllers on. The agent changes no ancestor: the change would remain after its end.
        Version::Two => ancestors(&hierarchy.own, &hierarchy.top)
            .map(|folder| {
                let handed_on = fs::read_to_string(folder.join("cgroup.subtree_control")).unwrap_or_default();
                (folder, has(&handed_on.split_whitespace().collect::<Vec<_>>()))
            })
            .collect(),
    };
    places.sort_by_key(|(_, controllers)| std::cmp::Reverse(controllers.len()));
    places.into_iter().filter(|(_, controllers)| !controllers.is_empty()).find_map(|(place, controllers)| {
        let folder = place.join(name);
        fs::create_dir(&folder).ok()?;
        let branch = Branch { version: hierarchy.version, folder, controllers };
        match branch.hand_on() {
            Ok(()) => Some(branch),
            Err(_) => {
                super::sweep::remove(&branch.folder);
                None
            }
        }
    })
}

/// Makes a group without controllers in the tree of version 2, which may have none.
pub fn make_plain(hierarchies: &[Hierarchy], name: &str) -> Option<Branch> {
    let tree = hierarchies.iter().find(|hierarchy| hierarchy.version == Version::Two)?;
    let folder = tree.own.join(name);
    fs::create_dir(&folder).ok()?;
    Some(Branch { version: Version::Two, folder, controllers: Vec::new() })
}

/// The group and those above it, up to the top.
fn ancestors<'a>(own: &'a Path, top: &'a Path) -> impl Iterator<Item = &'a Path> {
    own.ancestors().take_while(move |folder| folder.starts_with(top))
}

impl Branch {
    pub fn has(&self, controller: Controller) -> bool {
        self.controllers.contains(&controller)
    }

    pub fn version(&self) -> Version {
        self.version
    }

    pub fn folder(&self) -> &Path {
        &self.folder
    }

    fn hand_on(&self) -> io::Result<()> {
        if self.version == Version::One {
            return Ok(());
        }
        self.controllers.iter().try_for_each(|controller| {
            fs::write(
                self.folder.join("cgroup.subtree_control"),
                format!("+{}", controller.name(self.version)),
            )
        })
    }

    /// Moves a process, and so all processes that it will start, into a group of its node.
    pub fn place(&self, node: &str, init: Pid) -> io::Result<Leaf> {
        // The prefix avoids a collision: a node may be called `tasks`, which is also one of the kernel's files in
        // version 1.
        let leaf = Leaf { version: self.version, folder: self.folder.join(format!("node-{node}")) };
        if !leaf.folder.is_dir() {
            fs::create_dir(&leaf.folder)?;
        }
        fs::write(leaf.folder.join("cgroup.procs"), init.to_string())?;
        Ok(leaf)
    }
}

/// The group of a node.
pub struct Leaf {
    version: Version,
    folder: PathBuf,
}

impl Leaf {
    pub fn version(&self) -> Version {
        self.version
    }

    /// Sets a limit; `None` is without limit.
    pub fn limit(&self, controller: Controller, amount: Option<u64>) -> io::Result<()> {
        let quota_us = amount.map(|ppm| ppm * PERIOD_US / 1_000_000);
        let or =
            |amount: Option<u64>, none: &str| amount.map_or(none.to_owned(), |amount| amount.to_string());
        match (self.version, controller) {
            (Version::One, Controller::Memory) => {
                let bytes = or(amount, "-1");
                // Without this the node would continue in swap, at the speed of a disk. The file is missing where swap
                // is not counted. It is never below the other one, so a larger limit is set here first.
                let with_swap = "memory.memsw.limit_in_bytes";
                let _ = self.write_if_there(with_swap, &bytes);
                self.write("memory.limit_in_bytes", &bytes)?;
                self.write_if_there(with_swap, &bytes)
            }
            (Version::Two, Controller::Memory) => {
                self.write("memory.max", or(amount, "max"))?;
                self.write_if_there("memory.swap.max", if amount.is_some() { "0" } else { "max" })
            }
            (Version::One, Controller::Cpu) => {
                self.write("cpu.cfs_period_us", PERIOD_US)?;
                self.write("cpu.cfs_quota_us", or(quota_us, "-1"))
            }
            (Version::Two, Controller::Cpu) => {
                self.write("cpu.max", format!("{} {PERIOD_US}", or(quota_us, "max")))
            }
            // It has a limit for each device.
            (_, Controller::Disk) => Ok(()),
        }
    }

    /// Limits the bytes per second that it reads from a device, and writes to it; `None` is without limit.
    pub fn slow(&self, device: &str, rate: Option<u64>) -> io::Result<()> {
        throttle::limit(self.version, &self.folder, device, rate)
    }

    /// Ends the limit of every device.
    pub fn lift(&self) {
        throttle::lift(&self.folder);
    }

    /// Processes of the node that the kernel killed because of its memory limit.
    pub fn kills(&self) -> u64 {
        let file = match self.version {
            Version::One => "memory.oom_control",
            Version::Two => "memory.events",
        };
        self.count(file, "oom_kill")
    }

    pub fn throttled_ns(&self) -> u64 {
        match self.version {
            Version::One => self.count("cpu.stat", "throttled_time"),
            Version::Two => self.count("cpu.stat", "throttled_usec") * 1000,
        }
    }

    fn write(&self, file: &str, value: impl ToString) -> io::Result<()> {
        fs::write(self.folder.join(file), value.to_string())
    }

    fn write_if_there(&self, file: &str, value: &str) -> io::Result<()> {
        if self.folder.join(file).exists() {
            self.write(file, value)
        } else {
            Ok(())
        }
    }

    fn count(&self, file: &str, key: &str) -> u64 {
        value_of(&fs::read_to_string(self.folder.join(file)).unwrap_or_default(), key)
    }
}

/// The number after a key in a file of `key number` lines; 0 without that key.
fn value_of(text: &str, key: &str) -> u64 {
    let lines = text.lines().filter_map(|line| line.split_once(' '));
    lines.filter(|(name, _)| *name == key).find_map(|(_, number)| number.trim().parse().ok()).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tree_of_version_2(handed_on: &[(&str, &str)]) -> (tempfile::TempDir, Hierarchy) {
        let top = tempfile::tempdir().unwrap();
        let own = top.path().join("user/session");
        fs::create_dir_all(&own).unwrap();
        for (group, controllers) in handed_on {
            fs::write(top.path().join(group).join("cgroup.subtree_control"), controllers).unwrap();
        }
        let hierarchy = Hierarchy { version: Version::Two, controllers: vec![], top: top.path().into(), own };
        (top, hierarchy)
    }

    #[test]
    fn the_nearest_ancestor_with_all_controllers_is_used() {
        let (top, hierarchy) =
            tree_of_version_2(&[("", "cpu memory pids\n"), ("user", "memory\n"), ("user/session", "\n")]);
        let branches = make(
            std::slice::from_ref(&hierarchy),
            vec![Controller::Memory, Controller::Cpu],
            "crosswind-1-2",
        );
        assert_eq!(branches.len(), 1);
        assert_eq!(branches[0].folder, top.path().join("crosswind-1-2"));
        assert!(branches[0].has(Controller::Memory) && branches[0].has(Controller::Cpu));
        let memory = make(&[hierarchy], vec![Controller::Memory], "crosswind-3-4");
        assert_eq!(memory[0].folder, top.path().join("user/crosswind-3-4"));
    }

    #[test]
    fn no_group_is_made_where_no_ancestor_hands_controllers_on() {
        let (_top, hierarchy) = tree_of_version_2(&[("", "pids\n"), ("user", "\n")]);
        assert!(make(&[hierarchy], vec![Controller::Memory], "crosswind-1-2").is_empty());
    }

    #[test]
    fn a_group_without_controllers_is_made_in_the_tree_of_version_2_alone() {
        let (top, two) = tree_of_version_2(&[]);
        let one = Hierarchy { version: Version::One, ..two.clone() };
        assert!(make_plain(std::slice::from_ref(&one), "crosswind-1-2").is_none());
        let branch = make_plain(&[one, two], "crosswind-1-2").unwrap();
        assert_eq!(branch.folder(), top.path().join("user/session/crosswind-1-2"));
        assert!(branch.controllers.is_empty());
    }

    #[test]
    fn version_1_needs_one_group_for_each_tree() {
        let top = tempfile::tempdir().unwrap();
        let tree = |name: &str| {
            let own = top.path().join(name);
            fs::create_dir(&own).unwrap();
            let controllers = vec![name.to_owned()];
            Hierarchy { version: Version::One, controllers, top: own.clone(), own }
        };
        let trees = [tree("freezer"), tree("memory"), tree("cpu")];
        let branches = make(&trees, vec![Controller::Cpu, Controller::Memory], "crosswind-1-2");
        let folders: Vec<_> = branches.iter().map(|branch| branch.folder.clone()).collect();
        assert_eq!(
            folders,
            vec![top.path().join("memory/crosswind-1-2"), top.path().join("cpu/crosswind-1-2")]
        );
    }

    #[test]
    fn counts_are_read_from_both_versions() {
        // From Linux 6.18 and, below, from 6.1.
        assert_eq!(value_of("oom_kill_disable 0\nunder_oom 0\noom_kill 2\n", "oom_kill"), 2);
        assert_eq!(value_of("low 0\nhigh 0\nmax 7\noom 1\noom_kill 1\noom_group_kill 0\n", "oom_kill"), 1);
        assert_eq!(value_of("nr_periods 5\n", "oom_kill"), 0);
    }
}
