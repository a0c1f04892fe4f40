//! The filter, run by an interpreter of the few instructions that it has.

use super::*;

/// A call as the kernel describes it to a filter.
struct Made {
    architecture: u32,
    number: u32,
    from: u64,
    arguments: [u64; 6],
}

fn call(number: u32, arguments: [u64; 6]) -> Made {
    Made { architecture: X86_64, number, from: 0x40_1000, arguments }
}

fn decide(made: &Made) -> u32 {
    let program = program();
    let (mut at, mut value) = (0, 0_u32);
    loop {
        let step = program[at];
        at += 1;
        let holds = |holds: bool| usize::from(if holds { step.jt } else { step.jf });
        match u32::from(step.code) & 0xf7 {
            code if code == BPF_RET => return step.k,
            code if code == BPF_LD | BPF_ABS => {
                let half = |number: u64, at: u32| (number >> (8 * at)) as u32;
                value = match step.k {
                    NUMBER => made.number,
                    ARCHITECTURE => made.architecture,
                    field @ 8..16 => half(made.from, field - 8),
                    field => half(made.arguments[(field as usize - 16) / 8], (field - 16) % 8),
                }
            }
            code if code == BPF_ALU | BPF_AND => value &= step.k,
            code if code == BPF_JMP | BPF_JEQ => at += holds(value == step.k),
            code if code == BPF_JMP | BPF_JGE => at += holds(value >= step.k),
            code => panic!("unknown instruction {code:#x}"),
        }
    }
}

fn traps(number: u32, arguments: [u64; 6]) -> bool {
    match decide(&call(number, arguments)) {
        TRAPPED => true,
        SECCOMP_RET_ALLOW => false,
        other => panic!("neither trapped nor allowed: {other:#x}"),
    }
}

const POINTER: u64 = 0x7fff_0000_0000;

#[test]
fn every_call_is_in_the_table_once() {
    for (at, one) in CALLS.iter().enumerate() {
        assert!(one.number < 512, "{}", one.name);
        assert!(CALLS[..at].iter().all(|other| other.number != one.number && other.name != one.name));
    }
}

#[test]
fn waits_without_end_and_polls_of_zero_pass_untouched() {
    let names = ["poll", "epoll_wait", "epoll_pwait"];
    for call in CALLS.iter().filter(|call| names.contains(&call.name)) {
        let at = if call.name == "poll" { 2 } else { 3 };
        let with = |ms: i32| {
            let mut arguments = [0; 6];
            arguments[at] = ms as u32 as u64;
            traps(call.number, arguments)
        };
        assert!(with(1) && with(i32::MAX) && !with(0) && !with(-1) && !with(i32::MIN), "{}", call.name);
    }
}

#[test]
fn pointers_are_recognised_by_either_half() {
    for pointer in [POINTER, 0x1000, 1 << 40] {
        assert!(traps(271, [0, 0, pointer, 0, 0, 0]), "{pointer:#x}");
        assert!(traps(271, [0, 0, 0, pointer, 0, 0]), "{pointer:#x}");
    }
    assert!(!traps(271, [POINTER, 1, 0, 0, 0, 0]));
}

#[test]
fn only_futexes_that_wait_with_a_time_trap() {
    for (request, waits) in
        [(0, true), (128, true), (9 | 256 | 128, true), (6, true), (1, false), (129, false)]
    {
        assert_eq!(traps(202, [POINTER, request, 0, POINTER, 0, 0]), waits, "{request}");
        assert!(!traps(202, [POINTER, request, 0, 0, 0, 0]), "{request}");
    }
}

#[test]
fn only_options_with_a_time_trap() {
    for (level, option, trapped) in
        [(1, 20, true), (1, 2, false), (6, 18, true), (6, 1, false), (0, 20, false)]
    {
        assert_eq!(traps(54, [3, level, option, POINTER, 4, 0]), trapped, "{level}, {option}");
        assert_eq!(traps(55, [3, level, option, POINTER, POINTER, 0]), trapped, "{level}, {option}");
    }
    assert!(traps(16, [3, 0x8906, POINTER, 0, 0, 0]) && !traps(16, [3, 0x5401, POINTER, 0, 0, 0]));
}

#[test]
fn actions_trap_where_they_are_set_and_the_images_own_where_they_are_shown() {
    assert!(traps(13, [11, 0, POINTER, 8, 0, 0]) && traps(13, [31, 0, POINTER, 8, 0, 0]));
    assert!(traps(13, [15, POINTER, 0, 8, 0, 0]) && !traps(13, [15, 0, POINTER, 8, 0, 0]));
}

#[test]
fn only_filters_of_the_program_trap() {
    assert!(traps(157, [22, 2, POINTER, 0, 0, 0]) && !traps(157, [38, 1, 0, 0, 0, 0]));
    assert!(traps(317, [1, 0, POINTER, 0, 0, 0]) && !traps(317, [2, 0, POINTER, 0, 0, 0]));
}

#[test]
fn the_images_own_calls_pass_and_no_others_do() {
    let from = |from| Made { from, ..call(35, [POINTER, 0, 0, 0, 0, 0]) };
    assert_eq!(decide(&from(ADDRESS + 0x1234)), SECCOMP_RET_ALLOW);
    for outside in [ADDRESS - 1, ADDRESS + RESERVED, ADDRESS & 0xffff_ffff, ADDRESS + (1 << 32)] {
        assert_eq!(decide(&from(outside)), TRAPPED, "{outside:#x}");
    }
}

#[test]
fn the_supervisor_decides_on_programs_and_on_what_is_refused() {
    for number in [59, 322, 425, 426, 427, 159, 305, REPORT as u32, X32 | 230, u32::MAX] {
        assert_eq!(decide(&call(number, [0; 6])), SECCOMP_RET_USER_NOTIF, "{number}");
    }
    assert_eq!(decide(&Made { architecture: 0x4000_0003, ..call(1, [0; 6]) }), SECCOMP_RET_USER_NOTIF);
    assert_eq!(decide(&call(1, [0; 6])), SECCOMP_RET_ALLOW);
    assert_eq!(decide(&call(435, [POINTER, 88, 0, 0, 0, 0])), ABSENT);
}
