//! Where things are in a process that is dilated; the agent and the image agree on it.

use super::map::Map;

/// Where the image begins in every process. It is a constant, because the filter compares instruction pointers with it.
/// Above the shadow memory of sanitizers and below what the kernel hands out itself.
pub const ADDRESS: u64 = 0x2000_0000_0000;
/// Bytes of the first page, which has the parameters and can be written; the code follows.
pub const PAGE: u64 = 4096;
/// Bytes that the filter takes for the image; at least its size, and its low 32 bits do not overflow.
pub const RESERVED: u64 = 0x1_0000;

/// Begins the parameters.
pub const MAGIC: u64 = 0x4e49_5753_534f_5243;

/// Timers of a process whose clock is remembered; with more, creating one is refused.
pub const TIMERS: usize = 1024;

/// The data of a seccomp trap that is ours, not of a filter that the program made.
pub const TRAP: u16 = 0xd11a;

/// A call that does not exist. The image makes it to report; the filter hands it to the supervisor.
pub const REPORT: u64 = 0x3000;

/// What the image reports, the first argument of [`REPORT`].
pub const REPORTS: [&str; 6] = [
    "SO_TIMESTAMP",
    "SIOCGSTAMP",
    "timerfd_settime (clock unknown)",
    "timer_create (too many)",
    "setsockopt (time too long)",
    "clock_gettime (clock of a device)",
];

/// The first page of the image.
#[repr(C)]
pub struct Parameters {
    pub magic: u64,
    pub map: Map,
    /// Address of the kernel's `__vdso_clock_gettime` in this process; 0 where it has none.
    pub clock_gettime: u64,
    /// Address of the kernel's `__vdso_getcpu`; 0 where it has none.
    pub getcpu: u64,
    /// The kernel's vDSO: first address and first address behind it.
    pub vdso: [u64; 2],
    /// What the program set for SIGSYS, as rt_sigaction takes it.
    pub sigsys: Action,
    /// The clock of each POSIX timer.
    pub timer_clocks: [u8; TIMERS],
}

/// `struct sigaction` of the kernel.
#[repr(C)]
#[derive(Clone, Copy)]
pub struct Action {
    pub handler: u64,
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
}
