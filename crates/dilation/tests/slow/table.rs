//! Every call of the table, made by a C program that compares its clock and the real one.

use crate::driver::{compiled, lateness_ms, slow, under, Clock, Outcome, TICKS_PER_US};

const DYNAMIC: [&str; 7] = ["gcc", "-O1", "-w", "-pthread", "-o", "OUT", "IN"];
const STATIC: [&str; 8] = ["gcc", "-static", "-O1", "-w", "-pthread", "-o", "OUT", "IN"];

/// Debian's compiler for musl has no headers of the kernel; those of the host are behind its own.
const MUSL: [&str; 12] = [
    "musl-gcc",
    "-static",
    "-O1",
    "-w",
    "-pthread",
    "-idirafter",
    "/usr/include",
    "-idirafter",
    "/usr/include/x86_64-linux-gnu",
    "-o",
    "OUT",
    "IN",
];

/// Runs all cases, or one. A wait may end late on a busy machine, never early: twice the machine's own lateness is
/// accepted, and as that changes, there are three attempts.
fn holds(name: &str, compiler: &[&str], factor: u64, case: &[&str]) {
    holds_under(&Clock { factor, offset_ns: 0, rate_ppb: 1_000_000_000 }, name, compiler, case);
}

fn holds_under(clock: &Clock, name: &str, compiler: &[&str], case: &[&str]) {
    let Some(program) = compiled("calls.c", name, compiler) else { return };
    let run = || {
        // With a factor of 1 nothing divides the lateness of all these processes; doubled waits would still show.
        let late_ms = 2.0 * lateness_ms() + if clock.factor == 1 { 10.0 } else { 0.0 };
        let numbers = [clock.slowness().to_string(), TICKS_PER_US.to_string(), late_ms.to_string()];
        let mut command = vec![program.to_str().unwrap()];
        command.extend(numbers.iter().map(String::as_str));
        command.extend(case);
        under(clock, &command)
    };
    let mut outcome = run();
    for _ in 0..2 {
        if outcome.status != 0 {
            outcome = run();
        }
    }
    let Outcome { status, stdout, stderr, .. } = outcome;
    let wrong: Vec<_> = stdout.lines().filter(|line| !line.ends_with(": ok")).collect();
    assert_eq!(status, 0, "{wrong:#?}\n{stderr}");
}

#[test]
fn every_call_lasts_as_long_as_it_should_at_10() {
    holds("calls-10", &DYNAMIC, 10, &[]);
}

#[test]
fn a_factor_of_1_changes_nothing() {
    holds("calls-1", &DYNAMIC, 1, &[]);
}

#[test]
fn every_call_lasts_as_long_as_it_should_in_a_static_program() {
    holds("calls-static", &STATIC, 4, &[]);
}

/// Waits of 20 ms are whole milliseconds at these rates.
#[test]
fn every_call_lasts_as_long_as_a_wrong_clock_says() {
    for (offset_ns, rate_ppb) in [(5_000_000_000, 1_250_000_000), (-5_000_000_000, 800_000_000)] {
        let clock = Clock { factor: 4, offset_ns, rate_ppb };
        holds_under(&clock, &format!("calls-{rate_ppb}"), &DYNAMIC, &[]);
    }
}

#[test]
fn the_wall_clock_is_off_and_a_sleep_ends_when_the_wrong_clock_says() {
    let shown = |clock: &Clock| under(clock, &["sh", "-c", "date +%s.%N; sleep 1; date +%s.%N"]);
    let clock = Clock { factor: 1, offset_ns: 5_000_000_000, rate_ppb: 1_100_000_000 };
    let Outcome { stdout, took, .. } = shown(&clock);
    let (ended, took) = (std::time::UNIX_EPOCH.elapsed().unwrap().as_secs_f64(), took.as_secs_f64());
    let times: Vec<f64> = stdout.lines().map(|line| line.parse().unwrap()).collect();
    // Both dates come while it runs. A second at 1.1 lasts 0.909 s, and the wrong clock gains a tenth of what passes.
    let (began, ended) = (ended - took, ended + 0.1 * took);
    assert!(times[0] - 5.0 > began - 1e-3 && times[1] - 5.0 < ended, "{times:?} in {began} to {ended}");
    assert!(times[1] - times[0] >= 1.0 && took >= 1.0 / 1.1, "{times:?}, {took} s");
    // As long as its own clock says, also where programs begin late.
    assert!(times[1] - times[0] <= 1.1 * took, "{times:?}, {took} s");
}

#[test]
fn every_call_lasts_as_long_as_it_should_in_a_static_program_with_musl() {
    holds("calls-musl", &MUSL, 10, &[]);
}

#[test]
fn an_alarm_counts_whole_perceived_seconds() {
    holds("calls-alarm", &DYNAMIC, 2, &["alarm_"]);
}

#[test]
fn what_is_refused_is_counted_by_name() {
    let Some(program) = compiled("calls.c", "calls-refused", &DYNAMIC) else { return };
    let command = |case| slow(2, &[program.to_str().unwrap(), "2", &TICKS_PER_US.to_string(), "0", case]);
    let refused = command("refused_calls").stderr;
    for name in ["io_uring_setup", "adjtimex", "x32 call 230"] {
        assert!(refused.contains(name), "{refused}");
    }
    let options = command("options").stderr;
    assert!(options.contains("SO_TIMESTAMP"), "{options}");
}
