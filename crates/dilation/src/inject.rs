//! Puts the image into a process that is about to run a new program.

use std::io;

use crate::image::{Image, CODE, CODE_ADDRESS};
use crate::layout::{ADDRESS, PAGE};
use crate::tracee::Tracee;

const AT_ENTRY: u64 = 9;
const AT_SYSINFO_EHDR: u64 = 33;
const SIGSYS: u64 = 31;
const SIGSEGV: u64 = 11;
/// Bytes of arguments and environment that the kernel accepts at most, as words, and some for the auxiliary vector.
const STACK_WORDS_MAX: usize = (6 << 20) / 8;
/// Words read of the stack at a time.
const WORDS: usize = 512;

/// The process runs its program afterwards, dilated. On failure it has not run an instruction.
///
/// `watched`: whether readings of the time-stamp counter are counted from the program's first instruction on. Where that
/// comes behind a dynamic loader, the loader is given another address of it.
pub fn inject(image: &Image, process: i32, watched: bool) -> io::Result<()> {
    let mut tracee = Tracee::take(process)?;
    let [vdso, entry] = find(&tracee, [AT_SYSINFO_EHDR, AT_ENTRY])?;
    let value = |at: Option<u64>| at.map_or(Ok(0), |at| word(&tracee, at));
    let (address, begins) = (value(vdso)?, value(entry)?);
    let mut start = tracee.begins();
    if let (true, Some(at)) = (watched, entry) {
        if start == begins {
            start = image.entry;
        } else {
            tracee.write(at, &image.entry.to_ne_bytes())?;
        }
    }
    map(&mut tracee, &image.parameters(address, [start, begins], watched))?;
    if let Some(at) = vdso {
        tracee.write(at, &CODE_ADDRESS.to_ne_bytes())?;
    }
    tracee.begin_at(image.start);
    tracee.release(1 << (SIGSYS - 1) | 1 << (SIGSEGV - 1))
}

fn map(tracee: &mut Tracee, parameters: &[u8]) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let writable = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let executable = (libc::PROT_READ | libc::PROT_EXEC) as u64;
    let none = u64::MAX;
    let at = tracee.call(libc::SYS_mmap, [ADDRESS, Image::bytes(), writable, flags as u64, none, 0])?;
    if at != ADDRESS {
        return Err(io::Error::other("this kernel does not map memory at a fixed address"));
    }
    tracee.write(ADDRESS, parameters)?;
    tracee.write(CODE_ADDRESS, CODE)?;
    tracee.call(libc::SYS_mprotect, [CODE_ADDRESS, Image::bytes() - PAGE, executable, 0, 0, 0]).map(drop)
}

/// The addresses of some values in the auxiliary vector, by key; `None` where the process has none of this key.
fn find<const N: usize>(tracee: &Tracee, keys: [u64; N]) -> io::Result<[Option<u64>; N]> {
    let mut words = Words { tracee, at: tracee.stack(), left: Vec::new(), read: 0 };
    let mut found = [None; N];
    // The number of arguments; then the arguments and the environment, each up to a null.
    words.next()?;
    while words.next()?.1 != 0 {}
    while words.next()?.1 != 0 {}
    loop {
        let (_, key) = words.next()?;
        let (value_at, _) = words.next()?;
        if key == 0 {
            return Ok(found);
        }
        if let Some(at) = keys.iter().position(|&sought| sought == key) {
            found[at] = Some(value_at);
        }
    }
}

fn word(tracee: &Tracee, at: u64) -> io::Result<u64> {
    let mut bytes = [0; 8];
    tracee.read(at, &mut bytes)?;
    Ok(u64::from_ne_bytes(bytes))
}

/// The words of a stack upwards, read in pieces that end with their page.
struct Words<'a> {
    tracee: &'a Tracee,
    at: u64,
    /// In reverse.
    left: Vec<u64>,
    read: usize,
}

impl Words<'_> {
    /// The next word and its address.
    fn next(&mut self) -> io::Result<(u64, u64)> {
        if self.left.is_empty() {
            let page = (WORDS * 8) as u64;
            let length = (page - self.at % page) as usize;
            let mut bytes = vec![0; length];
            self.tracee.read(self.at, &mut bytes)?;
            self.left = bytes.chunks_exact(8).rev().map(number).collect();
            self.read += self.left.len();
            if self.read > STACK_WORDS_MAX {
                return Err(io::Error::other("its stack has no end"));
            }
        }
        let word = self.left.pop().unwrap_or_default();
        self.at += 8;
        Ok((self.at - 8, word))
    }
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().rev().fold(0, |number, byte| number << 8 | u64::from(*byte))
}
