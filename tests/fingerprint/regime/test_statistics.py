"""What is said of a regime's rates."""

from __future__ import annotations

import pytest
from regime_parts import S, point, sitting

from crosswind.fingerprint.regime.record import Header, Record
from crosswind.fingerprint.regime.statistics import statistics_of
from crosswind.testbed.plain import plain_fabric


def record(regime: str, *sittings: list[tuple[float, float]], gap_s: float = 5.0) -> Record:
    """A record of points of 1 s: their begins in s, and what they carried in Mbit of IP."""
    header = Header.of(plain_fabric(), regime, 1.0, 4, {})
    read = []
    for number, rows in enumerate(sittings):
        carried = [(round(at * S), round(mbit * 1e6 / 8 / header.ip_per_payload)) for at, mbit in rows]
        points = [point(begin_ns, 1, payload, 2, 0.1) for begin_ns, payload in carried]
        read.append(sitting(points, gap_s if number else None))
    return Record(header, tuple(read))


def test_at_full_speed_a_value_is_a_point() -> None:
    # Deviations of +-10 from 100; neighbours alternate, so that each product of neighbours is -100.
    found = statistics_of(record("full-speed", [(at, 110 if at % 2 else 90) for at in range(10)]))
    assert found.values == 10
    assert found.mean_bps == pytest.approx(100e6, rel=1e-6)
    assert found.variation == pytest.approx((1000 / 9) ** 0.5 / 100, rel=1e-4)
    assert found.autocorrelation == pytest.approx(-0.9, rel=1e-3)
    assert found.largest_step == pytest.approx(20 / 90, rel=1e-4)
    assert found.box_bps[2] == pytest.approx(100e6, rel=1e-6)
    assert found.retransmits == 20
    assert found.steal_share == pytest.approx(0.1)
    # 1 Gbit of IP is 120.7 MB of payload.
    assert found.sender_cpu_s_per_gb == pytest.approx(0.1 / (1 / 8 * 1448 / 1500), rel=1e-4)


def test_of_a_duty_cycle_a_value_is_a_phase() -> None:
    rows = [(0.0, 100.0), (1.0, 20.0), (10.0, 50.0), (11.0, 10.0)]
    found = statistics_of(record("2-8", rows))
    assert found.values == 2
    assert (found.box_bps[0], found.box_bps[-1]) == pytest.approx((30.3e6, 59.7e6), rel=1e-4)
    assert found.largest_step == pytest.approx(0.5, rel=1e-4)


def test_neighbours_do_not_reach_over_a_gap() -> None:
    found = statistics_of(record("full-speed", [(0.0, 100.0), (1.0, 100.0)], [(7.0, 10.0), (8.0, 10.0)]))
    assert found.largest_step == 0
    assert found.gaps_s == (5.0,)
    assert found.autocorrelation is None


def test_silence_is_a_value_and_nothing_is_divided_by_it() -> None:
    found = statistics_of(record("full-speed", [(at, 0.0) for at in range(4)]))
    assert (found.mean_bps, found.variation, found.largest_step) == (0.0, None, None)
    assert found.sender_cpu_s_per_gb is None


def test_of_nothing_nothing_is_said() -> None:
    with pytest.raises(ValueError, match="continue it"):
        statistics_of(record("full-speed"))
