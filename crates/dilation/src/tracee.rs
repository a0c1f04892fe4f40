//! One process in the moment in which it begins a program: stopped, changed, and let go.
//!
//! Its signals are blocked meanwhile, so that none comes between. Everything that fails because the process has been
//! killed is ESRCH.

use std::ffi::c_void;
use std::io;

use libc::{c_long, user_regs_struct};
use nix::errno::Errno;

const GETSIGMASK: Request = 0x420a;
const SETSIGMASK: Request = 0x420b;
const MASK_BYTES: usize = 8;
/// Added to the signal of a stop at a system call (PTRACE_O_TRACESYSGOOD).
const AT_CALL: i32 = libc::SIGTRAP | 0x80;
/// `syscall`, and the rest of its eight bytes.
const SYSCALL: u64 = 0x050f;
const CODE_SEGMENT_64: u64 = 0x33;
const EVENT_STOP: i32 = 128;

/// Why a process stopped.
#[derive(Debug, PartialEq, Eq)]
pub enum Stop {
    /// It is about to run a new program.
    Program,
    /// It begins or ends a system call.
    Call,
    /// Anything else, with the signal that it has to get.
    Other(i32),
    Ended,
}

/// Attaches to a thread without stopping it. It is killed should this process end.
pub fn attach(thread: i32) -> nix::Result<()> {
    let options = libc::PTRACE_O_TRACEEXEC | libc::PTRACE_O_TRACESYSGOOD | libc::PTRACE_O_EXITKILL;
    request(libc::PTRACE_SEIZE, thread, 0, options as u64).map(drop)
}

/// Asks for a stop at the latest when the call that it is in returns. A thread that is gone cannot stop.
pub fn interrupt(thread: i32) {
    let _ = request(libc::PTRACE_INTERRUPT, thread, 0, 0);
}

/// Lets a stopped process go on, with this signal.
pub fn detach(process: i32, signal: i32) {
    // One that has been killed is gone already.
    let _ = request(libc::PTRACE_DETACH, process, 0, signal as u64);
}

/// Waits until the attached thread stops, which may have another number then: a thread that begins a program becomes
/// its process.
pub fn next_stop() -> nix::Result<(i32, Stop)> {
    loop {
        let mut status = 0;
        // SAFETY: the status is written to a live integer.
        let process = unsafe { libc::waitpid(-1, &raw mut status, libc::__WALL) };
        match Errno::result(process) {
            Err(Errno::EINTR) => continue,
            Err(error) => return Err(error),
            Ok(process) => return Ok((process, stop_of(status))),
        }
    }
}

fn stop_of(status: i32) -> Stop {
    if !libc::WIFSTOPPED(status) {
        return Stop::Ended;
    }
    let (signal, event) = (libc::WSTOPSIG(status), status >> 16);
    match event {
        libc::PTRACE_EVENT_EXEC => Stop::Program,
        // Also a stop by SIGSTOP, which stays a stop.
        EVENT_STOP => Stop::Other(0),
        _ if signal == AT_CALL => Stop::Call,
        _ => Stop::Other(signal),
    }
}

/// A process that stands at the first instruction of its program, with its signals blocked.
pub struct Tracee {
    process: i32,
    registers: user_regs_struct,
    mask: u64,
    /// Where `syscall` is for the moment, and what belongs there.
    instruction: u64,
    replaced: u64,
    /// Signals that cannot be blocked and came meanwhile.
    missed: Vec<i32>,
}

impl Tracee {
    /// Takes a process over that has stopped for a new program.
    pub fn take(process: i32) -> io::Result<Self> {
        let mut mask = 0_u64;
        request(GETSIGMASK, process, MASK_BYTES as u64, (&raw mut mask) as u64)?;
        let all = u64::MAX;
        request(SETSIGMASK, process, MASK_BYTES as u64, (&raw const all) as u64)?;
        let mut missed = Vec::new();
        run_to_call(process, &mut missed)?;
        let registers = registers(process)?;
        if registers.cs != CODE_SEGMENT_64 {
            return Err(io::Error::other("it is a 32-bit program"));
        }
        // A word that does not cross a page: the first instruction may be the last of its page.
        let instruction = registers.rip & !7;
        let replaced = peek(process, instruction)?;
        poke(process, instruction, replaced & !0xffff | SYSCALL)?;
        Ok(Self { process, registers, mask, instruction, replaced, missed })
    }

    /// The stack pointer: the number of arguments, the arguments, the environment and the auxiliary vector follow.
    pub fn stack(&self) -> u64 {
        self.registers.rsp
    }

    /// The address of its first instruction.
    pub fn begins(&self) -> u64 {
        self.registers.rip
    }

    /// Lets it begin elsewhere.
    pub fn begin_at(&mut self, address: u64) {
        self.registers.rip = address;
    }

    /// Makes a system call in the process.
    pub fn call(&mut self, number: c_long, arguments: [u64; 6]) -> io::Result<u64> {
        let mut registers = self.registers;
        registers.rip = self.instruction;
        registers.rax = number as u64;
        // No call is to be repeated.
        registers.orig_rax = u64::MAX;
        [registers.rdi, registers.rsi, registers.rdx, registers.r10, registers.r8, registers.r9] = arguments;
        set_registers(self.process, &registers)?;
        run_to_call(self.process, &mut self.missed)?;
        run_to_call(self.process, &mut self.missed)?;
        let result = self::registers(self.process)?.rax as i64;
        if (-4095..0).contains(&result) {
            return Err(io::Error::from_raw_os_error(-result as i32));
        }
        Ok(result as u64)
    }

    /// Reads or writes the memory of the process.
    pub fn read(&self, at: u64, bytes: &mut [u8]) -> io::Result<()> {
        let here = libc::iovec { iov_base: bytes.as_mut_ptr().cast::<c_void>(), iov_len: bytes.len() };
        let there = libc::iovec { iov_base: at as *mut c_void, iov_len: bytes.len() };
        // SAFETY: `here` is a live slice; `there` is an address in another process.
        let read =
            unsafe { libc::process_vm_readv(self.process, &raw const here, 1, &raw const there, 1, 0) };
        whole(read, bytes.len())
    }

    pub fn write(&self, at: u64, bytes: &[u8]) -> io::Result<()> {
        let here = libc::iovec { iov_base: bytes.as_ptr().cast_mut().cast::<c_void>(), iov_len: bytes.len() };
        let there = libc::iovec { iov_base: at as *mut c_void, iov_len: bytes.len() };
        // SAFETY: `here` is a live slice that is only read; `there` is an address in another process.
        let written =
            unsafe { libc::process_vm_writev(self.process, &raw const here, 1, &raw const there, 1, 0) };
        whole(written, bytes.len())
    }

    /// Lets it begin its program, with its own signal mask except for these signals.
    pub fn release(self, unblocked: u64) -> io::Result<()> {
        poke(self.process, self.instruction, self.replaced)?;
        set_registers(self.process, &self.registers)?;
        let mask = self.mask & !unblocked;
        request(SETSIGMASK, self.process, MASK_BYTES as u64, (&raw const mask) as u64)?;
        for signal in self.missed {
            // SAFETY: kill touches no memory.
            unsafe { libc::kill(self.process, signal) };
        }
        detach(self.process, 0);
        Ok(())
    }
}

/// Runs until the next begin or end of a system call.
fn run_to_call(process: i32, missed: &mut Vec<i32>) -> io::Result<()> {
    request(libc::PTRACE_SYSCALL, process, 0, 0)?;
    loop {
        match next_stop()? {
            (_, Stop::Call) => return Ok(()),
            (_, Stop::Ended) => return Err(Errno::ESRCH.into()),
            (_, Stop::Program) => return Err(io::Error::other("it begins another program")),
            (_, Stop::Other(signal)) => {
                if signal != 0 {
                    missed.push(signal);
                }
                request(libc::PTRACE_SYSCALL, process, 0, 0)?;
            }
        }
    }
}

fn whole(moved: isize, all: usize) -> io::Result<()> {
    let moved = Errno::result(moved)?;
    if moved as usize == all {
        Ok(())
    } else {
        Err(Errno::EFAULT.into())
    }
}

fn registers(process: i32) -> nix::Result<user_regs_struct> {
    // SAFETY: all bytes zero is a value of this structure of integers.
    let mut registers: user_regs_struct = unsafe { std::mem::zeroed() };
    request(libc::PTRACE_GETREGS, process, 0, (&raw mut registers) as u64)?;
    Ok(registers)
}

fn set_registers(process: i32, registers: &user_regs_struct) -> nix::Result<()> {
    request(libc::PTRACE_SETREGS, process, 0, std::ptr::from_ref(registers) as u64).map(drop)
}

fn peek(process: i32, at: u64) -> nix::Result<u64> {
    Errno::clear();
    // SAFETY: the address is one of the other process.
    let word = unsafe { libc::ptrace(libc::PTRACE_PEEKTEXT, process, at, 0) };
    if word == -1 && Errno::last_raw() != 0 {
        return Err(Errno::last());
    }
    Ok(word as u64)
}

fn poke(process: i32, at: u64, word: u64) -> nix::Result<()> {
    request(libc::PTRACE_POKETEXT, process, at, word).map(drop)
}

/// The type in which the C library takes a request.
#[cfg(target_env = "musl")]
type Request = libc::c_int;
#[cfg(not(target_env = "musl"))]
type Request = libc::c_uint;

fn request(what: Request, process: i32, address: u64, data: u64) -> nix::Result<c_long> {
    // SAFETY: where `data` is an address, it is that of a live value of the type that the request takes.
    Errno::result(unsafe { libc::ptrace(what, process, address, data) })
}
