"""Arrival and service curves against the definitions, over all windows one by one."""

import math
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.curves import arrival_curve_excess, service_curve_lateness_ns, window_excesses

PACKETS = st.lists(st.tuples(st.integers(0, 50_000), st.integers(1, 1500)), min_size=1, max_size=40)


def _instants(packets: list[tuple[int, int]]) -> tuple[list[int], list[int]]:
    at = np.cumsum([gap for gap, _ in packets]).tolist()
    return at, [size for _, size in packets]


@given(PACKETS, st.integers(1, 10**10), st.integers(0, 5000))
def test_the_excess_is_the_largest_over_all_windows(
    packets: list[tuple[int, int]], rate_bps: int, burst: int
) -> None:
    at, size = _instants(packets)
    exact = [
        max(
            sum(size[i : j + 1]) - burst - Fraction(rate_bps * (at[j] - at[i]), 8 * 10**9)
            for j in range(i, len(at))
        )
        for i in range(len(at))
    ]
    found = arrival_curve_excess(at, size, rate_bps=rate_bps, burst_bytes=burst)
    assert found.bytes == pytest.approx(float(max(exact)), abs=1e-5)
    from_each = window_excesses(at, size, rate_bps=rate_bps, burst_bytes=burst)
    assert from_each == pytest.approx([float(excess) for excess in exact], abs=1e-5)
    i, j = found.first, found.last
    window = sum(size[i : j + 1]) - burst - rate_bps * (at[j] - at[i]) / 8e9
    assert window == pytest.approx(found.bytes, abs=1e-5)


def test_a_bucket_that_gives_all_it_has_exceeds_nothing_and_one_byte_more_is_seen() -> None:
    # 8 Mbit/s is a byte a microsecond: 3000 B at once, and 1000 B a millisecond later.
    at, size = [0, 0, 1_000_000], [1500, 1500, 1000]
    assert arrival_curve_excess(at, size, rate_bps=8e6, burst_bytes=3000).bytes == 0
    worst = arrival_curve_excess(at, [1500, 1500, 1001], rate_bps=8e6, burst_bytes=3000)
    assert (worst.bytes, worst.first, worst.last) == (1, 0, 2)


def test_instants_that_go_back_are_refused() -> None:
    with pytest.raises(ValueError, match="sort the packets"):
        arrival_curve_excess([2, 1], [1, 1], rate_bps=1, burst_bytes=1)
    with pytest.raises(ValueError, match="one of each"):
        arrival_curve_excess([], [], rate_bps=1, burst_bytes=1)


@given(PACKETS, st.integers(10**6, 10**10), st.integers(0, 10**6))
def test_lateness_is_that_of_the_flows_own_clock(
    packets: list[tuple[int, int]], rate_bps: int, latency_ns: int
) -> None:
    at, size = _instants(packets)
    departed = [instant + 1000 * number for number, instant in enumerate(at)]
    clock, worst = Fraction(0), -math.inf
    for arrived, left, length in zip(at, departed, size, strict=True):
        clock = max(Fraction(arrived), clock) + Fraction(length * 8 * 10**9, rate_bps)
        worst = max(worst, left - clock - latency_ns)
    found = service_curve_lateness_ns(at, departed, size, rate_bps=rate_bps, latency_ns=latency_ns)
    assert found == pytest.approx(float(worst), abs=1e-2)


def test_a_lost_packet_is_infinitely_late() -> None:
    lateness = service_curve_lateness_ns([0, 1], [5, math.inf], [1, 1], rate_bps=8e9, latency_ns=10)
    assert lateness == math.inf
