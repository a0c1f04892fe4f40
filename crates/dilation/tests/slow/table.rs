//! Every call of the table, made by a C program that compares its clock and the real one.

use crate::driver::{compiled, lateness_ms, slow, Outcome, TICKS_PER_US};

const DYNAMIC: [&str; 7] = ["gcc", "-O1", "-w", "-pthread", "-o", "OUT", "IN"];
const STATIC: [&str; 8] = ["gcc", "-static", "-O1", "-w", "-pthread", "-o", "OUT", "IN"];

/// Runs all cases, or one. A wait may end late on a busy machine, never early: twice the machine's own lateness is
/// accepted, and as that changes, there are three attempts.
fn holds(name: &str, compiler: &[&str], factor: u64, case: &[&str]) {
    let Some(program) = compiled("calls.c", name, compiler) else { return };
    let run = || {
        // With a factor of 1 nothing divides the lateness of so many processes at once; doubled waits would still show.
        let late_ms = 2.0 * lateness_ms() + if factor == 1 { 10.0 } else { 0.0 };
        let numbers = [factor.to_string(), TICKS_PER_US.to_string(), late_ms.to_string()];
        let mut command = vec![program.to_str().unwrap()];
        command.extend(numbers.iter().map(String::as_str));
        command.extend(case);
        slow(factor, &command)
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
