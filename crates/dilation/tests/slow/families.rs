//! Families of programs: each sleeps on its own clock, and real time is seen from outside.

use std::time::{Duration, Instant};

use crate::driver::{compiled, slow};

/// Runs a program that sleeps `seconds` and prints how long it did, in its own time.
fn sleeps(name: &str, command: &[&str], seconds: f64) {
    let factor = 4;
    let mut best = f64::INFINITY;
    for _ in 0..3 {
        let outcome = slow(factor, command);
        assert_eq!(outcome.status, 0, "{name}: {}{}", outcome.stdout, outcome.stderr);
        let perceived = outcome.seconds();
        assert!(perceived >= seconds - 1e-4, "{name}: perceived {perceived} s instead of {seconds}");
        assert!(outcome.took.as_secs_f64() >= seconds * factor as f64, "{name}: {:?}", outcome.took);
        assert!(outcome.stderr.contains("killed [], refused []"), "{name}: {}", outcome.stderr);
        best = f64::min(best, perceived);
        if best <= seconds * 1.005 + 1e-4 {
            return;
        }
    }
    // A program that is woken late perceives a longer sleep; 2 ms allow for its own timers and a busy machine.
    assert!(best <= seconds * 1.005 + 2e-3, "{name}: perceived {best} s instead of {seconds}");
}

fn installed(program: &str) -> bool {
    let there = std::process::Command::new(program).arg("--version").output().is_ok();
    if !there {
        println!("SKIPPED {program}: not installed");
    }
    there
}

#[test]
fn python_sleeps() {
    if installed("python3") {
        let text = "import time; a = time.monotonic(); time.sleep(0.1); print(time.monotonic() - a)";
        sleeps("python", &["python3", "-c", text], 0.1);
        let text =
            "import asyncio, time; a = time.time(); asyncio.run(asyncio.sleep(0.1)); print(time.time() - a)";
        sleeps("asyncio", &["python3", "-c", text], 0.1);
    }
}

#[test]
fn bash_and_its_children_sleep() {
    if installed("bash") {
        let text = "a=$(date +%s%N); sleep 0.1; (sleep 0.05 & wait); b=$(date +%s%N); echo $(( b - a ))e-9";
        let outcome = slow(4, &["bash", "-c", text]);
        let perceived = outcome.seconds();
        // Programs that begin take time, too.
        assert!((0.15..0.25).contains(&perceived), "{perceived}: {}", outcome.stderr);
        assert!(outcome.took >= Duration::from_millis(600), "{:?}", outcome.took);
    }
}

#[test]
fn go_sleeps() {
    if let Some(program) = compiled("sleep.go", "sleep-go", &["go", "build", "-o", "OUT", "IN"]) {
        sleeps("go", &[program.to_str().unwrap()], 0.1);
    }
}

#[test]
fn rust_sleeps() {
    for target in ["x86_64-unknown-linux-gnu", "x86_64-unknown-linux-musl"] {
        let command = ["rustc", "--target", target, "-O", "-o", "OUT", "IN"];
        if let Some(program) = compiled("sleep.rs", &format!("sleep-{target}"), &command) {
            sleeps(target, &[program.to_str().unwrap()], 0.1);
        }
    }
}

#[test]
fn a_program_with_filters_of_its_own_sleeps() {
    if let Some(program) = compiled("filtered.c", "filtered", &["gcc", "-O1", "-o", "OUT", "IN"]) {
        sleeps("filtered", &[program.to_str().unwrap(), "0.1"], 0.1);
    }
}

#[test]
fn java_sleeps() {
    let source = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/programs/Sleep.java");
    if installed("java") {
        // Without class data of a compiler, a file is compiled in memory: a JVM, and all its threads.
        sleeps("java", &["java", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", source], 0.1);
    }
}

#[test]
fn a_program_that_a_debugger_holds_is_ended_with_the_reason() {
    if installed("strace") {
        let outcome = slow(2, &["strace", "-f", "-o", "/dev/null", "true"]);
        assert!(outcome.stderr.contains("a debugger may be"), "{}", outcome.stderr);
    }
}

#[test]
fn a_thousand_programs_are_all_dilated() {
    let began = Instant::now();
    // Each checks its own image; a program without one would print its number.
    let text = "for i in $(seq 1000); do grep -q '^200000001000-' /proc/self/maps || echo undilated $i; done; echo done";
    let outcome = slow(2, &["bash", "-c", text]);
    assert_eq!(outcome.stdout, "done\n", "{}", outcome.stderr);
    // bash, seq and a thousand greps.
    assert!(outcome.stderr.contains("execs 1002, killed []"), "{}", outcome.stderr);
    println!("1,002 programs in {:?}", began.elapsed());
}
