//! Programs that read the time-stamp counter are named, and SIGSEGV is what it is without the watch for them.

use crate::driver::{compiled, slow, TICKS_PER_US};

const LINKED: [(&str, &[&str]); 2] = [("dynamic", &[]), ("static", &["-static"])];

fn build(source: &str, linked: &str, flags: &[&str]) -> Option<String> {
    let command = [&["gcc", "-O1", "-w", "-pthread", "-o", "OUT", "IN"][..], flags].concat();
    let program = compiled(source, &format!("{source}-{linked}"), &command)?;
    Some(program.to_str().unwrap().to_owned())
}

#[test]
fn a_program_that_waits_by_the_counter_is_named_with_the_file_of_its_code() {
    for (linked, flags) in LINKED {
        let Some(program) = build("counter.c", linked, flags) else { return };
        let ticks = (*TICKS_PER_US * 100_000.0) as u64;
        let outcome = slow(10, &[&program, &ticks.to_string()]);
        assert_eq!(outcome.status, 0, "{linked}: {}", outcome.stderr);
        // 100 ms of real time; its clock shows a tenth of them, and of what a busy machine adds.
        assert!((0.0099..0.1).contains(&outcome.seconds()), "{linked}: {}", outcome.stdout);
        let named = format!("counter 1000 times by {program} of {program}");
        assert!(outcome.stderr.contains(&named), "{linked}: {}", outcome.stderr);
    }
}

#[test]
fn a_program_that_reads_the_counter_a_few_times_is_not_named() {
    let Some(program) = build("counter.c", "few", &[]) else { return };
    let outcome = slow(10, &[&program, "few"]);
    assert_eq!(outcome.status, 0, "{}", outcome.stderr);
    assert!(!outcome.stderr.contains("counter "), "{}", outcome.stderr);
}

#[test]
fn what_programs_do_with_faults_stays_as_it_is() {
    for (linked, flags) in LINKED {
        let Some(program) = build("faults.c", linked, flags) else { return };
        for factor in [1, 10] {
            let outcome = slow(factor, &[&program]);
            assert_eq!(outcome.status, 0, "{linked}, {factor}: {}{}", outcome.stdout, outcome.stderr);
        }
    }
}
