"""From the arrivals of floods to samples of one trace."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.fingerprint.measure import duty_cycle as module
from crosswind.fingerprint.measure.duty_cycle import duty_cycle, refuse_interrupted, sampled
from crosswind.fingerprint.measure.ends import End, Ends
from crosswind.fingerprint.measure.packets import EndsReport, EndStalled
from crosswind.probe.flood import Flood

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


ENDS = Ends(
    End("a", (), "10.77.0.1", "", "", (), (), None),
    End("b", (), "10.77.0.2", "", "", (), (), None),
    one_machine=True,
    tool="traffic",
    ours=True,
)
REPORT = EndsReport(latest_ns=49_000_000, lasted_ns=1_000_000_000)


@pytest.mark.parametrize(
    ("said", "words"),
    [
        ({"latest_ns": 400_000_000}, r"a: the sender stalled for 0\.4 s in a burst of 1 s.*0\.05 s"),
        ({"lasted_ns": 1_300_000_000}, r"b: packets arrived for 1 s of the 1\.3 s.*none for 0\.25 s"),
        ({"overflowed": 3}, "b: the receiver had no room for 3 packets"),
    ],
)
def test_a_burst_that_either_end_interrupted_is_refused(said: dict[str, int], words: str) -> None:
    whole = flood(0, [0, *[10_000_000] * 100])
    refuse_interrupted(ENDS, whole, REPORT)
    with pytest.raises(EndStalled, match=words):
        refuse_interrupted(ENDS, whole, REPORT.model_copy(update=said))


@pytest.mark.parametrize(("ours", "tries", "words"), [(True, 5, "5 times"), (False, 1, "bucket")])
def test_an_interrupted_burst_is_repeated_only_where_no_bucket_remembers_it(
    monkeypatch: pytest.MonkeyPatch, ours: bool, tries: int, words: str
) -> None:
    made: list[int] = []
    spent: list[int] = []

    @contextmanager
    def network() -> Iterator[Ends]:
        made.append(1)
        yield replace(ENDS, ours=ours)

    def interrupted(*_: Any) -> list[Flood]:
        if len(made) <= stalls:
            raise EndStalled("the sender stalled")
        return [flood(0, [10_000_000] * 50)]

    monkeypatch.setattr(module, "_floods", interrupted)
    stalls = 5
    with pytest.raises(EndStalled, match=words):
        duty_cycle(network, 8e6, [1.0], 0.0, 0.05, spend=spent.append)
    assert (len(made), spent) == (tries, [1_000_000] * tries)
    made.clear()
    stalls = tries - 1
    assert duty_cycle(network, 8e6, [1.0], 0.0, 0.05).bits.sum() > 0
