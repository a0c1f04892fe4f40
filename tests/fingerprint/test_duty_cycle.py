"""From the arrivals of floods to samples of one trace."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from crosswind.certify.flood import Flood
from crosswind.fingerprint.measure.duty_cycle import sampled

GAPS_NS = st.lists(st.integers(1, 40_000_000), min_size=2, max_size=60)


def flood(begin_ns: int, gaps_ns: list[int]) -> Flood:
    received_ns = begin_ns + np.cumsum(np.array(gaps_ns, dtype=np.int64))
    packets = np.ones(received_ns.size, dtype=np.int64)
    return Flood(received_ns, packets, 1500 * packets, 1.0)


@given(GAPS_NS, GAPS_NS)
def test_no_bit_is_lost_and_each_phase_ends_with_its_last_packet(first: list[int], second: list[int]) -> None:
    floods = [flood(0, first), flood(10_000_000_000, second)]
    trace = sampled(floods, 0.05)
    phases = list(trace.phases())
    assert len(phases) == 2
    for phase, sent in zip(phases, floods, strict=True):
        assert phase.bits.sum() == 12_000 * sent.received_ns.size
        assert np.isin(np.round(phase.end_s * 1e9) + floods[0].received_ns[0], sent.received_ns).all()
        assert np.isclose(phase.end_s[-1] - phase.begin_s[0], sent.span_s)
