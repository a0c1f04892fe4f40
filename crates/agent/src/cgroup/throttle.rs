//! The rate at which the processes of a group read from a block device, and write to it.
//!
//! Source: kernel documentation, admin-guide/cgroup-v1/blkio-controller.rst, admin-guide/cgroup-v2.rst.

use std::fs;
use std::io;
use std::path::Path;

use super::hierarchy::Version;

const OF_ONE: [&str; 2] = ["blkio.throttle.read_bps_device", "blkio.throttle.write_bps_device"];
const OF_TWO: &str = "io.max";

/// Limits both directions of a device, `MAJOR:MINOR`, each to `rate` bytes per second; `None` is without limit.
pub fn limit(version: Version, group: &Path, device: &str, rate: Option<u64>) -> io::Result<()> {
    match version {
        Version::One => {
            let line = format!("{device} {}", rate.unwrap_or(0));
            OF_ONE.iter().try_for_each(|file| fs::write(group.join(file), &line))
        }
        Version::Two => {
            let most = rate.map_or("max".to_owned(), |rate| rate.to_string());
            fs::write(group.join(OF_TWO), format!("{device} rbps={most} wbps={most}"))
        }
    }
}

/// Ends all limits of a group. A process that waits for a slow disk cannot be killed before.
pub fn lift(group: &Path) {
    let files = OF_ONE.iter().map(|file| (Version::One, *file)).chain([(Version::Two, OF_TWO)]);
    for (version, file) in files {
        let lines = fs::read_to_string(group.join(file)).unwrap_or_default();
        for device in lines.lines().filter_map(|line| line.split(' ').next()) {
            // The device may have gone meanwhile, and its limit with it.
            let _ = limit(version, group, device, None);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_written_as_each_version_reads_it_and_is_lifted() {
        let group = tempfile::tempdir().unwrap();
        let shows = |file: &str| fs::read_to_string(group.path().join(file)).unwrap();
        limit(Version::One, group.path(), "7:3", Some(1 << 20)).unwrap();
        assert_eq!(OF_ONE.map(shows), ["7:3 1048576"; 2].map(str::to_owned));
        lift(group.path());
        assert_eq!(OF_ONE.map(shows), ["7:3 0"; 2].map(str::to_owned));
        OF_ONE.iter().for_each(|file| fs::remove_file(group.path().join(file)).unwrap());
        limit(Version::Two, group.path(), "7:3", Some(1 << 20)).unwrap();
        assert_eq!(shows(OF_TWO), "7:3 rbps=1048576 wbps=1048576");
        lift(group.path());
        assert_eq!(shows(OF_TWO), "7:3 rbps=max wbps=max");
    }
}
