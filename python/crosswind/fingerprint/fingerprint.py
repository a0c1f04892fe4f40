"""The fingerprint of a network between two ends: what was measured, one after the other, as one document.

Where the network is a fabric of our own, each measurement has one of its own, so that no bucket remembers the
one before it. Elsewhere the small ones come first, and the one that empties a bucket comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.network.document import SCHEMA
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.token_bucket import TokenBucket, identify
from crosswind.fingerprint.measure.bulk import Bulk
from crosswind.fingerprint.measure.capacity import (
    CONNECTIONS,
    REPETITIONS,
    Capacity,
    by_number,
    capacity,
    capacity_s,
)
from crosswind.fingerprint.measure.duty_cycle import duty_cycle
from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.first_rate import first_rate
from crosswind.fingerprint.measure.machines import Bounds, machines, refuse_busy
from crosswind.fingerprint.measure.messages import Messages
from crosswind.fingerprint.measure.one_way import one_way
from crosswind.fingerprint.measure.round_trips import LOAD_S, beside_bulk, idle
from crosswind.fingerprint.measure.sent_bytes import SentBytes
from crosswind.fingerprint.measure.way import Way
from crosswind.fingerprint.measure.write_sizes import SIZES_BYTES, WriteSize, write_sizes, write_sizes_s
from crosswind.machine.provenance import provenance
from crosswind.probe.flood import IP_BYTES
from crosswind.stats import quantile

# More than TCP was given in its fastest moment, headers included.
OVERLOAD = 1.3
_QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)
# Enough to tell a level in, however long the measurement.
SAMPLES = 200


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        full_speed_s: how long a bucket has to be emptied in; the same again follows after a rest.
        rest_s: how long it has to refill in.
        connections: side by side, number by number.
        repetitions: of each of these numbers.
        writes_bytes: sizes of writes.
    """

    full_speed_s: float
    rest_s: float
    connections: Sequence[int] = CONNECTIONS
    repetitions: int = REPETITIONS
    writes_bytes: Sequence[int] = SIZES_BYTES

    @property
    def at_rate_s(self) -> float:
        """How long something is sent as fast as the network takes it."""
        bulk_s = LOAD_S + capacity_s(self.connections, self.repetitions) + write_sizes_s(self.writes_bytes)
        return bulk_s + 2 * OVERLOAD * self.full_speed_s


@dataclass
class Fingerprint:
    """What a network is between two ends, from the first to the second, as far as it has been measured.

    Attributes:
        condition: that was emulated; None where the network is not ours.
        sent: payload, all in all.
        machines_before, machines_after: of the ends (`machines.py`).
        provenance, provenance_after: of the machine that measured.
        idle, loaded: round trips on an idle network, and beside `bulk`.
        delay_ns: one-way delays of small packets on an idle network, in the order of their arrival; empty
            where the ends have no common clock.
        lost: of these packets.
        transfers: with their number of connections.
        offered_bps: IP bits per second that the trace's sender sent.
        trace: what arrived of them.
        ended: why it ended before it was whole; None where it is.
    """

    between: tuple[str, str]
    way: Way
    condition: str | None
    sent: SentBytes
    machines_before: Mapping[str, Any]
    provenance: Mapping[str, Any]
    idle: Messages | None = None
    delay_ns: NDArray[np.int64] | None = None
    lost: int = 0
    loaded: Messages | None = None
    bulk: Bulk | None = None
    writes: list[WriteSize] = field(default_factory=list)
    transfers: list[tuple[int, Bulk]] = field(default_factory=list)
    offered_bps: float | None = None
    trace: TrafficTrace | None = None
    token_bucket: TokenBucket | None = None
    machines_after: Mapping[str, Any] | None = None
    provenance_after: Mapping[str, Any] | None = None
    ended: str | None = None

    @property
    def capacity(self) -> list[Capacity]:
        """The transfers, by their number of connections."""
        return by_number(self.transfers)

    def delay_quantiles_ns(self) -> dict[str, float]:
        """Return quantiles of the one-way delay by their names; none where it was not measured."""
        return _quantiles([] if self.delay_ns is None else self.delay_ns.tolist())

    def as_dict(self) -> dict[str, Any]:
        """Return the document (docs/reference/contracts.md, section 9), of what was measured."""
        parts: dict[str, Any] = {}
        if self.delay_ns is not None:
            parts["delay"] = delay_part(self.delay_ns, self.lost)
        trips = {"idle": self.idle, "loaded": self.loaded}
        parts["round_trip"] = {name: _round_trips(asked) for name, asked in trips.items() if asked}
        if self.bulk is not None:
            parts["bulk"] = self.bulk.as_dict()
        if self.offered_bps is not None and self.token_bucket is not None and self.trace is not None:
            parts |= bucket_parts(self.offered_bps, self.token_bucket, self.trace)
        machines = {"before": self.machines_before, "after": self.machines_after}
        return {
            "schema": SCHEMA,
            "ended": self.ended,
            "between": list(self.between),
            "way": self.way.as_dict(),
            "condition": self.condition,
            **parts,
            "writes": [size.as_dict() for size in self.writes],
            "capacity": [number.as_dict() for number in self.capacity],
            "sent": {"bytes": self.sent.sent_bytes, "most_bytes": self.sent.most_bytes},
            "machines": {when: seen for when, seen in machines.items() if seen is not None},
            "provenance": dict(self.provenance),
            "provenance_after": self.provenance_after and dict(self.provenance_after),
        }


def begin(
    network: Network,
    condition: str | None,
    seed: int,
    sent: SentBytes,
    bounds: Bounds,
    *,
    cloud: bool = False,
) -> Fingerprint:
    """Look at both ends of a network, and return a fingerprint in which nothing is measured yet.

    Args:
        condition: that it emulates, if it does.
        seed: of what it draws.
        sent: how much may be sent; it is counted there.
        bounds: what the machines may do beside when this begins.
        cloud: whether its metadata service is asked, once.
    Raises: TooBusy: a machine does more. TestbedError: an end cannot be reached.
    """
    before = provenance(Path.cwd(), seed, {}).as_json()
    with network() as ends:
        seen = machines(ends, cloud=cloud)
        refuse_busy(seen, bounds)
        between = ends.near.name, ends.far.name
        return Fingerprint(between, Way.of(ends, seen["near"]), condition, sent, seen, before)


def measure(
    found: Fingerprint,
    network: Network,
    extent: Extent,
    say: Callable[[str], None] = lambda _: None,
) -> None:
    """Measure a network into a fingerprint that was begun; what is measured is in it at once.

    Args:
        say: is told what is under way.
    Raises: TooMuch: before what is too much. TestbedError: an end is gone, or nothing arrives; says what was
        under way.
    """
    sent = found.sent
    say("round trips of small messages")
    found.idle = idle(network)
    say("delay of small packets")
    probes = one_way(network)
    found.delay_ns = probes.delay_ns if probes else np.empty(0, dtype=np.int64)
    found.lost = probes.lost if probes else 0
    if sent.most_bytes is not None:
        say("a first transfer")
        first_rate(network, sent)
        sent.expect_seconds(extent.at_rate_s, "the whole fingerprint")
    say("round trips beside a bulk transfer")
    found.loaded, found.bulk = beside_bulk(network)
    sent.count(found.bulk)
    for size in write_sizes(network, sent, extent.writes_bytes, say):
        found.writes.append(size)
    for transfer in capacity(network, sent, extent.connections, extent.repetitions, say):
        found.transfers.append(transfer)
    full_speed_s, rest_s = extent.full_speed_s, extent.rest_s
    what = f"full speed for {full_speed_s:g} s, a rest of {rest_s:g} s, and full speed again"
    say(what)
    taken_bps = max(transfer.goodput_bps for _, transfer in found.transfers)
    offered_bps = OVERLOAD * max(found.bulk.fastest_bps, taken_bps)

    def spend(more_bytes: int) -> None:
        sent.expect(more_bytes, what)
        sent.add(more_bytes)

    path_mtu_bytes = found.machines_before["near"]["interface"]["path_mtu_bytes"] or IP_BYTES
    trace = duty_cycle(
        network,
        offered_bps,
        [full_speed_s] * 2,
        rest_s,
        full_speed_s / SAMPLES,
        min(IP_BYTES, path_mtu_bytes),
        spend,
    )
    found.offered_bps, found.trace, found.token_bucket = offered_bps, trace, identify(trace)
    with network() as ends:
        found.machines_after = machines(ends)
    found.provenance_after = provenance(Path.cwd(), found.provenance["seed"], {}).as_json()


def delay_part(delay_ns: NDArray[np.int64], lost: int) -> dict[str, Any]:
    """Return what a document says of the one-way delay."""
    each_ns = delay_ns.tolist()
    packets = len(each_ns) + lost
    return {"packets": packets, "lost": lost, "one_way_ns": _quantiles(each_ns), "each_ns": each_ns}


def bucket_parts(offered_bps: float, bucket: TokenBucket, trace: TrafficTrace) -> dict[str, Any]:
    """Return what a document says of the token bucket, and what it was found in."""
    samples = zip(trace.begin_s, trace.end_s, trace.bits, strict=True)
    return {
        "token_bucket": {"offered_bps": offered_bps, **asdict(bucket)},
        "trace": [[round(begin, 9), round(end, 9), round(bits)] for begin, end, bits in samples],
    }


def _round_trips(asked: Messages) -> dict[str, Any]:
    return {
        "messages": len(asked.round_trip_ns) + asked.failed,
        "failed": asked.failed,
        "ns": _quantiles(asked.round_trip_ns),
        "each_ns": asked.kept(),
    }


def _quantiles(values: Sequence[float]) -> dict[str, float]:
    return {f"p{100 * share:g}": quantile(values, share) for share in _QUANTILES if len(values)}
