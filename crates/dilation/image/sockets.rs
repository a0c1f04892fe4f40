//! Options of sockets: times are stretched when they are set and shrunk when they are read, rates the other way.

use crate::clocks::timespec;
use crate::kernel::{
    address, call, parameters, peek, poke, report, Arguments, Timespec, ENOENT, ENOPROTOOPT,
};
use crate::map::{from_timespec, SECOND_NS};

const SETSOCKOPT: u64 = 54;
const GETSOCKOPT: u64 = 55;
const SOL_SOCKET: u32 = 1;
const LINGER: u32 = 13;
const PACING_RATE: u32 = 47;
const TIMEOUTS: [u32; 4] = [20, 21, 66, 67];
const STAMPS: [u32; 6] = [29, 35, 37, 63, 64, 65];
const TCP_INFO: u32 = 11;
const TCP_KEEPIDLE: u32 = 4;
const TCP_KEEPINTVL: u32 = 5;
/// The most seconds that the kernel takes for these two.
const KEEP_MOST: i64 = 32_767;
/// Fields of `struct tcp_info` that are a time, by their first byte: 32 bits, in microseconds or milliseconds.
const INFO_TIMES: [u16; 10] = [8, 12, 44, 48, 52, 56, 68, 72, 92, 148];
/// Likewise 64 bits: busy_time, rwnd_limited, sndbuf_limited.
const INFO_LONG_TIMES: [u16; 3] = [168, 176, 184];
/// Likewise rates, 64 bits: pacing_rate, max_pacing_rate, delivery_rate.
const INFO_RATES: [u16; 3] = [104, 112, 160];

pub fn set(arguments: Arguments) -> i64 {
    let [file, level, option, value, length, ..] = arguments;
    let (level, option) = (level as u32, option as u32);
    let map = &parameters().map;
    let with = |at: u64| call(SETSOCKOPT, [file, u64::from(level), u64::from(option), at, length, 0]);
    if level == SOL_SOCKET && STAMPS.contains(&option) {
        // Without stamps of the kernel, which are real, programs read the clock.
        if length >= 4 && peek::<i32>(value) != 0 {
            report(0);
            return ENOPROTOOPT;
        }
        return with(value);
    }
    if level == SOL_SOCKET && TIMEOUTS.contains(&option) {
        if length < 16 {
            return with(value);
        }
        let Timespec { seconds, ns: us } = peek(value);
        return match from_timespec(seconds, us.saturating_mul(1000)) {
            Some(ns) => {
                let Timespec { seconds, ns } = timespec(map.stretch(ns));
                with(address(&Timespec { seconds, ns: ns / 1000 }))
            }
            None => with(value),
        };
    }
    if level == SOL_SOCKET && option == LINGER {
        if length < 8 {
            return with(value);
        }
        let [on, seconds]: [i32; 2] = peek(value);
        return with(address(&[on, stretched(seconds, i64::from(i32::MAX))]));
    }
    if level == SOL_SOCKET && option == PACING_RATE {
        if length >= 8 {
            let rate: u64 = peek(value);
            return with(address(&if rate == u64::MAX { rate } else { map.passes(rate) }));
        }
        if length < 4 {
            return with(value);
        }
        let rate: u32 = peek(value);
        let real = map.passes(u64::from(rate)).min(u64::from(u32::MAX - 1)) as u32;
        return with(address(&if rate == u32::MAX { rate } else { real }));
    }
    if length < 4 {
        return with(value);
    }
    let most = if option == TCP_KEEPIDLE || option == TCP_KEEPINTVL { KEEP_MOST } else { i64::from(i32::MAX) };
    with(address(&stretched(peek(value), most)))
}

/// A number in any unit of time.
fn stretched(given: i32, most: i64) -> i32 {
    if given <= 0 {
        return given;
    }
    let real = parameters().map.stretch(i64::from(given));
    if real > most {
        // A number that the kernel would refuse anyhow stays; one that only stretching made too large is cut off.
        if i64::from(given) > most {
            return given;
        }
        report(4);
    }
    real.min(most) as i32
}

pub fn get(arguments: Arguments) -> i64 {
    let [_, level, option, value, length, ..] = arguments;
    let (level, option) = (level as u32, option as u32);
    let result = call(GETSOCKOPT, arguments);
    if result != 0 {
        return result;
    }
    let map = &parameters().map;
    let length = u64::from(peek::<u32>(length));
    if level != SOL_SOCKET && option == TCP_INFO {
        shrink_info(value, length);
    } else if level == SOL_SOCKET && TIMEOUTS.contains(&option) {
        if length >= 16 {
            let Timespec { seconds, ns: us } = peek(value);
            let ns = map.shrink_up(seconds.saturating_mul(SECOND_NS).saturating_add(us * 1000));
            let Timespec { seconds, ns } = timespec(ns);
            poke(value, Timespec { seconds, ns: ns / 1000 });
        }
    } else if level == SOL_SOCKET && option == LINGER {
        if length >= 8 {
            poke(value + 4, map.shrink_up(i64::from(peek::<i32>(value + 4))) as i32);
        }
    } else if level == SOL_SOCKET && option == PACING_RATE {
        if length >= 8 {
            poke(value, faster(peek(value), u64::MAX));
        } else if length >= 4 {
            poke(value, faster(u64::from(peek::<u32>(value)), u64::from(u32::MAX)) as u32);
        }
    } else if level != SOL_SOCKET && length >= 4 {
        let real: i32 = peek(value);
        if real > 0 {
            poke(value, map.shrink_up(i64::from(real)) as i32);
        }
    }
    result
}

fn faster(rate: u64, unlimited: u64) -> u64 {
    if rate == unlimited {
        return rate;
    }
    parameters().map.takes(rate).min(unlimited)
}

fn shrink_info(at: u64, length: u64) {
    let map = &parameters().map;
    for field in INFO_TIMES.map(u64::from) {
        if field + 4 <= length {
            let real: u32 = peek(at + field);
            // All bits set: no round trip was measured yet.
            if real != u32::MAX {
                poke(at + field, map.shrink(i64::from(real)) as u32);
            }
        }
    }
    for field in INFO_LONG_TIMES.map(u64::from) {
        if field + 8 <= length {
            poke(at + field, map.shrink(peek(at + field)));
        }
    }
    for field in INFO_RATES.map(u64::from) {
        if field + 8 <= length {
            poke(at + field, faster(peek(at + field), u64::MAX));
        }
    }
}

/// The stamp of the last packet, which is real: there is none.
pub fn stamp() -> i64 {
    report(1);
    ENOENT
}
