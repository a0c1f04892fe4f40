//! System calls, the program's memory, and the parameters.

use core::arch::{asm, global_asm};

use crate::layout::{Parameters, ADDRESS, READS, REPORT};

pub const EINVAL: i64 = -22;
pub const ENOENT: i64 = -2;
pub const EAGAIN: i64 = -11;
pub const ENOPROTOOPT: i64 = -92;
pub const ENOSYS: i64 = -38;

pub type Arguments = [u64; 6];

/// Seconds and nanoseconds, or with `timeval` microseconds.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Timespec {
    pub seconds: i64,
    pub ns: i64,
}

/// Makes a system call; returns the result or a negative error number.
pub fn call(number: u64, [a, b, c, d, e, f]: Arguments) -> i64 {
    let result;
    // SAFETY: the arguments are those of the program, or point to live values of the caller; a call of the kernel
    // changes nothing else of this program than what its description says.
    unsafe {
        asm!("syscall", inlateout("rax") number => result, in("rdi") a, in("rsi") b, in("rdx") c, in("r10") d,
             in("r8") e, in("r9") f, lateout("rcx") _, lateout("r11") _, options(nostack));
    }
    result
}

/// The address of a symbol of the image's code. Rust would read it from a table that nobody relocates.
macro_rules! code_at {
    ($symbol:literal) => {{
        let address: u64;
        // SAFETY: computes an address.
        unsafe {
            core::arch::asm!(concat!("lea {}, [rip + ", $symbol, "]"), out(reg) address,
                             options(nomem, nostack, preserves_flags));
        }
        address
    }};
}
pub(crate) use code_at;

/// Reports something that has no call of its own, to be counted by the supervisor.
pub fn report(what: u64) {
    call(REPORT, [what, 0, 0, 0, 0, 0]);
}

/// Reports that the time-stamp counter was read in the page of this address, [`crate::layout::READS_NAMED`] times.
pub fn report_reads(at: u64) {
    call(REPORT, [READS, at, 0, 0, 0, 0]);
}

/// The parameters of this process.
pub fn parameters() -> &'static Parameters {
    // SAFETY: the supervisor mapped and filled this page before the program ran its first instruction. Fields that
    // change are read and written by address (`peek`, `poke`).
    unsafe { &*(ADDRESS as *const Parameters) }
}

/// Reads what the program passed by address. An address that is not mapped faults here, where the call would have
/// failed with EFAULT.
pub fn peek<T: Copy>(at: u64) -> T {
    // SAFETY: see above; any bytes are a value of the types used here, which are integers.
    unsafe { (at as *const T).read_unaligned() }
}

/// Writes what the program expects at an address; as `peek`.
pub fn poke<T: Copy>(at: u64, value: T) {
    // SAFETY: the kernel would have written there too.
    unsafe { (at as *mut T).write_unaligned(value) }
}

/// The address of a value on the stack, for a system call.
pub fn address<T>(value: &T) -> u64 {
    core::ptr::from_ref(value) as u64
}

/// As [`address`], of a value that the call writes.
pub fn address_mut<T>(value: &mut T) -> u64 {
    core::ptr::from_mut(value) as u64
}

// The kernel returns from the handler to the restorer. Unwinders recognise it by exactly these bytes.
global_asm!(
    ".globl crosswind_restorer",
    ".type crosswind_restorer, @function",
    "nop",
    "crosswind_restorer:",
    ".byte 0x48, 0xc7, 0xc0, 0x0f, 0x00, 0x00, 0x00",
    "syscall",
    ".size crosswind_restorer, . - crosswind_restorer",
);
