//! The seccomp filter, from the table: which calls trap into the image, and which the supervisor decides.
//!
//! Calls that are not in the table are decided by their number alone, which the kernel remembers: they cost nothing.

use std::io;
use std::os::fd::{FromRawFd, OwnedFd};

use libc::{
    sock_filter, BPF_ABS, BPF_ALU, BPF_AND, BPF_JEQ, BPF_JGE, BPF_JMP, BPF_K, BPF_LD, BPF_RET, BPF_W,
    SECCOMP_RET_ALLOW, SECCOMP_RET_ERRNO, SECCOMP_RET_TRAP, SECCOMP_RET_USER_NOTIF,
};
use nix::errno::Errno;

use crate::calls::{Call, What, When, CALLS};
use crate::layout::{ADDRESS, REPORT, RESERVED, TRAP};

/// AUDIT_ARCH_X86_64.
pub const X86_64: u32 = 0xc000_003e;
/// The bit in the numbers of calls with 32-bit pointers.
pub const X32: u32 = 0x4000_0000;

/// Fields of `struct seccomp_data`.
const NUMBER: u32 = 0;
const ARCHITECTURE: u32 = 4;
const INSTRUCTION: u32 = 8;
const ARGUMENTS: u32 = 16;

const TRAPPED: u32 = SECCOMP_RET_TRAP | TRAP as u32;
const ABSENT: u32 = SECCOMP_RET_ERRNO | libc::ENOSYS as u32;
/// FUTEX_CMD_MASK.
const FUTEX_COMMAND: u32 = 127;

/// Puts the filter on this process and everything that it will start; returns where the supervisor listens. The process
/// must be one that cannot gain privileges, or have CAP_SYS_ADMIN. Once the supervisor has read a call, only death ends the
/// wait for its answer: the supervisor may ask for a stop before it answers.
pub fn install() -> io::Result<OwnedFd> {
    let program = program();
    let program = libc::sock_fprog { len: program.len() as u16, filter: program.as_ptr().cast_mut() };
    // SAFETY: the program lives until the call returns; the kernel copies it.
    let file = unsafe {
        libc::syscall(
            libc::SYS_seccomp,
            libc::SECCOMP_SET_MODE_FILTER,
            libc::SECCOMP_FILTER_FLAG_NEW_LISTENER | libc::SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV,
            &raw const program,
        )
    };
    // SAFETY: on success the descriptor is new and ours.
    Errno::result(file).map(|file| unsafe { OwnedFd::from_raw_fd(file as i32) }).map_err(io::Error::from)
}

fn program() -> Vec<sock_filter> {
    let mut program = vec![load(ARCHITECTURE), jump(BPF_JEQ, X86_64, 1, 0), answer(SECCOMP_RET_USER_NOTIF)];
    program.extend([load(NUMBER), jump(BPF_JGE, X32, 0, 1), answer(SECCOMP_RET_USER_NOTIF)]);
    program.extend([jump(BPF_JEQ, REPORT as u32, 0, 1), answer(SECCOMP_RET_USER_NOTIF)]);
    for call in CALLS {
        let block = block(call);
        program.push(jump(BPF_JEQ, call.number, 0, block.len()));
        program.extend(block);
    }
    program.push(answer(SECCOMP_RET_ALLOW));
    program
}

/// Decides one call; always returns.
fn block(call: &Call) -> Vec<sock_filter> {
    if matches!(call.what, What::Execute | What::Refuse) {
        return vec![answer(SECCOMP_RET_USER_NOTIF)];
    }
    if call.what == What::Absent {
        return vec![answer(ABSENT)];
    }
    // The image's own calls pass.
    let mut block = vec![
        load(INSTRUCTION + 4),
        jump(BPF_JEQ, (ADDRESS >> 32) as u32, 0, 3),
        load(INSTRUCTION),
        jump(BPF_JGE, RESERVED as u32, 1, 0),
        answer(SECCOMP_RET_ALLOW),
    ];
    if call.when.is_empty() {
        block.push(answer(TRAPPED));
        return block;
    }
    for when in call.when {
        block.extend(condition(*when));
    }
    block.push(answer(SECCOMP_RET_ALLOW));
    block
}

/// Traps where the condition holds, and goes on behind itself where it does not.
fn condition(when: When) -> Vec<sock_filter> {
    match when {
        When::Given(at) => vec![
            load(argument(at)),
            jump(BPF_JEQ, 0, 0, 2),
            load(argument(at) + 4),
            jump(BPF_JEQ, 0, 1, 0),
            answer(TRAPPED),
        ],
        When::Positive(at) => {
            vec![load(argument(at)), jump(BPF_JEQ, 0, 2, 0), jump(BPF_JGE, 1 << 31, 1, 0), answer(TRAPPED)]
        }
        When::FutexWaits(commands) => {
            let masked =
                sock_filter { code: (BPF_ALU | BPF_AND | BPF_K) as u16, jt: 0, jf: 0, k: FUTEX_COMMAND };
            let mut steps = vec![load(argument(1)), masked];
            steps.extend(one_of(commands, condition(When::Given(3))));
            steps
        }
        When::Option(level, options) => {
            let inner: Vec<_> =
                [load(argument(2))].into_iter().chain(one_of(options, vec![answer(TRAPPED)])).collect();
            let mut steps = vec![load(argument(1)), jump(BPF_JEQ, level, 0, inner.len())];
            steps.extend(inner);
            steps
        }
        When::Request(requests) => is(1, requests),
        When::First(numbers) => is(0, numbers),
    }
}

/// Traps where the argument is one of these.
fn is(at: u8, numbers: &[u32]) -> Vec<sock_filter> {
    let mut steps = vec![load(argument(at))];
    steps.extend(one_of(numbers, vec![answer(TRAPPED)]));
    steps
}

/// Runs `then` where the number at hand is one of these, and goes on behind it where it is not.
fn one_of(numbers: &[u32], then: Vec<sock_filter>) -> Vec<sock_filter> {
    let last = numbers.len() - 1;
    let tests = numbers.iter().enumerate().map(|(at, &number)| {
        let otherwise = if at == last { then.len() } else { 0 };
        jump(BPF_JEQ, number, last - at, otherwise)
    });
    tests.chain(then.iter().copied()).collect()
}

fn argument(at: u8) -> u32 {
    ARGUMENTS + 8 * u32::from(at)
}

fn load(field: u32) -> sock_filter {
    sock_filter { code: (BPF_LD | BPF_W | BPF_ABS) as u16, jt: 0, jf: 0, k: field }
}

fn answer(action: u32) -> sock_filter {
    sock_filter { code: (BPF_RET | BPF_K) as u16, jt: 0, jf: 0, k: action }
}

/// # Panics
/// When a jump is longer than 255 instructions; the test below makes every jump.
fn jump(test: u32, number: u32, holds: usize, otherwise: usize) -> sock_filter {
    let short = |steps| u8::try_from(steps).expect("a jump of the filter fits a byte");
    sock_filter { code: (BPF_JMP | test | BPF_K) as u16, jt: short(holds), jf: short(otherwise), k: number }
}

#[cfg(test)]
#[path = "filter_tests.rs"]
mod tests;
