//! Waits: durations are stretched, instants are mapped, what is left of a duration is shrunk again.
//!
//! A time that the kernel would refuse is handed on as it is, so that the kernel refuses it.

use crate::calls::{Clock, Left, Mask, Time, Wait};
use crate::clocks::{real_instant, timespec};
use crate::kernel::{address, address_mut, call, parameters, peek, poke, Arguments, Timespec};
use crate::map::{from_timespec, MONOTONIC, REALTIME, SECOND_NS};
use crate::signals::without_own;

const EINTR: i64 = -4;
const TIMER_ABSTIME: u64 = 1;
const CLOCK_NANOSLEEP: u64 = 230;
/// Microseconds of a second.
const SECOND_US: i64 = 1_000_000;

/// An argument by its position.
pub fn argument(arguments: &Arguments, at: u8) -> u64 {
    arguments.get(usize::from(at)).copied().unwrap_or_default()
}

fn set(arguments: &mut Arguments, at: u8, value: u64) {
    if let Some(argument) = arguments.get_mut(usize::from(at)) {
        *argument = value;
    }
}

pub fn wait(number: u64, mut arguments: Arguments, wait: Wait) -> i64 {
    let given = arguments;
    let mut time = Timespec { seconds: 0, ns: 0 };
    let mut left = Timespec { seconds: 0, ns: 0 };
    let mut mask: u64 = 0;
    let mut packed: [u64; 2];
    let stretched = match wait.time {
        Time::None => false,
        Time::Milliseconds(at) => {
            set(&mut arguments, at, stretched_ms(argument(&given, at) as i32) as u64);
            false
        }
        Time::Timespec(at) => stretch(&mut arguments, at, &mut time, SECOND_NS),
        Time::Timeval(at) => stretch(&mut arguments, at, &mut time, SECOND_US),
    };
    match wait.mask {
        Mask::None => {}
        Mask::Argument(at) => replace_mask(&mut arguments, at, &mut mask),
        Mask::Packed(at) => {
            let there = argument(&given, at);
            if there != 0 {
                packed = peek(there);
                if packed[0] != 0 {
                    mask = without_own(peek(packed[0]));
                    packed[0] = address(&mask);
                }
                set(&mut arguments, at, address(&packed));
            }
        }
    }
    if let (true, Left::Argument(at)) = (stretched, wait.left) {
        if argument(&given, at) != 0 {
            set(&mut arguments, at, address_mut(&mut left));
        }
    }
    let result = call(number, arguments);
    if stretched {
        let (Time::Timespec(at) | Time::Timeval(at)) = wait.time else { return result };
        match wait.left {
            Left::Nowhere => {}
            Left::InPlace => give_back(argument(&given, at), peek(address(&time)), unit(wait.time)),
            Left::Argument(to) if result == EINTR && argument(&given, to) != 0 => {
                give_back(argument(&given, to), peek(address(&left)), unit(wait.time));
            }
            Left::Argument(_) => {}
        }
    }
    result
}

fn unit(time: Time) -> i64 {
    match time {
        Time::Timeval(_) => SECOND_US,
        _ => SECOND_NS,
    }
}

/// Writes what is left of a duration, as the program perceives it.
fn give_back(to: u64, left: Timespec, unit: i64) {
    let small = SECOND_NS / unit;
    let ns = left.seconds.saturating_mul(SECOND_NS).saturating_add(left.ns * small);
    let Timespec { seconds, ns } = timespec(parameters().map.shrink(ns));
    poke(to, Timespec { seconds, ns: ns / small });
}

/// Replaces a pointer to a duration by one to a stretched copy; `false` where there is none, or no valid one.
fn stretch(arguments: &mut Arguments, at: u8, copy: &mut Timespec, unit: i64) -> bool {
    let there = argument(arguments, at);
    if there == 0 {
        return false;
    }
    let Timespec { seconds, ns: part } = peek(there);
    let small = SECOND_NS / unit;
    // select takes more microseconds than a second has.
    let valid = if unit == SECOND_US && seconds >= 0 && part >= 0 {
        Some(seconds.saturating_mul(SECOND_NS).saturating_add(part.saturating_mul(small)))
    } else {
        from_timespec(seconds, part)
    };
    let Some(ns) = valid else { return false };
    let Timespec { seconds, ns } = timespec(parameters().map.stretch(ns));
    *copy = Timespec { seconds, ns: ns / small };
    set(arguments, at, address_mut(copy));
    true
}

/// A wait of more than 24 days, the most that the kernel can count in milliseconds, becomes that long.
fn stretched_ms(ms: i32) -> i32 {
    if ms <= 0 {
        return ms;
    }
    parameters().map.stretch(i64::from(ms)).min(i64::from(i32::MAX)) as i32
}

fn replace_mask(arguments: &mut Arguments, at: u8, copy: &mut u64) {
    let there = argument(arguments, at);
    if there != 0 {
        *copy = without_own(peek(there));
        set(arguments, at, address(copy));
    }
}

pub fn until(number: u64, mut arguments: Arguments, at: u8, clock: Clock) -> i64 {
    let clock = match clock {
        Clock::Realtime => REALTIME as i32,
        Clock::Argument(at) => argument(&arguments, at) as i32,
    };
    let mut real = Timespec { seconds: 0, ns: 0 };
    let there = argument(&arguments, at);
    if there != 0 && map_instant(clock, there, &mut real) {
        set(&mut arguments, at, address(&real));
    }
    call(number, arguments)
}

/// Maps the instant at an address; `false` where the kernel would refuse it.
pub fn map_instant(clock: i32, there: u64, real: &mut Timespec) -> bool {
    let Timespec { seconds, ns } = peek(there);
    let Some(due) = from_timespec(seconds, ns) else { return false };
    *real = timespec(real_instant(clock, due));
    true
}

pub fn clock_nanosleep(clock: i32, flags: u64, time: u64, left: u64) -> i64 {
    let arguments = [clock as u64, flags, time, left, 0, 0];
    if flags & TIMER_ABSTIME == 0 {
        let sort = Wait { time: Time::Timespec(2), left: Left::Argument(3), mask: Mask::None };
        return wait(CLOCK_NANOSLEEP, arguments, sort);
    }
    let mut real = Timespec { seconds: 0, ns: 0 };
    let Timespec { seconds, ns } = peek(time);
    let Some(due) = from_timespec(seconds, ns) else {
        return call(CLOCK_NANOSLEEP, arguments);
    };
    // The wall clock's steps are not perceived, so the wait is on the monotonic clock.
    if clock == REALTIME as i32 {
        real = timespec(parameters().map.real(REALTIME, due));
        return call(CLOCK_NANOSLEEP, [MONOTONIC as u64, flags, address(&real), 0, 0, 0]);
    }
    if map_instant(clock, time, &mut real) {
        return call(CLOCK_NANOSLEEP, [clock as u64, flags, address(&real), 0, 0, 0]);
    }
    call(CLOCK_NANOSLEEP, arguments)
}
