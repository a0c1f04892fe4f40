"""Claims: policers, shapers, RED and schedulers meet the criteria of Linux' own tests in net/forwarding.

Those tests send for 10 s and read counters. Virtual time has no noise, so a tenth of that or less is enough
here. Frames of 8000 bytes are packets of 1500 bytes here.

Source: Linux, tools/testing/selftests/net/forwarding.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.conformance.backlog import Backlog
from crosswind.certify.table import Fates, Packets, play
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.spec.resolved import FabricCondition, Parameters, ResolvedStep
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

FAMILY = "Linux net/forwarding"
MS_NS = 1_000_000

# tc_police.sh: rate 80mbit burst 16k, 1000 bytes of UDP.
POLICE_BPS, POLICE_BURST_BYTES, POLICE_IP_BYTES, POLICE_ERROR = 80_000_000, 16_384, 1028, 0.10
# sch_tbf_core.sh, sch_tbf_root.sh, sch_tbf_etsprio.sh: burst 128K limit 1M.
TBF_BPS, TBF_BURST_BYTES, TBF_BUFFER_BYTES, TBF_ERROR = (400_000_000, 800_000_000), 131_072, 1_048_576, 0.05
# lib.sh, multipath_eval; sch_ets_tests.sh, strict_eval and notraf_eval.
RATIO_ERROR, STRICT_SHARE = 0.15, 0.05
ETS_BPS = 1_000_000_000
ETS_WAIT_NS, ETS_MEASURE_NS = 50 * MS_NS, 50 * MS_NS
CODE_POINTS = (46, 26, 0)


def claims() -> Iterator[Claim]:
    """Yield the criteria of tc_police.sh, sch_tbf_*.sh, sch_red.sh and sch_ets_tests.sh."""
    for place, test in (("switch.ingress", "police_rx_test"), ("switch.egress", "police_tx_test")):
        yield _police(place, test)
    for rate_bps, test in zip(TBF_BPS, ("sch_tbf_root.sh", "sch_tbf_etsprio.sh"), strict=True):
        yield _tbf(rate_bps, test)
    yield from _red()
    for streams in ((0, 1), (1, 2)):
        yield from _strict(streams)
    # Quanta 3300 3300 3300; 5000 3500 1500, of which the second is then changed to 8000; 5000 2500.
    yield from _weighted("quanta 3300 3300 3300", (1, 1, 1))
    yield from _weighted("quanta 5000 3500 1500", (10, 7, 3), ("then 5000 8000 1500", (10, 16, 3)))
    yield from _weighted("quanta 5000 2500", (2, 1))


def _police(place: str, test: str) -> Claim:
    element = {"police": {"rate_bps": POLICE_BPS, "burst_bytes": POLICE_BURST_BYTES}}
    begin_ns, end_ns = 100 * MS_NS, 1100 * MS_NS
    packets = _stream(1.5 * POLICE_BPS, POLICE_IP_BYTES, end_ns)
    fates = play(plain_fabric(places={place: [element]}), packets)
    return _rate_error(
        f"police 80mbit burst 16k at {place}: error of the rate",
        _rate_bps(fates, begin_ns, end_ns),
        POLICE_BPS,
        POLICE_ERROR,
        f"tc_police.sh, {test}: 80 Mbit/s, accuracy +-10 %",
    )


def _tbf(rate_bps: int, test: str) -> Claim:
    element = {
        "shape": {
            "rate_bps": rate_bps,
            "burst_bytes": TBF_BURST_BYTES,
            "buffer_bytes": TBF_BUFFER_BYTES,
            "drop": "tail",
        }
    }
    begin_ns, end_ns = 100 * MS_NS, 300 * MS_NS
    packets = _stream(1.25 * rate_bps, 1500, end_ns)
    fates = play(plain_fabric(places={"switch.egress": [element]}), packets)
    return _rate_error(
        f"tbf {rate_text(rate_bps)} burst 128K limit 1M: error of the rate",
        _rate_bps(fates, begin_ns, end_ns),
        rate_bps,
        TBF_ERROR,
        f"{test} and sch_tbf_core.sh: accuracy +-5 %",
    )


def _rate_error(name: str, measured_bps: float, rate_bps: int, bound: float, because: str) -> Claim:
    error = abs(measured_bps / rate_bps - 1)
    return at_most(
        FAMILY, name, "virtual", error, bound, "ratio", because, details={"measured_bps": measured_bps}
    )


def _red() -> Iterator[Claim]:
    """Yield the criteria of `red_test` and `red_qevent_test`, where a full stream holds the backlog."""
    below = Backlog()
    reached = below.build(below.limit_bytes * 2 // 3)
    since_ns = below.now_ns
    below.wait(5000 * MS_NS)
    dropped = below.dropped(since_ns)
    yield at_most(
        FAMILY,
        "red, backlog below the limit: share of packets dropped",
        "virtual",
        dropped / below.offered(since_ns) if reached else np.inf,
        0,
        "ratio",
        "sch_red.sh, red_test and ecn_test: backlog of 2/3 of the limit is built, then 0 %",
    )
    above = Backlog()
    reached = above.build(above.limit_bytes * 3 // 2)
    yield at_most(
        FAMILY,
        "red: times that a backlog of 3/2 of the limit is built, in 11 attempts",
        "virtual",
        int(reached),
        0,
        "times",
        "sch_red.sh, red_test: traffic above the limit is dropped early",
        details={"backlog_bytes": above.backlog_bytes()},
    )
    since_ns = above.now_ns
    above.send(100)
    above.wait(1000 * MS_NS)
    dropped = above.dropped(since_ns)
    yield at_most(
        FAMILY,
        "red, after these attempts: packets that 100 more fall short of 100 early drops",
        "virtual",
        max(0, 100 - dropped),
        0,
        "packets",
        "sch_red.sh, red_qevent_test: at least 100 early drops in the next second",
        details={"dropped": dropped},
    )


def _strict(streams: tuple[int, int]) -> Iterator[Claim]:
    scheduled: Parameters = {"by": "strict", "queues": _queues((None, None, None))}
    sent = _scheduled(scheduled, streams)
    high, low = _bytes(sent, streams, ETS_WAIT_NS)
    for stream, share, word, criterion in (
        (streams[0], 1 - high / (high + low), "not of the higher band", "more than 95 %"),
        (streams[1], low / (high + low), "of the lower band", "less than 5 %"),
    ):
        yield at_most(
            FAMILY,
            f"ets strict 3, streams {streams[0]} and {streams[1]}: share {word}",
            "virtual",
            share,
            STRICT_SHARE,
            "ratio",
            f"sch_ets_tests.sh, ets_test_strict, band {stream}: {criterion}",
        )


def _weighted(
    named: str, weights: Sequence[int], then: tuple[str, Sequence[int]] | None = None
) -> Iterator[Claim]:
    """Yield the ratio of each band to the first, also after a change of the weights on a running link."""
    streams = tuple(range(len(weights)))
    by: Parameters = {"by": "drr", "queues": _queues(weights)}
    changed: Parameters | None = {"by": "drr", "queues": _queues(then[1])} if then else None
    sent = _scheduled(by, streams, changed)
    yield from _ratios(named, weights, _bytes(sent, streams, ETS_WAIT_NS))
    if then:
        second_ns = 2 * ETS_WAIT_NS + ETS_MEASURE_NS
        yield from _ratios(f"{named}, {then[0]}", then[1], _bytes(sent, streams, second_ns))


def _ratios(named: str, weights: Sequence[int], measured: Sequence[float]) -> Iterator[Claim]:
    for stream in range(1, len(weights)):
        expected = max(weights[0], weights[stream]) / min(weights[0], weights[stream])
        wide, narrow = (0, stream) if weights[0] > weights[stream] else (stream, 0)
        ratio = measured[wide] / measured[narrow]
        yield at_most(
            FAMILY,
            f"ets {named}: error of bands 0:{stream}",
            "virtual",
            abs(expected - ratio) / expected,
            RATIO_ERROR,
            "ratio",
            "sch_ets_tests.sh, ets_test_dwrr, and lib.sh, multipath_eval: 15 % of the ratio of quanta",
            details={"expected": expected, "measured": ratio},
        )


def _queues(weights: Sequence[int | None]) -> list[JsonValue]:
    last = len(weights) - 1
    return [
        {"dscp": None if band == last else [CODE_POINTS[band]], "weight": weight}
        for band, weight in enumerate(weights)
    ]


def _scheduled(schedule: Parameters, streams: Sequence[int], changed: Parameters | None = None) -> Fates:
    """Return the fates of full streams into one link, each from a host of its own."""
    receiver = len(streams)
    place = "switch.egress"
    fabric = plain_fabric(
        [f"n{number}" for number in range(receiver + 1)],
        rate_bps=ETS_BPS,
        places={place: [{"schedule": {**schedule, "on": [f"h{receiver}"]}}]},
    )
    end_ns = ETS_WAIT_NS + ETS_MEASURE_NS
    if changed is not None:
        step = ResolvedStep(at_ns=end_ns, places={place: [{"schedule": {**changed, "on": [f"h{receiver}"]}}]})
        condition = fabric.condition.model_copy(update={"timeline": [step]})
        fabric = fabric.with_changes(condition=FabricCondition.model_validate(condition))
        end_ns *= 2
    gap_ns = wire_bytes(1500) * 8 * 10**9 // ETS_BPS
    at_ns = np.arange(0, end_ns, gap_ns)
    packets = Packets.of(
        np.tile(at_ns, receiver),
        dscp=np.repeat([CODE_POINTS[stream] for stream in streams], len(at_ns)),
        source=np.repeat(np.arange(receiver), len(at_ns)),
        destination=receiver,
    )
    return play(fabric, packets)


def _bytes(fates: Fates, streams: Sequence[int], begin_ns: int) -> list[float]:
    """Return the bytes of each stream that left while the source counts."""
    within = _within(fates, begin_ns, begin_ns + ETS_MEASURE_NS)
    return [
        float(fates.sent.ip_bytes[within & (fates.sent.source == place)].sum())
        for place in range(len(streams))
    ]


def _stream(rate_bps: float, ip_bytes: int, end_ns: int) -> Packets:
    return Packets.of(np.arange(0, end_ns, ip_bytes * 8e9 / rate_bps).astype(np.int64), ip_bytes)


def _rate_bps(fates: Fates, begin_ns: int, end_ns: int) -> float:
    bits = float(fates.sent.ip_bytes[_within(fates, begin_ns, end_ns)].sum()) * 8
    return bits * 1e9 / (end_ns - begin_ns)


def _within(fates: Fates, begin_ns: int, end_ns: int) -> NDArray[np.bool_]:
    return (fates.departed_ns >= begin_ns) & (fates.departed_ns < end_ns)
