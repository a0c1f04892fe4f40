//! Every target on its corpus and on seeded mutations of it; CROSSWIND_FUZZ_MUTATIONS makes it more than the default.

use crosswind_fuzz::{corpus, target};

/// So that all targets together take seconds in a build without optimisation.
const MUTATIONS: u64 = 1_000;

fn mutations() -> u64 {
    std::env::var("CROSSWIND_FUZZ_MUTATIONS").ok().and_then(|text| text.parse().ok()).unwrap_or(MUTATIONS)
}

#[test]
fn hostile_frames_are_read_and_cut() {
    corpus::run("headers", 4 * mutations(), target::headers);
}

#[test]
fn hostile_frames_are_forwarded_or_lost_for_a_reason() {
    corpus::run("forwarder", mutations() / 4, target::forwarder);
}

#[test]
fn captures_of_anything_are_whole() {
    corpus::run("pcapng", mutations(), target::pcapng);
}

#[test]
fn damaged_captures_are_read_as_far_as_they_go() {
    corpus::run("capture", 4 * mutations(), target::capture_file);
}

#[test]
fn damaged_recordings_are_refused_or_replayed() {
    corpus::run("recording", mutations(), target::recording);
}

#[test]
fn conditions_that_pass_the_gate_can_be_carried_out() {
    // An input is a whole run of the engine, so there are fewer.
    corpus::run("elements", mutations() / 60, target::elements);
}

#[test]
fn histories_of_anything_are_checked_or_refused() {
    corpus::run("history", mutations(), target::history);
}

#[test]
fn another_machine_may_send_anything() {
    corpus::run("tunnel", mutations(), target::tunnel);
}
