//! Which control group file systems are mounted here, and which of their groups a process is in.
//!
//! Source: cgroups(7), proc(5): /proc/PID/mountinfo, /proc/PID/cgroup.

use std::path::{Path, PathBuf};

use super::KeptBy;

/// Version of the control group file system.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Version {
    One,
    Two,
}

impl From<Version> for KeptBy {
    fn from(version: Version) -> Self {
        match version {
            Version::One => Self::CgroupV1,
            Version::Two => Self::CgroupV2,
        }
    }
}

/// A mounted tree of groups.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Hierarchy {
    pub version: Version,
    /// Controllers of a version 1 tree. Version 2 lists them in every group instead.
    pub controllers: Vec<String>,
    /// The uppermost group that can be seen here.
    pub top: PathBuf,
    /// The group of the process.
    pub own: PathBuf,
}

/// Reads both files of a process. A group that no mount shows is left out.
pub fn parse(mountinfo: &str, cgroup: &str) -> Vec<Hierarchy> {
    mountinfo.lines().filter_map(|line| hierarchy(line, cgroup)).collect()
}

fn hierarchy(mount: &str, cgroup: &str) -> Option<Hierarchy> {
    let (place, kind) = mount.split_once(" - ")?;
    let [_, _, _, root, top, ..] = *place.split(' ').collect::<Vec<_>>() else {
        return None;
    };
    let [kind, _, options] = *kind.split(' ').collect::<Vec<_>>() else {
        return None;
    };
    let version = match kind {
        "cgroup" => Version::One,
        "cgroup2" => Version::Two,
        _ => return None,
    };
    let (controllers, group) = cgroup.lines().find_map(|line| {
        let mut fields = line.splitn(3, ':').skip(1);
        let (controllers, group) = (fields.next()?, fields.next()?);
        let here = match version {
            Version::One => !controllers.is_empty() && is_mounted(controllers, options),
            Version::Two => controllers.is_empty(),
        };
        here.then_some((controllers, group))
    })?;
    let below = Path::new(group).strip_prefix(root).ok()?;
    Some(Hierarchy {
        version,
        controllers: controllers.split(',').filter(|name| !name.is_empty()).map(str::to_owned).collect(),
        top: top.into(),
        own: Path::new(top).join(below),
    })
}

/// Whether a mount with these options is the tree of these controllers: its options name each of them.
fn is_mounted(controllers: &str, options: &str) -> bool {
    controllers.split(',').all(|controller| options.split(',').any(|option| option == controller))
}

#[cfg(test)]
mod tests {
    use super::*;

    // From Linux 6.18: version 1, and an empty tree of version 2; group names shortened.
    const ONE_MOUNTS: &str = "\
31 23 0:28 / /sys/fs/cgroup rw,relatime - tmpfs tmpfs rw,mode=755
32 31 0:29 / /sys/fs/cgroup/cpu,cpuacct rw,relatime - cgroup cgroup rw,cpu,cpuacct
35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:7 - cgroup cgroup rw,memory
40 31 0:37 / /sys/fs/cgroup/systemd rw,relatime - cgroup cgroup rw,name=systemd
41 31 0:38 / /sys/fs/cgroup/unified rw,relatime - cgroup2 cgroup2 rw
";
    const ONE_GROUPS: &str =
        "9:name=systemd:/\n4:memory:/service/bec2\n2:cpu,cpuacct:/\n1:devices:/elsewhere\n0::/\n";

    #[test]
    fn each_tree_of_version_1_is_found_with_its_controllers() {
        let found = parse(ONE_MOUNTS, ONE_GROUPS);
        let one = |controllers: &[&str], top: &str, own: &str| Hierarchy {
            version: Version::One,
            controllers: controllers.iter().map(|&name| name.to_owned()).collect(),
            top: top.into(),
            own: own.into(),
        };
        assert_eq!(
            found[0],
            one(&["cpu", "cpuacct"], "/sys/fs/cgroup/cpu,cpuacct", "/sys/fs/cgroup/cpu,cpuacct")
        );
        assert_eq!(found[1], one(&["memory"], "/sys/fs/cgroup/memory", "/sys/fs/cgroup/memory/service/bec2"));
        assert_eq!(found[3].version, Version::Two);
        assert_eq!(found.len(), 4);
    }

    #[test]
    fn the_tree_of_version_2_is_found() {
        let mounts = "30 24 0:26 / /sys/fs/cgroup rw,nosuid shared:4 - cgroup2 cgroup2 rw,nsdelegate\n";
        let found = parse(mounts, "0::/user.slice/user-1000.slice/session-3.scope\n");
        let own = "/sys/fs/cgroup/user.slice/user-1000.slice/session-3.scope";
        let two = Hierarchy {
            version: Version::Two,
            controllers: vec![],
            top: "/sys/fs/cgroup".into(),
            own: own.into(),
        };
        assert_eq!(found, vec![two]);
    }

    #[test]
    fn a_group_that_is_not_mounted_here_is_left_out() {
        // A container whose own group is the top, and a process outside of the container.
        let mounts = "30 24 0:26 /docker/c1 /sys/fs/cgroup rw - cgroup2 cgroup2 rw\n";
        assert_eq!(parse(mounts, "0::/docker/c2\n"), vec![]);
        assert_eq!(parse(mounts, "0::/docker/c1/a\n")[0].own, Path::new("/sys/fs/cgroup/a"));
    }

    #[test]
    fn malformed_lines_yield_no_tree() {
        assert_eq!(parse("x\n - \n1 2 3 / - cgroup2 cgroup2 rw\n", "::\n0\n"), vec![]);
    }
}
