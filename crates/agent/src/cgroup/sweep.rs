//! Removes control groups: the agent's own at its regular end, and those of agents that were killed.
//!
//! A group is called `crosswind-PID-START`, where START is the agent's start in clock ticks since boot. A group of a
//! dead agent is therefore recognised even when another process has its number now. While a fabric has groups, a
//! second process, `crosswind-agent sweep`, waits for the end of its input. The input ends with the agent, for
//! whatever reason; then the process removes the groups that a killed agent left. If both are killed, the next fabric
//! with limits or `crosswind cleanup` removes the groups.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::ExitCode;
use std::thread;
use std::time::{Duration, Instant};

use super::hierarchy::{self, Hierarchy};
use super::throttle;
use crate::sweeper;

const PREFIX: &str = "crosswind-";
/// How long killed processes may take to leave a group.
const PATIENCE: Duration = Duration::from_secs(2);
const CHECK: Duration = Duration::from_millis(5);

/// `crosswind-agent sweep [GROUP]`: removes groups that killed agents left, and prints their names. With the name of
/// an agent's group, it first waits for the end of its input and then until that agent has ended.
pub fn main(after: Option<&OsStr>) -> ExitCode {
    if let Some((pid, start)) = after.and_then(agent_of) {
        sweeper::await_end();
        // The kernel closes the files of a process before the process is gone.
        let deadline = Instant::now() + PATIENCE;
        while start_of(pid) == Some(start) && Instant::now() < deadline {
            thread::sleep(CHECK);
        }
    }
    let read = |name: &str| fs::read_to_string(format!("/proc/self/{name}")).unwrap_or_default();
    let mut remaining = false;
    sweep(&hierarchy::parse(&read("mountinfo"), &read("cgroup")), |folder| {
        if folder.exists() {
            remaining = true;
            eprintln!(
                "crosswind-agent sweep: {}: still has processes or belongs to another user",
                folder.display()
            );
        } else {
            println!("{}", folder.display());
        }
    });
    if remaining {
        ExitCode::FAILURE
    } else {
        ExitCode::SUCCESS
    }
}

/// Name of this process's groups.
pub fn own_name() -> String {
    let pid = std::process::id();
    format!("{PREFIX}{pid}-{}", start_of(pid).unwrap_or(0))
}

/// Removes the groups of agents that no longer exist, and reports each to `report`.
pub fn sweep(hierarchies: &[Hierarchy], mut report: impl FnMut(&Path)) {
    for folder in hierarchies.iter().flat_map(groups_of_agents) {
        let gone =
            folder.file_name().and_then(agent_of).is_some_and(|(pid, start)| start_of(pid) != Some(start));
        if gone {
            remove(&folder);
            report(&folder);
        }
    }
}

/// Agents make their groups in their own group or above it. The next agent may have been started in another group, so
/// all ancestors are searched.
fn groups_of_agents(hierarchy: &Hierarchy) -> Vec<PathBuf> {
    let places = hierarchy.own.ancestors().take_while(|folder| folder.starts_with(&hierarchy.top));
    let entries = places.filter_map(|folder| fs::read_dir(folder).ok()).flatten().flatten();
    entries
        .map(|entry| entry.path())
        .filter(|path| path.is_dir() && path.file_name().is_some_and(|name| agent_of(name).is_some()))
        .collect()
}

/// Process id and start of the agent in a group's name.
pub fn agent_of(name: &OsStr) -> Option<(u32, u64)> {
    let (pid, start) = name.to_str()?.strip_prefix(PREFIX)?.split_once('-')?;
    Some((pid.parse().ok()?, start.parse().ok()?))
}

/// When a process started, in clock ticks since boot; `None` when it does not exist, or is a zombie.
fn start_of(pid: u32) -> Option<u64> {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    // Fields 3 and 22 of proc_pid_stat(5), counted from the end of the name, because a name may contain any character.
    let mut fields = stat.rsplit_once(')')?.1.split_whitespace();
    let state = fields.next()?;
    fields.nth(18)?.parse().ok().filter(|_| !matches!(state, "Z" | "X"))
}

/// Removes a group and those below it, as soon as the kernel has removed their last processes.
pub fn remove(folder: &Path) {
    let below = fs::read_dir(folder).into_iter().flatten().flatten().map(|entry| entry.path());
    let deadline = Instant::now() + PATIENCE;
    for group in below.filter(|path| path.is_dir()).chain([folder.to_owned()]) {
        throttle::lift(&group);
        while fs::remove_dir(&group).is_err_and(|error| error.raw_os_error() == Some(libc::EBUSY)) {
            if Instant::now() > deadline {
                return;
            }
            thread::sleep(CHECK);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_identify_the_agent() {
        let name = own_name();
        assert_eq!(agent_of(OsStr::new(&name)).unwrap().0, std::process::id());
        for other in ["crosswind", "crosswind-1", "crosswind-x-1", "crosswind-1-x", "system.slice"] {
            assert_eq!(agent_of(OsStr::new(other)), None, "{other}");
        }
    }

    #[test]
    fn only_groups_of_dead_agents_are_removed() {
        let top = tempfile::tempdir().unwrap();
        let own = top.path().join("session");
        let living = top.path().join(own_name());
        // The number of this process, with the start of an earlier one.
        let dead = own.join(format!("crosswind-{}-1", std::process::id()));
        for group in [&living.join("node-a"), &dead.join("node-a"), &own.join("crosswind-like")] {
            fs::create_dir_all(group).unwrap();
        }
        let hierarchy = Hierarchy {
            version: hierarchy::Version::One,
            controllers: vec![],
            top: top.path().into(),
            own: own.clone(),
        };
        let mut reported = Vec::new();
        sweep(&[hierarchy], |folder| reported.push(folder.to_owned()));
        assert_eq!(reported, vec![dead.clone()]);
        assert!(living.is_dir() && own.join("crosswind-like").is_dir() && !dead.exists());
    }
}
