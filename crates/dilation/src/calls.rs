//! The table: every system call with a time in it, where the time is, and when the filter passes the call on.
//!
//! A call that is not in the table passes untouched. Numbers are those of x86-64.

/// A system call.
#[derive(Clone, Copy)]
pub struct Call {
    pub name: &'static str,
    pub number: u32,
    /// Any of these; none means always.
    pub when: &'static [When],
    pub what: What,
}

/// A condition on the arguments, numbered from 0, that the filter can check.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// A pointer that is not null.
    Given(u8),
    /// An `int` above 0.
    Positive(u8),
    /// The request of a futex is one of these, and its time is given (argument 3).
    FutexWaits(&'static [u32]),
    /// Level and option of a socket are these.
    Option(u32, &'static [u32]),
    /// Argument 1 is one of these.
    Request(&'static [u32]),
    /// Argument 0 is one of these.
    First(&'static [u32]),
}

/// What happens to the call.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum What {
    /// The supervisor counts and allows it, and puts the image into the new program.
    Execute,
    /// The supervisor counts it and answers ENOSYS.
    Refuse,
    /// The kernel seems not to have it, so that programs make another call, which has the same effect.
    Absent,
    /// A wait of a duration.
    Wait(Wait),
    /// A wait until an instant, a timespec.
    Until {
        at: u8,
        clock: Clock,
    },
    ReadClock,
    ReadTimeOfDay,
    ReadSeconds,
    ReadTicks,
    ReadUptime,
    /// A `struct rusage` in this argument.
    ReadUsage(u8),
    ClockNanosleep,
    Futex,
    TimerfdSettime,
    TimerfdGettime,
    TimerCreate,
    TimerSettime,
    TimerGettime,
    Setitimer,
    Getitimer,
    Alarm,
    SetOption,
    GetOption,
    Ioctl,
    SignalAction,
    SignalMask,
    /// A seccomp filter of the program's own.
    OwnFilter,
}

/// The arguments of a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    pub time: Time,
    pub left: Left,
    pub mask: Mask,
}

/// Where a duration is, and in which form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Time {
    None,
    /// An `int` of milliseconds.
    Milliseconds(u8),
    Timespec(u8),
    Timeval(u8),
}

/// Where the kernel writes what is left of the duration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Left {
    Nowhere,
    /// Over the duration.
    InPlace,
    Argument(u8),
}

/// Where a signal mask is that applies while the call waits. SIGSYS is taken out of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mask {
    None,
    Argument(u8),
    /// In a structure: pointer and length.
    Packed(u8),
}

/// The clock of an instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Clock {
    Realtime,
    Argument(u8),
}

const fn call(name: &'static str, number: u32, when: &'static [When], what: What) -> Call {
    Call { name, number, when, what }
}

const fn wait(time: Time, left: Left, mask: Mask) -> What {
    What::Wait(Wait { time, left, mask })
}

use Left::{InPlace, Nowhere};
use Time::{Milliseconds, Timespec, Timeval};
use What::*;
use When::{First, FutexWaits, Given, Option, Positive, Request};

/// SOL_SOCKET: SO_RCVTIMEO and SO_SNDTIMEO in both forms, SO_LINGER, SO_TIMESTAMP, SO_TIMESTAMPNS and SO_TIMESTAMPING in
/// both forms, SO_MAX_PACING_RATE.
const SOCKET: When = Option(1, &[20, 21, 66, 67, 13, 29, 35, 37, 63, 64, 65, 47]);
/// IPPROTO_TCP: TCP_KEEPIDLE, TCP_KEEPINTVL, TCP_LINGER2, TCP_DEFER_ACCEPT, TCP_USER_TIMEOUT, TCP_INFO,
/// TCP_TX_DELAY, TCP_RTO_MAX_MS, TCP_RTO_MIN_US, TCP_DELACK_MAX_US.
const TCP: When = Option(6, &[4, 5, 8, 9, 18, 11, 37, 44, 45, 46]);
/// FUTEX_WAIT, FUTEX_LOCK_PI, FUTEX_WAIT_BITSET, FUTEX_WAIT_REQUEUE_PI, FUTEX_LOCK_PI2.
const FUTEX: When = FutexWaits(&[0, 6, 9, 11, 13]);
/// SIOCGSTAMP and SIOCGSTAMPNS in both forms.
const STAMPS: When = Request(&[0x8906, 0x8907, 0x8010_8906, 0x8010_8907]);

/// All calls, each once.
pub const CALLS: &[Call] = &[
    call("execve", 59, &[], Execute),
    call("execveat", 322, &[], Execute),
    call("io_uring_setup", 425, &[], Refuse),
    call("io_uring_enter", 426, &[], Refuse),
    call("io_uring_register", 427, &[], Refuse),
    call("adjtimex", 159, &[], Refuse),
    call("clock_adjtime", 305, &[], Refuse),
    // It can reset all signal handlers of the new process, the image's too. C libraries fall back on clone.
    call("clone3", 435, &[], Absent),
    call("clock_gettime", 228, &[], ReadClock),
    call("gettimeofday", 96, &[], ReadTimeOfDay),
    call("time", 201, &[], ReadSeconds),
    call("times", 100, &[], ReadTicks),
    call("sysinfo", 99, &[], ReadUptime),
    call("getrusage", 98, &[], ReadUsage(1)),
    call("wait4", 61, &[Given(3)], ReadUsage(3)),
    call("waitid", 247, &[Given(4)], ReadUsage(4)),
    call("nanosleep", 35, &[], wait(Timespec(0), Left::Argument(1), Mask::None)),
    call("clock_nanosleep", 230, &[], ClockNanosleep),
    call("poll", 7, &[Positive(2)], wait(Milliseconds(2), Nowhere, Mask::None)),
    call("ppoll", 271, &[Given(2), Given(3)], wait(Timespec(2), InPlace, Mask::Argument(3))),
    call("select", 23, &[Given(4)], wait(Timeval(4), InPlace, Mask::None)),
    call("pselect6", 270, &[Given(4), Given(5)], wait(Timespec(4), InPlace, Mask::Packed(5))),
    call("epoll_wait", 232, &[Positive(3)], wait(Milliseconds(3), Nowhere, Mask::None)),
    call("epoll_pwait", 281, &[Positive(3), Given(4)], wait(Milliseconds(3), Nowhere, Mask::Argument(4))),
    call("epoll_pwait2", 441, &[Given(3), Given(4)], wait(Timespec(3), Nowhere, Mask::Argument(4))),
    call("rt_sigsuspend", 130, &[], wait(Time::None, Nowhere, Mask::Argument(0))),
    call("rt_sigtimedwait", 128, &[Given(2)], wait(Timespec(2), Nowhere, Mask::None)),
    call("semtimedop", 220, &[Given(3)], wait(Timespec(3), Nowhere, Mask::None)),
    call("io_getevents", 208, &[Given(4)], wait(Timespec(4), Nowhere, Mask::None)),
    call("io_pgetevents", 333, &[Given(4), Given(5)], wait(Timespec(4), Nowhere, Mask::Packed(5))),
    call("recvmmsg", 299, &[Given(4)], wait(Timespec(4), InPlace, Mask::None)),
    call("futex", 202, &[FUTEX], Futex),
    call("futex_waitv", 449, &[Given(3)], Until { at: 3, clock: Clock::Argument(4) }),
    call("futex_wait", 455, &[Given(4)], Until { at: 4, clock: Clock::Argument(5) }),
    call("mq_timedsend", 242, &[Given(4)], Until { at: 4, clock: Clock::Realtime }),
    call("mq_timedreceive", 243, &[Given(4)], Until { at: 4, clock: Clock::Realtime }),
    call("timerfd_settime", 286, &[], TimerfdSettime),
    call("timerfd_gettime", 287, &[], TimerfdGettime),
    call("timer_create", 222, &[], TimerCreate),
    call("timer_settime", 223, &[], TimerSettime),
    call("timer_gettime", 224, &[], TimerGettime),
    call("setitimer", 38, &[], Setitimer),
    call("getitimer", 36, &[], Getitimer),
    call("alarm", 37, &[], Alarm),
    call("setsockopt", 54, &[SOCKET, TCP], SetOption),
    call("getsockopt", 55, &[SOCKET, TCP], GetOption),
    call("ioctl", 16, &[STAMPS], Ioctl),
    // The image shows a program its own actions for SIGSEGV and SIGSYS. C libraries look at all others before each spawn.
    call("rt_sigaction", 13, &[Given(1), First(&[11, 31])], SignalAction),
    call("rt_sigprocmask", 14, &[Given(1)], SignalMask),
    // SECCOMP_SET_MODE_STRICT, SECCOMP_SET_MODE_FILTER; PR_SET_SECCOMP.
    call("seccomp", 317, &[First(&[0, 1])], OwnFilter),
    call("prctl", 157, &[First(&[22])], OwnFilter),
];
