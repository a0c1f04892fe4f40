//! Puts the image into a process that is about to run a new program.

use std::io;

use crate::image::{Image, ACTION_ADDRESS, CODE, CODE_ADDRESS};
use crate::layout::{ADDRESS, PAGE};
use crate::tracee::Tracee;

const AT_SYSINFO_EHDR: u64 = 33;
const SIGSYS: u64 = 31;
const MASK_BYTES: u64 = 8;
/// Bytes of arguments and environment that the kernel accepts at most, as words, and some for the auxiliary vector.
const STACK_WORDS_MAX: usize = (6 << 20) / 8;
/// Words read of the stack at a time.
const WORDS: usize = 512;

/// The process runs its program afterwards, dilated. On failure it has not run an instruction.
pub fn inject(image: &Image, process: i32) -> io::Result<()> {
    let mut tracee = Tracee::take(process)?;
    let vdso = find_vdso(&tracee)?;
    let address = vdso.map_or(Ok(0), |entry| word(&tracee, entry))?;
    map(image, &mut tracee, address)?;
    if let Some(entry) = vdso {
        tracee.write(entry, &CODE_ADDRESS.to_ne_bytes())?;
    }
    tracee.release(1 << (SIGSYS - 1))
}

fn map(image: &Image, tracee: &mut Tracee, vdso: u64) -> io::Result<()> {
    let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_FIXED_NOREPLACE;
    let writable = (libc::PROT_READ | libc::PROT_WRITE) as u64;
    let executable = (libc::PROT_READ | libc::PROT_EXEC) as u64;
    let none = u64::MAX;
    let at = tracee.call(libc::SYS_mmap, [ADDRESS, Image::bytes(), writable, flags as u64, none, 0])?;
    if at != ADDRESS {
        return Err(io::Error::other("this kernel does not map memory at a fixed address"));
    }
    tracee.write(ADDRESS, &image.parameters(vdso))?;
    tracee.write(CODE_ADDRESS, CODE)?;
    let action: Vec<u8> = image.action().iter().flat_map(|word| word.to_ne_bytes()).collect();
    tracee.write(ACTION_ADDRESS, &action)?;
    tracee.call(libc::SYS_mprotect, [CODE_ADDRESS, Image::bytes() - PAGE, executable, 0, 0, 0])?;
    let arguments = [SIGSYS, ACTION_ADDRESS, 0, MASK_BYTES, 0, 0];
    tracee.call_from(image.syscall(), libc::SYS_rt_sigaction, arguments).map(drop)
}

/// The address of the value of AT_SYSINFO_EHDR in the auxiliary vector; `None` where the process has no vDSO.
fn find_vdso(tracee: &Tracee) -> io::Result<Option<u64>> {
    let mut words = Words { tracee, at: tracee.stack(), left: Vec::new(), read: 0 };
    // The number of arguments; then the arguments and the environment, each up to a null.
    words.next()?;
    while words.next()?.1 != 0 {}
    while words.next()?.1 != 0 {}
    loop {
        let (_, key) = words.next()?;
        let (value_at, _) = words.next()?;
        match key {
            0 => return Ok(None),
            AT_SYSINFO_EHDR => return Ok(Some(value_at)),
            _ => {}
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
