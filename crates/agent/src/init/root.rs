//! A root file system for a process: that of an image instead of the host's.
//!
//! The process gets a mount namespace with `folder` as its root and `binds` in it, and nothing else. It sees /proc,
//! /dev or /etc/hosts only where the caller binds them. The change happens between fork and exec, while the process
//! still has the init's capabilities. The mounts end with the process; no other process sees them.
//!
//! `pivot_root` rather than `chroot`: the host's files are then not mounted there at all. Programs that inspect their
//! mounts or make namespaces find nothing unusual.

use std::path::Path;

use nix::mount::{mount, umount2, MntFlags, MsFlags};
use nix::sched::{unshare, CloneFlags};
use nix::unistd::{chdir, pivot_root, sethostname};

use crate::protocol::{Bind, Root};

/// Makes `root` the root of this process.
pub fn enter(root: &Root) -> Result<(), String> {
    let about =
        |what: &str, error: nix::Error| format!("root {}: {what}: {}", root.folder.display(), error.desc());
    unshare(CloneFlags::CLONE_NEWNS).map_err(|error| about("make a mount namespace", error))?;
    if let Some(name) = &root.hostname {
        unshare(CloneFlags::CLONE_NEWUTS)
            .and_then(|()| sethostname(name))
            .map_err(|error| about(&format!("set the host name {name}; it has 64 bytes at most"), error))?;
    }
    // A root has to be a mount, and what is bound in it has to lie on that mount.
    bind(&root.folder, &root.folder)
        .map_err(|error| about("bind it to itself; it must be a folder", error))?;
    for entry in &root.binds {
        add(entry).map_err(|error| {
            format!(
                "root {}: bind {} at {}: {}; both must exist, and both must be files or both folders",
                root.folder.display(),
                entry.from.display(),
                entry.to.display(),
                error.desc()
            )
        })?;
    }
    chdir(&root.folder).map_err(|error| about("enter it", error))?;
    // The old root is mounted on top of the new one and detached: pivot_root(2), notes. That needs no folder for the
    // old root.
    pivot_root(".", ".").map_err(|error| about("make it the root", error))?;
    umount2(".", MntFlags::MNT_DETACH).map_err(|error| about("leave the host's root", error))?;
    chdir("/").map_err(|error| about("enter it", error))
}

fn add(entry: &Bind) -> nix::Result<()> {
    bind(&entry.from, &entry.to)?;
    if !entry.read_only {
        return Ok(());
    }
    // A bind cannot be made read-only in one step, and in a user namespace its inherited flags must stay.
    let kept = nix::sys::statvfs::statvfs(&entry.to)?.flags();
    let mut flags = MsFlags::MS_BIND | MsFlags::MS_REMOUNT | MsFlags::MS_RDONLY;
    for (mounted, flag) in [
        (nix::sys::statvfs::FsFlags::ST_NOSUID, MsFlags::MS_NOSUID),
        (nix::sys::statvfs::FsFlags::ST_NODEV, MsFlags::MS_NODEV),
        (nix::sys::statvfs::FsFlags::ST_NOEXEC, MsFlags::MS_NOEXEC),
    ] {
        if kept.contains(mounted) {
            flags |= flag;
        }
    }
    mount(None::<&str>, &entry.to, None::<&str>, flags, None::<&str>)
}

/// Binds recursively: a user namespace may not separate a folder from the mounts below it.
fn bind(from: &Path, to: &Path) -> nix::Result<()> {
    mount(Some(from), to, None::<&str>, MsFlags::MS_BIND | MsFlags::MS_REC, None::<&str>)
}
