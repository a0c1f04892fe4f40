//! Futexes: the request decides whether its time is a duration or an instant, and of which clock.

use crate::clocks::timespec;
use crate::kernel::{address, call, parameters, peek, Arguments, Timespec};
use crate::map::{from_timespec, MONOTONIC, REALTIME};
use crate::waits::map_instant;

const FUTEX: u64 = 202;
const WAIT: u64 = 0;
const LOCK_PI: u64 = 6;
const COMMAND: u64 = 127;
const CLOCK_REALTIME: u64 = 256;

pub fn futex(mut arguments: Arguments) -> i64 {
    let [_, request, _, time, ..] = arguments;
    let mut real = Timespec { seconds: 0, ns: 0 };
    let mapped = match request & COMMAND {
        WAIT => {
            let Timespec { seconds, ns } = peek(time);
            match from_timespec(seconds, ns) {
                Some(ns) => {
                    real = timespec(parameters().map.stretch(ns));
                    true
                }
                None => false,
            }
        }
        // Always on the wall clock, without the flag.
        LOCK_PI => map_instant(REALTIME as i32, time, &mut real),
        _ if request & CLOCK_REALTIME != 0 => map_instant(REALTIME as i32, time, &mut real),
        _ => map_instant(MONOTONIC as i32, time, &mut real),
    };
    if mapped {
        arguments[3] = address(&real);
    }
    call(FUTEX, arguments)
}
