"""Claims: the paths of RFC 8867 have the capacity, delay and queue that each of its test cases declares.

The RFC evaluates congestion controls. Here only its paths are made: a timeline gives the bottleneck the
RFC's capacities, packets that overload it show what it carries and how long a full queue takes, and single
packets show its delay. The RFC states no tolerance, so the bounds are those of whole packets and whole
nanoseconds. It states queues as a time; here a queue has the bytes that the reference capacity sends in that
time.

Source: RFC 8867, sections 4 and 5.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Fates, Packets, play
from crosswind.certify.virtual.exact import wire_bytes
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import FabricCondition, Parameters, ResolvedStep, SentElement
from crosswind.testbed.plain import plain_fabric

FAMILY = "RFC 8867"
MS_NS, S_NS = 1_000_000, 1_000_000_000
PACKET_WIRE_BITS = wire_bytes(1500) * 8
OVERLOAD = 1.25
# A path that does not change is shown for this long.
CONSTANT_S = 10
# Single packets are this far apart, so that none waits for another at 500 kbit/s.
GAP_NS, PROBE_IP_BYTES = 200 * MS_NS, 500


@dataclass(frozen=True)
class Path:
    """A test case's path.

    Attributes:
        forward, backward: kbit/s from a second on; backward is that of the other way, if it has one.
        reference: kbit/s.
        ends_s: of the last level.
        delays_ms: one way, for each flow.
        queue_ms: at the reference capacity.
    """

    section: str
    forward: Sequence[tuple[int, int]]
    reference: int
    ends_s: int = CONSTANT_S
    backward: Sequence[tuple[int, int]] = ()
    delays_ms: Sequence[int] = (50,)
    queue_ms: int = 300


PATHS = (
    Path("5.1", ((0, 1000), (40, 2500), (60, 600), (80, 1000)), 1000, 100),
    Path("5.2", ((0, 4000), (25, 2000), (50, 3500), (75, 1000), (100, 2000)), 2000, 125),
    Path(
        "5.3",
        ((0, 2000), (20, 1000), (40, 500), (60, 2000)),
        1000,
        100,
        backward=((0, 2000), (35, 800), (70, 2000)),
    ),
    Path("5.4", ((0, 3500),), 3500),
    Path("5.5", ((0, 4000),), 4000, delays_ms=(10, 25, 50, 100, 150)),
    Path("5.6", ((0, 2000),), 2000),
    Path("5.6", ((0, 2000),), 2000, queue_ms=1000),
    Path("5.7", ((0, 2000),), 2000),
    Path("5.8", ((0, 3500),), 3500),
)


def claims() -> Iterator[Claim]:
    """Yield, for each path, claims on its capacity in every phase, its delay, its loss and its queue."""
    for path in PATHS:
        named = path.section if path.queue_ms == 300 else f"{path.section}, queue of {path.queue_ms} ms"
        ways = [("forward", path.forward), ("backward", path.backward)]
        for way, levels in ways:
            if levels:
                fates = _overloaded(path, levels)
                yield _capacity(path, levels, fates, f"{named}, {way}")
                if way == "forward":
                    yield _queue(path, fates, named)
        yield from _delay(path, named)


def _capacity(path: Path, levels: Sequence[tuple[int, int]], fates: Fates, named: str) -> Claim:
    errors = []
    for begin_s, end_s, kbps in _phases(path, levels):
        # The delay is in front of the bottleneck, so the first packet reaches it that much later.
        begin_ns, end_ns = max(begin_s * S_NS, path.delays_ms[0] * MS_NS), end_s * S_NS
        errors.append(abs(_carried_bits(fates, begin_ns, end_ns) - kbps * (end_ns - begin_ns) / 1e6))
    schedule = ", ".join(f"{kbps / 1000:g} Mbit/s from {begin_s} s" for begin_s, kbps in levels)
    return at_most(
        FAMILY,
        f"{named}: largest error of a phase in what the bottleneck carries",
        "virtual",
        max(errors) / PACKET_WIRE_BITS,
        1,
        "of a packet",
        f"section {path.section}, path capacity: {schedule}; whole packets",
        details={"phases": len(errors), "until_s": path.ends_s},
    )


def _queue(path: Path, fates: Fates, named: str) -> Claim:
    """Return the claim on the wait in a full queue, in the second half of a phase of the reference."""
    begin_s, end_s, kbps = next(phase for phase in _phases(path, path.forward) if phase[2] == path.reference)
    middle_ns = (begin_s + end_s) * S_NS // 2
    at_ns, left_ns = fates.sent.at_ns, fates.departed_ns
    packet_ns = PACKET_WIRE_BITS * 1e6 / kbps
    flow = fates.sent.source == 0
    # A packet that enters the queue at the end would leave at the next phase's rate.
    entered = (at_ns >= middle_ns) & (at_ns < end_s * S_NS - 2 * path.queue_ms * MS_NS)
    waits_ns = (left_ns - at_ns)[flow & entered & np.isfinite(left_ns)]
    wait_ns = float(waits_ns.max()) - path.delays_ms[0] * MS_NS - packet_ns
    return at_most(
        FAMILY,
        f"{named}: error of the wait in a full queue",
        "virtual",
        abs(wait_ns - path.queue_ms * MS_NS),
        packet_ns,
        "ns",
        f"section {path.section}, bottleneck queue: drop tail, {path.queue_ms} ms; one packet's time",
        details={"wait_ns": wait_ns},
    )


def _delay(path: Path, named: str) -> Iterator[Claim]:
    flows = len(path.delays_ms)
    at_ns = np.arange(GAP_NS // 4, path.ends_s * S_NS, GAP_NS)
    # The flows take turns, so that none waits for another.
    at = np.concatenate([at_ns + flow * GAP_NS // (2 * flows) for flow in range(flows)])
    source = np.repeat(np.arange(flows), len(at_ns))
    packets = Packets.of(at, PROBE_IP_BYTES, source=source, destination=flows)
    fates = play(_fabric(path, path.forward), packets)
    level = np.searchsorted([begin_s * S_NS for begin_s, _ in path.forward], packets.at_ns, "right") - 1
    kbps = np.array([kbps for _, kbps in path.forward])[level]
    delays_ns = np.array(path.delays_ms)[packets.source] * MS_NS
    expected_ns = delays_ns + wire_bytes(PROBE_IP_BYTES) * 8e6 / kbps
    declared = ", ".join(map(str, path.delays_ms))
    yield at_most(
        FAMILY,
        f"{named}: largest error of the one-way delay of a single packet",
        "virtual",
        float(np.abs(fates.departed_ns - packets.at_ns - expected_ns).max()),
        1,
        "ns",
        f"section {path.section}, one-way propagation delay: {declared} ms, and its time on the wire",
        details={"packets": len(packets)},
    )
    yield at_most(
        FAMILY,
        f"{named}: single packets lost",
        "virtual",
        int(np.sum(~np.isfinite(fates.departed_ns))),
        0,
        "packets",
        f"section {path.section}, path loss ratio: 0 %",
        details={"packets": len(packets)},
    )


def _phases(path: Path, levels: Sequence[tuple[int, int]]) -> Iterator[tuple[int, int, int]]:
    """Yield the begin and the end of each phase in s, and its kbit/s."""
    ends = [*(begin_s for begin_s, _ in levels[1:]), path.ends_s]
    for (begin_s, kbps), end_s in zip(levels, ends, strict=True):
        yield begin_s, end_s, kbps


def _carried_bits(fates: Fates, begin_ns: int, end_ns: int) -> float:
    """Return the wire bits that left the bottleneck in a phase."""
    within: NDArray[np.bool_] = (fates.departed_ns > begin_ns) & (fates.departed_ns <= end_ns)
    return float(within.sum()) * PACKET_WIRE_BITS


def _overloaded(path: Path, levels: Sequence[tuple[int, int]]) -> Fates:
    """Return the fates of packets that the bottleneck cannot carry, of the first flow."""
    offered_bps = OVERLOAD * max(kbps for _, kbps in levels) * 1000
    at_ns = np.arange(0, path.ends_s * S_NS, PACKET_WIRE_BITS * 1e9 / offered_bps).astype(np.int64)
    return play(_fabric(path, levels), Packets.of(at_ns, destination=len(path.delays_ms)))


def _fabric(path: Path, levels: Sequence[tuple[int, int]]) -> FabricSpec:
    """Return senders and a receiver whose link is the bottleneck, with its levels as a timeline."""
    receiver = f"h{len(path.delays_ms)}"

    def bottleneck(kbps: int) -> SentElement:
        process: Parameters = {"levels": {"at_ns": [0], "rate_bps": [kbps * 1000]}}
        return {"capacity": {"process": process, "direction": "down", "on": [receiver]}}

    delays: list[SentElement] = [
        {"delay": {"time_ns": delay_ms * MS_NS, "on": [f"h{flow}"]}}
        for flow, delay_ms in enumerate(path.delays_ms)
    ]
    (_, first), *later = levels
    fabric = plain_fabric(
        [f"n{number}" for number in range(len(path.delays_ms) + 1)],
        buffer_bytes=path.reference * path.queue_ms // 8,
        places={"host.egress": delays, "link": [bottleneck(first)]},
    )
    steps = [
        ResolvedStep(at_ns=begin_s * S_NS, places={"link": [bottleneck(kbps)]}) for begin_s, kbps in later
    ]
    condition = fabric.condition.model_copy(update={"timeline": steps})
    links = [
        link.model_copy(update={"rate_bps": path.reference * 1000}) if link.target == receiver else link
        for link in fabric.links
    ]
    return fabric.with_changes(condition=FabricCondition.model_validate(condition), links=links)
