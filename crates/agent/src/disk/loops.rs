//! Attaches a file to a loop device that detaches itself after its last use.
//!
//! Source: Linux, include/uapi/linux/loop.h; loop(4). LOOP_CONFIGURE is in Linux 5.8.

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::PathBuf;

use nix::errno::Errno;

const CONTROL: &str = "/dev/loop-control";
const LOOP_CTL_GET_FREE: libc::Ioctl = 0x4C82;
const LOOP_CONFIGURE: libc::Ioctl = 0x4C0A;
const LO_FLAGS_AUTOCLEAR: u32 = 4;
/// Others may take the free device first.
const TRIES: u32 = 32;

/// `struct loop_config`, with `struct loop_info64` in it; all fields but these three stay 0.
#[repr(C)]
struct Config {
    file: u32,
    block_bytes: u32,
    info_before_flags: [u64; 6],
    /// Of an encryption, which is not used.
    key_bytes: u32,
    flags: u32,
    info_after_flags: [u64; 22],
    reserved: [u64; 8],
}

const _: () = assert!(size_of::<Config>() == 304);

/// Whether loop devices can be had at all.
pub fn check() -> io::Result<()> {
    control().map(drop)
}

fn control() -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(CONTROL)
}

/// Attaches a file; the device is free again when nobody has it open, or mounted.
pub fn attach(image: File) -> io::Result<(File, PathBuf)> {
    let control = control()?;
    let config = Config {
        file: image.as_raw_fd() as u32,
        block_bytes: 0,
        info_before_flags: [0; 6],
        key_bytes: 0,
        flags: LO_FLAGS_AUTOCLEAR,
        info_after_flags: [0; 22],
        reserved: [0; 8],
    };
    for _ in 0..TRIES {
        // SAFETY: the request takes no argument.
        let number = Errno::result(unsafe { libc::ioctl(control.as_raw_fd(), LOOP_CTL_GET_FREE) })?;
        let path = PathBuf::from(format!("/dev/loop{number}"));
        let device = OpenOptions::new().read(true).write(true).open(&path).map_err(|error| {
            let hint = "a container that has only some loop devices needs more of them";
            io::Error::new(error.kind(), format!("{}: {error}; {hint}", path.display()))
        })?;
        // SAFETY: `config` is a whole `struct loop_config`, and the kernel only reads it.
        match Errno::result(unsafe { libc::ioctl(device.as_raw_fd(), LOOP_CONFIGURE, &raw const config) }) {
            Ok(_) => return Ok((device, path)),
            Err(Errno::EBUSY) => {}
            Err(error) => return Err(error.into()),
        }
    }
    Err(io::Error::other("other programs take every free loop device first"))
}
