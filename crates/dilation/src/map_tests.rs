use proptest::prelude::*;

use super::*;

/// Factor and rate of a clock whose wall time is `offset_ns` off from the anchor on.
fn map(factor: u64, rate_ppb: u64, offset_ns: i64) -> Map {
    let mut real_ns = [0; CLOCKS];
    real_ns[REALTIME] = 1_700_000_000 * SECOND_NS;
    real_ns[MONOTONIC] = 5 * SECOND_NS;
    real_ns[TAI] = real_ns[REALTIME] + 37 * SECOND_NS;
    let mut perceived_ns = real_ns;
    for clock in [REALTIME, TAI] {
        perceived_ns[clock] += offset_ns;
    }
    let [factor, rate_ppb] = [factor, rate_ppb].map(|number| NonZeroU64::new(number).unwrap());
    Map { factor, rate_ppb, real_ns, perceived_ns }
}

fn slower(factor: u64) -> Map {
    map(factor, RIGHT_PPB.get(), 0)
}

#[test]
fn perceived_is_real_at_the_anchor_and_slower_after_it() {
    let map = slower(10);
    assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS), 5 * SECOND_NS);
    assert_eq!(map.perceived(MONOTONIC, 15 * SECOND_NS), 6 * SECOND_NS);
    // The wall clock is computed from the monotonic one, whose source it is.
    assert_eq!(map.perceived(REALTIME, 15 * SECOND_NS), 1_700_000_001 * SECOND_NS);
    assert_eq!(map.perceived(TAI, 15 * SECOND_NS), 1_700_000_038 * SECOND_NS);
    // Before the anchor too, rounded down.
    assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS - 1), 5 * SECOND_NS - 1);
    assert_eq!(map.perceived(MONOTONIC, 5 * SECOND_NS - 11), 5 * SECOND_NS - 2);
}

#[test]
fn a_wrong_clock_is_off_at_the_anchor_and_gains_or_loses_from_there() {
    let fast = map(1, 1_000_100_000, 5 * SECOND_NS);
    let wall_ns = 1_700_000_005 * SECOND_NS;
    assert_eq!(fast.perceived(REALTIME, 5 * SECOND_NS), wall_ns);
    // 100 parts per million of 10 s are 1 ms.
    assert_eq!(fast.perceived(REALTIME, 15 * SECOND_NS), wall_ns + 10_001_000_000);
    assert_eq!(fast.perceived(MONOTONIC, 15 * SECOND_NS), 15_001_000_000);
    // 1 s at 1.1 is over after 0.909... s; at half the speed after two, and both with a dilation of 10.
    assert_eq!(map(1, 1_100_000_000, 0).stretch(SECOND_NS), 909_090_910);
    assert_eq!(map(1, 500_000_000, 0).stretch(SECOND_NS), 2 * SECOND_NS);
    assert_eq!(map(10, 500_000_000, 0).stretch(SECOND_NS), 20 * SECOND_NS);
    assert_eq!(map(10, 500_000_000, 0).shrink(20 * SECOND_NS), SECOND_NS);
}

#[test]
fn a_factor_of_one_changes_nothing() {
    let map = slower(1);
    for ns in [0, 1, 123_456_789_012] {
        assert_eq!((map.stretch(ns), map.shrink(ns), map.shrink_up(ns)), (ns, ns, ns));
        assert_eq!(map.perceived(MONOTONIC, ns), ns);
    }
}

#[test]
fn no_instant_and_no_duration_overflows() {
    for rate_ppb in [500_000_000, 1_000_000_000, 2_000_000_000] {
        let map = map(1000, rate_ppb, i64::from(i32::MAX) * SECOND_NS);
        assert_eq!(map.stretch(i64::MAX), LONGEST_NS);
        assert_eq!(map.real(MONOTONIC, i64::MAX), LONGEST_NS);
        assert_eq!(map.real(REALTIME, 0), 0);
        assert_eq!(map.real(REALTIME, i64::MIN), 0);
        assert!(map.shrink_up(1) >= 1);
        for extreme in [i64::MIN, i64::MAX] {
            map.perceived(REALTIME, extreme);
        }
    }
    assert_eq!(map(1, 2_000_000_000, 0).perceived(REALTIME, i64::MAX), i64::MAX);
    assert_eq!(from_timespec(i64::MAX, 0), Some(i64::MAX));
}

#[test]
fn a_time_that_the_kernel_refuses_is_no_time() {
    assert_eq!(from_timespec(1, 5), Some(SECOND_NS + 5));
    for (seconds, ns) in [(-1, 0), (0, -1), (0, SECOND_NS)] {
        assert_eq!(from_timespec(seconds, ns), None);
    }
}

prop_compose! {
    fn any_map()(factor in prop_oneof![Just(1_u64), 1..=1000_u64], rate in 500_000_000..=2_000_000_000_u64,
                 offset in -SECOND_NS * 86_400..SECOND_NS * 86_400) -> Map {
        map(factor, rate, offset)
    }
}

/// A month around the anchor, in real time.
const AROUND: std::ops::Range<i64> = -2_600_000 * SECOND_NS..2_600_000 * SECOND_NS;

proptest! {
    #[test]
    fn a_later_instant_is_never_perceived_as_earlier(map in any_map(), from in AROUND, later in 0..10_000_000_i64) {
        for clock in [REALTIME, MONOTONIC, TAI] {
            prop_assert!(map.perceived(clock, from + later) >= map.perceived(clock, from));
        }
    }

    #[test]
    fn the_anchor_is_exact(map in any_map()) {
        for clock in [REALTIME, MONOTONIC, TAI] {
            prop_assert_eq!(map.perceived(clock, map.real_ns[MONOTONIC]), map.perceived_ns[clock]);
            prop_assert_eq!(map.real(clock, map.perceived_ns[clock]), map.real_ns[MONOTONIC]);
        }
    }

    #[test]
    fn the_real_instant_is_the_first_that_is_perceived_so(map in any_map(), ahead in AROUND) {
        for clock in [REALTIME, MONOTONIC, TAI] {
            let due = map.perceived_ns[clock].saturating_add(ahead);
            let real = map.real(clock, due);
            prop_assert!(map.perceived(clock, real) >= due);
            prop_assert!(real == 0 || map.perceived(clock, real - 1) < due);
        }
    }

    #[test]
    fn a_wait_is_never_perceived_as_shorter_and_is_the_least_that_is_not(
        map in any_map(), from in AROUND, length in 0..100 * SECOND_NS
    ) {
        let real = map.stretch(length);
        prop_assert!(map.perceived(MONOTONIC, from + real) - map.perceived(MONOTONIC, from) >= length);
        prop_assert_eq!(map.shrink_up(real) == 0, real == 0);
        if map.rate_ppb <= RIGHT_PPB {
            prop_assert_eq!(map.shrink_up(real), length);
        }
        prop_assert!(map.shrink(real) >= length && (real == 0 || map.shrink(real - 1) < length));
        prop_assert!(map.shrink_up(real) >= map.shrink(real) && map.shrink_up(real) - map.shrink(real) <= 2);
    }
}
