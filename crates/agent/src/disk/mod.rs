//! A disk of a node's own: an ext4 file system on a loop device, over the folder in which the node has its data.
//!
//! Its image is a sparse file without a name, and its mount is in the node's namespace alone. So the disk ends with the
//! node, also when the agent is killed: the last unmount detaches the loop device, and that frees the image.
//!
//! It becomes full by a file without a name that takes what is left, and slow by the node's control group.
//!
//! Source: Linux, drivers/block/loop.c; mke2fs(8); fallocate(2).

mod loops;

use std::ffi::OsString;
use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::{AsFd, AsRawFd};
use std::os::unix::fs::{MetadataExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use nix::errno::Errno;
use nix::fcntl::{fallocate, FallocateFlags};
use nix::sys::statvfs::{fstatvfs, statvfs};
use nix::unistd::{geteuid, Pid};

use crate::failure::Failure;
use crate::process::SEARCH_PATH;

/// The size of a disk, where the folder's own file system has as much room. A larger one takes longer to make.
const BYTES_MAX: u64 = 64 << 30;
/// Of the file system.
const BLOCK_BYTES: u64 = 4096;
const MAKER: &str = "mkfs.ext4";
/// Nothing is reserved for root and nothing is initialised later, so that the kernel does no work of its own on it
/// while something is measured.
const OPTIONS: [&str; 6] = ["-q", "-F", "-m", "0", "-E", "lazy_itable_init=1,lazy_journal_init=1,nodiscard"];

/// Checks that this machine can make disks for nodes.
pub fn check() -> Result<(), Failure> {
    if !geteuid().is_root() {
        return Err(Failure::preflight(
            "disk: only root may mount a file system on a loop device; run as root, or leave the fault `disk` out",
        ));
    }
    loops::check().map_err(|error| {
        Failure::preflight(format!(
            "disk: /dev/loop-control: {error}; load the module (modprobe loop), or let this container have the device"
        ))
    })?;
    if !SEARCH_PATH.split(':').any(|folder| Path::new(folder).join(MAKER).is_file()) {
        return Err(Failure::preflight(format!("disk: no {MAKER} in {SEARCH_PATH}; install e2fsprogs")));
    }
    Ok(())
}

/// A disk that is not mounted yet. It is gone when this value is dropped before a mount.
pub struct Blank {
    device: File,
    /// Of the device.
    pub path: PathBuf,
}

impl Blank {
    /// Makes a disk with a copy of what is in a folder.
    pub fn with_copy_of(folder: &Path) -> io::Result<Self> {
        let above = folder.parent().ok_or_else(|| io::Error::other("is not below another folder"))?;
        let image = OpenOptions::new().read(true).write(true).custom_flags(libc::O_TMPFILE).open(above)?;
        let room = statvfs(above)?;
        let bytes = (room.blocks_available() * room.fragment_size()).min(BYTES_MAX);
        image.set_len(bytes / BLOCK_BYTES * BLOCK_BYTES)?;
        let (device, path) = loops::attach(image)?;
        let mut arguments: Vec<OsString> = OPTIONS.map(OsString::from).into();
        arguments.extend(["-d".into(), folder.into(), path.as_os_str().to_owned()]);
        let done = Command::new(MAKER)
            .args(arguments)
            .env("PATH", SEARCH_PATH)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| io::Error::new(error.kind(), format!("{MAKER}: {error}")))?;
        if !done.status.success() {
            let said = String::from_utf8_lossy(&done.stderr);
            let last = said.trim().lines().last().unwrap_or("it said nothing");
            return Err(io::Error::other(format!("{MAKER}: {last}")));
        }
        Ok(Self { device, path })
    }

    /// The disk, now that the node has mounted it at `folder`.
    pub fn mounted(self, init: Pid, folder: &Path) -> io::Result<Disk> {
        let seen = format!("/proc/{init}/root{}", folder.display());
        let flags = libc::O_DIRECTORY | libc::O_NOFOLLOW;
        let root = OpenOptions::new().read(true).custom_flags(flags).open(seen)?;
        let number = self.device.metadata()?.rdev();
        // The application owns the folders on the way, and could lead the agent elsewhere.
        if root.metadata()?.dev() != number {
            return Err(io::Error::other("something else is mounted there"));
        }
        let number = format!("{}:{}", libc::major(number), libc::minor(number));
        Ok(Disk { root, number, filler: None })
    }
}

/// The disk of a node.
pub struct Disk {
    root: File,
    /// Major and minor number of its device.
    pub number: String,
    filler: Option<File>,
}

impl Disk {
    /// Leaves this number of bytes free, or all that the node has not used itself.
    pub fn leave_free(&mut self, bytes: Option<u64>) -> Result<(), String> {
        let Some(bytes) = bytes else {
            // The file has no name, so its blocks are free with its last descriptor.
            self.filler = None;
            return Ok(());
        };
        self.fill(bytes).and_then(|()| self.empty_to(bytes)).map_err(|error| format!("free: {error}"))?;
        let free = self.free().map_err(|error| format!("free: {error}"))?;
        if free < bytes && self.taken().is_ok_and(|taken| taken == 0) {
            return Err(format!("free: {bytes} bytes are more than the {free} that are left; write less"));
        }
        Ok(())
    }

    fn free(&self) -> io::Result<u64> {
        let room = fstatvfs(&self.root)?;
        Ok(room.blocks_available() * room.fragment_size())
    }

    /// Takes what is free beyond `bytes`. What is allocated is not written, so this takes milliseconds.
    fn fill(&mut self, bytes: u64) -> io::Result<()> {
        if self.filler.is_none() {
            let place = format!("/proc/self/fd/{}", self.root.as_raw_fd());
            self.filler =
                Some(OpenOptions::new().write(true).custom_flags(libc::O_TMPFILE).mode(0o600).open(place)?);
        }
        let filler = self.filler.as_ref().expect("it was just made");
        let mut most = u64::MAX;
        loop {
            let piece = self.free()?.saturating_sub(bytes).min(most);
            if piece < BLOCK_BYTES {
                return Ok(());
            }
            let length = filler.metadata()?.len();
            match fallocate(filler.as_fd(), FallocateFlags::empty(), length as i64, piece as i64) {
                // The file system needs some blocks itself, and the node takes some meanwhile.
                Err(Errno::ENOSPC) => most = piece / 2,
                Err(Errno::EINTR) | Ok(()) => {}
                Err(error) => return Err(error.into()),
            }
        }
    }

    /// Gives back what is missing to `bytes` free ones, as far as it was taken: to have taken it took some blocks too.
    fn empty_to(&self, bytes: u64) -> io::Result<()> {
        let Some(filler) = &self.filler else { return Ok(()) };
        let missing = bytes.saturating_sub(self.free()?);
        if missing == 0 {
            return Ok(());
        }
        filler.set_len(self.taken()?.saturating_sub(missing.next_multiple_of(BLOCK_BYTES)))
    }

    fn taken(&self) -> io::Result<u64> {
        self.filler.as_ref().map_or(Ok(0), |filler| Ok(filler.metadata()?.len()))
    }
}

/// Whether a folder's path is one that a disk may be mounted at.
pub fn check_folder(folder: &Path) -> Result<(), String> {
    let plain = folder
        .components()
        .all(|part| matches!(part, std::path::Component::RootDir | std::path::Component::Normal(_)));
    if !folder.is_absolute() || !plain {
        return Err(format!("{folder:?} is relative or has \"..\" in it; write it from /"));
    }
    match fs::symlink_metadata(folder) {
        Ok(it) if it.is_dir() => Ok(()),
        Ok(_) => Err(format!("{} is not a folder; name the one with the node's data", folder.display())),
        Err(error) => Err(format!("{}: {error}; the node has no data there", folder.display())),
    }
}
