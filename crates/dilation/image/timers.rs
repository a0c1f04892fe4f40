//! Timers: first expiry and interval are stretched when they are set and shrunk when they are read.

use core::mem::MaybeUninit;

use crate::clocks::{real_instant, timespec};
use crate::kernel::{address, address_mut, call, parameters, peek, poke, report, Timespec, EAGAIN, ENOSYS};
use crate::map::{from_timespec, SECOND_NS};

const TIMERFD_SETTIME: u64 = 286;
const TIMER_CREATE: u64 = 222;
const TIMER_SETTIME: u64 = 223;
const TIMER_DELETE: u64 = 226;
const SETITIMER: u64 = 38;
const GETITIMER: u64 = 36;
const ALARM: u64 = 37;
const ABSTIME: u64 = 1;

/// `struct itimerspec`, or `struct itimerval`.
#[repr(C)]
#[derive(Clone, Copy)]
struct Timer {
    interval: Timespec,
    value: Timespec,
}

const OFF: Timer = Timer { interval: Timespec { seconds: 0, ns: 0 }, value: Timespec { seconds: 0, ns: 0 } };

pub fn timerfd_settime(file: u64, flags: u64, new: u64, old: u64) -> i64 {
    let clock = if flags & ABSTIME == 0 {
        0
    } else {
        match clock_of_file(file) {
            Some(clock) => clock,
            None => {
                report(2);
                return ENOSYS;
            }
        }
    };
    set(TIMERFD_SETTIME, file, flags, new, old, clock)
}

pub fn settime(timer: u64, flags: u64, new: u64, old: u64) -> i64 {
    let clocks = &parameters().timer_clocks;
    let clock = clocks.get(timer as usize).map_or(0, |clock| peek::<i8>(address(clock)));
    set(TIMER_SETTIME, timer, flags, new, old, i32::from(clock))
}

fn set(number: u64, which: u64, flags: u64, new: u64, old: u64, clock: i32) -> i64 {
    let given: Timer = peek(new);
    let mut wanted = given;
    let mut before = OFF;
    let value = from_timespec(given.value.seconds, given.value.ns);
    let interval = from_timespec(given.interval.seconds, given.interval.ns);
    if let (Some(value), Some(interval)) = (value, interval) {
        let map = &parameters().map;
        wanted.interval = timespec(map.stretch(interval));
        wanted.value = timespec(match (value, flags & ABSTIME) {
            // Off, for either kind.
            (0, _) => 0,
            (_, 0) => map.stretch(value),
            // 0 would switch it off; an instant in the past expires at once.
            _ => real_instant(clock, value).max(1),
        });
    }
    let old_at = if old == 0 { 0 } else { address_mut(&mut before) };
    let result = call(number, [which, flags, address(&wanted), old_at, 0, 0]);
    if result == 0 && old != 0 {
        poke(old, shrunk(before, 1));
    }
    result
}

pub fn gettime(number: u64, which: u64, to: u64) -> i64 {
    let mut now = OFF;
    let result = call(number, [which, address_mut(&mut now), 0, 0, 0, 0]);
    if result == 0 {
        poke(to, shrunk(now, 1));
    }
    result
}

pub fn create(clock: u64, event: u64, to: u64) -> i64 {
    let result = call(TIMER_CREATE, [clock, event, to, 0, 0, 0]);
    if result != 0 {
        return result;
    }
    let number: i32 = peek(to);
    // Clocks of CPU time have negative numbers too, which end on their lowest bits; all are stretched alike.
    let short = if (0..12).contains(&(clock as i32)) { clock as i8 } else { -1 };
    match parameters().timer_clocks.get(number as usize) {
        Some(clock) => poke(address(clock), short),
        None => {
            call(TIMER_DELETE, [number as u64, 0, 0, 0, 0, 0]);
            report(3);
            return EAGAIN;
        }
    }
    0
}

pub fn setitimer(which: u64, new: u64, old: u64) -> i64 {
    let mut before = OFF;
    let wanted;
    let new_at = if new == 0 {
        0
    } else {
        let given: Timer = peek(new);
        wanted = Timer { interval: stretched_us(given.interval), value: stretched_us(given.value) };
        address(&wanted)
    };
    let old_at = if old == 0 { 0 } else { address_mut(&mut before) };
    let result = call(SETITIMER, [which, new_at, old_at, 0, 0, 0]);
    if result == 0 && old != 0 {
        poke(old, shrunk(before, 1000));
    }
    result
}

pub fn getitimer(which: u64, to: u64) -> i64 {
    let mut now = OFF;
    let result = call(GETITIMER, [which, address_mut(&mut now), 0, 0, 0, 0]);
    if result == 0 {
        poke(to, shrunk(now, 1000));
    }
    result
}

/// The kernel counts whole seconds and takes 32 bits of them.
pub fn alarm(seconds: u64) -> i64 {
    let real = parameters().map.takes(seconds & 0xffff_ffff).min(i32::MAX as u64);
    let left = call(ALARM, [real, 0, 0, 0, 0, 0]);
    parameters().map.shrink_up(left)
}

/// A time in microseconds; one that the kernel would refuse stays.
fn stretched_us(given: Timespec) -> Timespec {
    match from_timespec(given.seconds, given.ns.saturating_mul(1000)) {
        Some(ns) => {
            let Timespec { seconds, ns } = timespec(parameters().map.stretch(ns));
            Timespec { seconds, ns: ns / 1000 }
        }
        None => given,
    }
}

/// `unit_ns`: of the smaller part, 1 or 1000.
fn shrunk(timer: Timer, unit_ns: i64) -> Timer {
    let shrink = |time: Timespec| {
        let ns = time.seconds.saturating_mul(SECOND_NS).saturating_add(time.ns * unit_ns);
        let up = parameters().map.shrink_up(ns);
        let Timespec { seconds, ns } = timespec(up.saturating_add(unit_ns - 1));
        let part = if unit_ns == 1 { ns } else { ns / 1000 };
        Timespec { seconds, ns: if up == 0 { 0 } else { part } }
    };
    Timer { interval: shrink(timer.interval), value: shrink(timer.value) }
}

/// The clock of a timer that is a file, from /proc; the file may have come from another process.
fn clock_of_file(file: u64) -> Option<i32> {
    const OPEN: u64 = 2;
    const READ: u64 = 0;
    const CLOSE: u64 = 3;
    const O_CLOEXEC: u64 = 0o2_000_000;
    let mut path = *b"/proc/self/fdinfo/0000000000\0";
    let mut rest = file & 0xffff_ffff;
    for digit in path.iter_mut().rev().skip(1).take(10) {
        *digit = b'0' + (rest % 10) as u8;
        rest /= 10;
    }
    // The kernel refuses leading zeros: move the digits to the front.
    let digits = 10 - path.iter().skip(18).take(9).take_while(|digit| **digit == b'0').count();
    let mut plain = *b"/proc/self/fdinfo/\0\0\0\0\0\0\0\0\0\0\0";
    for (to, from) in plain.iter_mut().skip(18).zip(path.iter().skip(28 - digits).take(digits)) {
        *to = *from;
    }
    let info = call(OPEN, [address(&plain), O_CLOEXEC, 0, 0, 0, 0]);
    if info < 0 {
        return None;
    }
    let mut text = MaybeUninit::<[u8; 512]>::uninit();
    let length = call(READ, [info as u64, address_mut(&mut text), 512, 0, 0, 0]);
    call(CLOSE, [info as u64, 0, 0, 0, 0, 0]);
    // SAFETY: the kernel wrote `length` bytes there, 512 at most.
    let text = unsafe { core::slice::from_raw_parts(text.as_ptr().cast::<u8>(), length.max(0) as usize) };
    let name = b"clockid: ";
    let at = text.windows(name.len()).position(|part| part == name)? + name.len();
    let digits = text.iter().skip(at).take_while(|byte| byte.is_ascii_digit());
    Some(digits.fold(0, |number: i32, digit| number.wrapping_mul(10).wrapping_add(i32::from(digit - b'0'))))
}
