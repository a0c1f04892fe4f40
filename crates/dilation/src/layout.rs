//! Where things are in a process that is dilated; the agent and the image agree on it.

use core::sync::atomic::AtomicU64;

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

/// The first argument of [`REPORT`] for readings of the time-stamp counter; an address of them follows.
pub const READS: u64 = 1 << 16;
/// From this number on, those from one page of code are reported.
/// Seeds of random numbers, and a frequency measured once, take fewer.
pub const READS_NAMED: u64 = 1000;

/// The watch for such readings ends after this number of them, or of readings of a clock.
pub const READS_MAX: u64 = 8192;
pub const CLOCKS_MAX: u64 = 1 << 14;

/// Actions for SIGSEGV that are remembered, the default and that of ignoring it first.
pub const FAULT_SLOTS: usize = 16;

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
    /// The first instruction of the process: the loader's, or [`Self::entry`] where it has none.
    pub start: u64,
    /// Where the program begins.
    pub entry: u64,
    pub watch: Watch,
    /// What the program set for SIGSEGV.
    pub faults: [Action; FAULT_SLOTS],
    /// What the program set for SIGSYS, as rt_sigaction takes it.
    pub sigsys: Action,
    /// The clock of each POSIX timer.
    pub timer_clocks: [u8; TIMERS],
}

/// How long readings of the time-stamp counter are counted, and how many there were.
#[repr(C)]
pub struct Watch {
    /// Readings of a clock until the watch ends; 0 where it has ended.
    pub clocks_left: AtomicU64,
    /// Readings of the counter until it ends.
    pub reads_left: AtomicU64,
    /// 1 where the process has a filter of its own or of its parents.
    pub filtered: AtomicU64,
    pub pages: [PageReads; 32],
}

/// Readings from a page of code; an address divided by its size, 0 for none.
#[repr(C)]
pub struct PageReads {
    pub page: AtomicU64,
    pub reads: AtomicU64,
}

/// `struct sigaction` of the kernel.
#[repr(C)]
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub struct Action {
    pub handler: u64,
    pub flags: u64,
    pub restorer: u64,
    pub mask: u64,
}
