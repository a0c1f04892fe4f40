//! Clocks: the functions of the vDSO, and the calls that read a clock.

use crate::counter;
use crate::kernel::{address_mut, call, parameters, peek, poke, report, Timespec, EINVAL};
use crate::map::{Map, CLOCKS, MONOTONIC, REALTIME, SECOND_NS};

const CLOCK_GETTIME: u64 = 228;
const CLOCK_GETRES: u64 = 229;
const GETCPU: u64 = 309;
/// CLOCK_REALTIME, MONOTONIC, MONOTONIC_RAW, the two coarse ones, BOOTTIME, TAI: bits of those that the kernel's vDSO
/// reads. Others it would hand to the kernel itself.
const IN_VDSO: u32 = 1 << 0 | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 6 | 1 << 7 | 1 << 11;

/// The real reading, ns, or a negative error number.
pub fn real(clock: i32) -> Result<i64, i64> {
    let mut now = Timespec { seconds: 0, ns: 0 };
    let function = parameters().clock_gettime;
    let in_vdso = (0..32).contains(&clock) && IN_VDSO >> clock & 1 == 1;
    let result = if function != 0 && in_vdso && !counter::watched() {
        // SAFETY: the supervisor put the address of this function of the kernel's vDSO there.
        let function: extern "C" fn(i32, *mut Timespec) -> i32 =
            unsafe { core::mem::transmute(function as *const ()) };
        i64::from(function(clock, &raw mut now))
    } else {
        call(CLOCK_GETTIME, [clock as u64, address_mut(&mut now), 0, 0, 0, 0])
    };
    if result < 0 {
        return Err(result);
    }
    Ok(now.seconds.wrapping_mul(SECOND_NS).wrapping_add(now.ns))
}

/// The reading that the program perceives, ns, or a negative error number.
pub fn perceived(clock: i32) -> Result<i64, i64> {
    // A clock of a device (PTP) is a file descriptor in a negative number; other negative numbers are CPU time.
    if clock < 0 && clock & 7 == 3 {
        report(5);
        return Err(EINVAL);
    }
    let map = &parameters().map;
    if clock < 0 || Map::counts_cpu_time(clock as usize) {
        return real(clock).map(|ns| map.shrink(ns));
    }
    let clock = clock as usize;
    real(Map::source(clock) as i32).map(|ns| map.perceived(clock, ns))
}

/// What the kernel must wait for on `clock` so that the program perceives `perceived_ns`.
pub fn real_instant(clock: i32, perceived_ns: i64) -> i64 {
    let map = &parameters().map;
    if clock < 0 || Map::counts_cpu_time(clock as usize) {
        return map.stretch(perceived_ns);
    }
    let source = Map::source(clock as usize);
    let due = map.real(clock as usize, perceived_ns);
    if source == clock as usize {
        return due;
    }
    // The wall clock as it stands now; a later step of it moves this wait, as it would without dilation.
    let ahead = real(clock).unwrap_or_default().wrapping_sub(real(source as i32).unwrap_or_default());
    due.saturating_add(ahead).max(0)
}

/// A duration or instant as the kernel takes it.
pub fn timespec(ns: i64) -> Timespec {
    let ns = ns.max(0) as u64;
    Timespec { seconds: (ns / SECOND_NS as u64) as i64, ns: (ns % SECOND_NS as u64) as i64 }
}

pub fn read_clock(clock: i32, to: u64) -> i64 {
    match perceived(clock) {
        Ok(ns) => {
            poke(to, timespec(ns));
            0
        }
        Err(error) => error,
    }
}

pub fn read_time_of_day(to: u64, zone: u64) -> i64 {
    if to != 0 {
        match perceived(REALTIME as i32) {
            Ok(ns) => {
                let Timespec { seconds, ns } = timespec(ns);
                poke(to, Timespec { seconds, ns: ns / 1000 });
            }
            Err(error) => return error,
        }
    }
    if zone != 0 {
        return call(96, [0, zone, 0, 0, 0, 0]);
    }
    0
}

pub fn read_seconds(to: u64) -> i64 {
    match perceived(REALTIME as i32) {
        Ok(ns) => {
            let seconds = timespec(ns).seconds;
            if to != 0 {
                poke(to, seconds);
            }
            seconds
        }
        Err(error) => error,
    }
}

/// times(2): ticks of 10 ms since a moment in the past, and CPU time in ticks.
pub fn read_ticks(to: u64) -> i64 {
    let map = &parameters().map;
    let result = call(100, [to, 0, 0, 0, 0, 0]);
    if to != 0 {
        for at in 0..4 {
            poke(to + 8 * at, map.shrink(peek(to + 8 * at)));
        }
    }
    match perceived(MONOTONIC as i32) {
        Ok(ns) if !(-4095..0).contains(&result) => (ns as u64 / 10_000_000) as i64,
        _ => result,
    }
}

/// sysinfo(2): the first number is seconds since the machine started.
pub fn read_uptime(to: u64) -> i64 {
    const BOOTTIME: i32 = 7;
    let result = call(99, [to, 0, 0, 0, 0, 0]);
    if result == 0 {
        if let Ok(ns) = perceived(BOOTTIME) {
            poke(to, timespec(ns).seconds);
        }
    }
    result
}

/// Shrinks the two times at the start of a `struct rusage` that a call has written.
pub fn shrink_usage(at: u64) {
    for time in [at, at + 16] {
        let Timespec { seconds, ns: us } = peek(time);
        let ns = parameters().map.shrink(seconds.wrapping_mul(SECOND_NS).wrapping_add(us * 1000));
        let Timespec { seconds, ns } = timespec(ns);
        poke(time, Timespec { seconds, ns: ns / 1000 });
    }
}

#[no_mangle]
extern "C" fn __vdso_clock_gettime(clock: i32, to: u64) -> i32 {
    read_clock(clock, to) as i32
}

#[no_mangle]
extern "C" fn __vdso_gettimeofday(to: u64, zone: u64) -> i32 {
    read_time_of_day(to, zone) as i32
}

#[no_mangle]
extern "C" fn __vdso_time(to: u64) -> i64 {
    read_seconds(to)
}

#[no_mangle]
extern "C" fn __vdso_clock_getres(clock: i32, to: u64) -> i32 {
    call(CLOCK_GETRES, [clock as u64, to, 0, 0, 0, 0]) as i32
}

#[no_mangle]
extern "C" fn __vdso_getcpu(cpu: u64, node: u64, unused: u64) -> i64 {
    let function = parameters().getcpu;
    if function == 0 {
        return call(GETCPU, [cpu, node, unused, 0, 0, 0]);
    }
    // SAFETY: the supervisor put the address of this function of the kernel's vDSO there.
    let function: extern "C" fn(u64, u64, u64) -> i64 =
        unsafe { core::mem::transmute(function as *const ()) };
    function(cpu, node, unused)
}

const _: () = assert!(CLOCKS <= 32);
