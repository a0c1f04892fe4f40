"""Measure the fingerprint of a network between two ends: several measurements, recorded in one document.

Where Crosswind makes the network, each measurement gets a new one, so that no token bucket is affected by the
measurement before it. On an existing network small measurements come first, and the one that empties a bucket
comes last.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from pydantic import JsonValue

from crosswind.analysis.network.document import SCHEMA, FingerprintDocument
from crosswind.analysis.network.ends import EndMachines, Looks
from crosswind.analysis.network.token_bucket import TokenBucket, TokenBucketPart
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.analysis.network.transfers import DelayPart, RoundTripPart, RoundTripsPart, SentPart
from crosswind.analysis.network.way import Way
from crosswind.fingerprint.bucket.token_bucket import identify
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
from crosswind.fingerprint.measure.machines import Bounds, Busy, machines, refuse_busy
from crosswind.fingerprint.measure.messages import Messages
from crosswind.fingerprint.measure.one_way import one_way
from crosswind.fingerprint.measure.round_trips import LOAD_S, beside_bulk, idle
from crosswind.fingerprint.measure.sent_bytes import SentBytes
from crosswind.fingerprint.measure.way import way_of
from crosswind.fingerprint.measure.write_sizes import SIZES_BYTES, WriteSize, write_sizes, write_sizes_s
from crosswind.fingerprint.shown import MeasurementEvents
from crosswind.machine.provenance import provenance
from crosswind.probe.flood import IP_BYTES
from crosswind.stats import quantile
from crosswind.stream import Event

# Times what TCP got in its fastest tenth of a second; more than that with headers.
OVERLOAD = 1.3
_QUANTILES = (0.0, 0.5, 0.9, 0.99, 1.0)
# Enough to show a level, however long the measurement is.
SAMPLES = 200


@dataclass(frozen=True)
class Extent:
    """How much is measured.

    Attributes:
        full_speed_s: length of each of the two full-speed bursts.
        rest_s: length of the rest between them, in which a bucket refills.
        connections: numbers of parallel connections to measure.
        repetitions: of each of these numbers.
        writes_bytes: sizes of writes to measure.
    """

    full_speed_s: float
    rest_s: float
    connections: Sequence[int] = CONNECTIONS
    repetitions: int = REPETITIONS
    writes_bytes: Sequence[int] = SIZES_BYTES

    @property
    def measurements(self) -> int:
        """How many measurements there are, without a first transfer."""
        return 4 + len(self.writes_bytes) + self.repetitions * len(self.connections)

    @property
    def at_rate_s(self) -> float:
        """How long the fingerprint sends at full speed, in total."""
        bulk_s = LOAD_S + capacity_s(self.connections, self.repetitions) + write_sizes_s(self.writes_bytes)
        return bulk_s + 2 * OVERLOAD * self.full_speed_s


@dataclass
class Fingerprint:
    """What a network is from one end to the other, as far as it was measured.

    Attributes:
        condition: the emulated one; None where the network is not Crosswind's.
        sent: payload, in total.
        seed: for what the network draws.
        machines_before, machines_after: the ends.
        provenance, provenance_after: of the machine that measures.
        idle, loaded: round trips on an idle network, and during `bulk`.
        delay_ns: one-way delays of small packets on an idle network, in the order of arrival; empty where the
            ends have no common clock.
        lost: number of these packets that were lost.
        transfers: each with its number of connections.
        offered_bps: rate of the trace's sender, in IP bits per second.
        trace: what arrived of it.
        ended: why it ended early; None where it is complete.
    """

    between: tuple[str, str]
    way: Way
    condition: str | None
    sent: SentBytes
    seed: int
    machines_before: EndMachines
    provenance: dict[str, JsonValue]
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
    machines_after: EndMachines | None = None
    provenance_after: dict[str, JsonValue] | None = None
    ended: str | None = None

    @property
    def capacity(self) -> list[Capacity]:
        """The transfers, by their number of connections."""
        return by_number(self.transfers)

    def delay_quantiles_ns(self) -> dict[str, float]:
        """Return quantiles of the one-way delay by their names; empty where it was not measured."""
        return quantiles_of([] if self.delay_ns is None else self.delay_ns.tolist())

    def document(self) -> FingerprintDocument:
        """Return the document, with what was measured."""
        looks = {"before": self.machines_before, "after": self.machines_after}
        trips = {"idle": self.idle, "loaded": self.loaded}
        found = FingerprintDocument(
            schema_version=SCHEMA,
            ended=self.ended,
            between=self.between,
            way=self.way,
            condition=self.condition,
            round_trip=RoundTripPart(**{name: _round_trips(asked) for name, asked in trips.items() if asked}),
            writes=[size.part() for size in self.writes],
            capacity=[number.part() for number in self.capacity],
            sent=SentPart(sent_bytes=self.sent.sent_bytes, most_bytes=self.sent.most_bytes),
            machines=Looks(**{when: seen for when, seen in looks.items() if seen is not None}),
            provenance=self.provenance,
            provenance_after=self.provenance_after,
        )
        parts: dict[str, object] = {}
        if self.delay_ns is not None:
            parts["delay"] = delay_part(self.delay_ns, self.lost)
        if self.bulk is not None:
            parts["bulk"] = self.bulk.part()
        if self.offered_bps is not None and self.token_bucket is not None and self.trace is not None:
            parts["token_bucket"] = bucket_part(self.offered_bps, self.token_bucket)
            parts["trace"] = samples_of(self.trace)
        return found.model_copy(update=parts)


def begin(
    network: Network,
    condition: str | None,
    seed: int,
    sent: SentBytes,
    bounds: Bounds,
    *,
    cloud: bool = False,
) -> Fingerprint:
    """Inspect both ends of a network, and return a fingerprint in which nothing is measured yet.

    Args:
        condition: the emulated one, if any.
        seed: for what the network draws.
        sent: counts what is sent, up to its limit.
        bounds: limits of what else the machines may do when this begins.
        cloud: whether the metadata service of a cloud is queried, once.
    Raises: TooBusy: a machine exceeds its bounds. TestbedError: an end cannot be reached.
    """
    before = provenance(Path.cwd(), seed, {}).as_json()
    with network() as ends:
        seen = machines(ends, cloud=cloud)
        refuse_busy(map(Busy.of, seen.places), bounds)
        between = ends.near.name, ends.far.name
        return Fingerprint(between, way_of(ends, seen.near), condition, sent, seed, seen, before)


def measure(
    found: Fingerprint,
    network: Network,
    extent: Extent,
    publish: Callable[[Event], None] = lambda _: None,
) -> None:
    """Measure a network into a fingerprint that was begun; each result is stored in it at once.

    Args:
        publish: is called with each measurement before it begins, and with what it found.
    Raises: TooMuch: a measurement would exceed the limit; it was not begun. TestbedError: an end is gone, or
        nothing arrives.
    """
    sent, shown = found.sent, MeasurementEvents(publish)
    shown.begin("round trips of small messages")
    found.idle = idle(network)
    shown.times("round trip", found.idle.round_trip_ns)
    shown.begin("delay of small packets")
    probes = one_way(network)
    found.delay_ns = probes.delay_ns if probes else np.empty(0, dtype=np.int64)
    found.lost = probes.lost if probes else 0
    shown.times("one-way delay", found.delay_ns.tolist())
    if sent.most_bytes is not None:
        shown.begin("a first transfer")
        first_rate(network, sent)
        sent.expect_seconds(extent.at_rate_s, "the whole fingerprint")
    shown.begin("round trips during a bulk transfer")
    found.loaded, found.bulk = beside_bulk(network)
    sent.count(found.bulk)
    shown.times("round trip", found.loaded.round_trip_ns)
    shown.transfer(found.bulk)
    for size in write_sizes(network, sent, extent.writes_bytes, shown.begin):
        found.writes.append(size)
        shown.transfer(size.stream)
        shown.times("round trip", size.messages.round_trip_ns)
    for number, transfer in capacity(network, sent, extent.connections, extent.repetitions, shown.begin):
        found.transfers.append((number, transfer))
        shown.transfer(transfer)
    full_speed_s, rest_s = extent.full_speed_s, extent.rest_s
    what = f"full speed for {full_speed_s:g} s, a rest of {rest_s:g} s, and full speed again"
    shown.begin(what)
    taken_bps = max(transfer.goodput_bps for _, transfer in found.transfers)
    offered_bps = OVERLOAD * max(found.bulk.fastest_bps, taken_bps)

    def spend(more_bytes: int) -> None:
        sent.expect(more_bytes, what)
        sent.add(more_bytes)

    path_mtu_bytes = found.machines_before.near.interface.path_mtu_bytes or IP_BYTES
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
    shown.trace(trace)
    with network() as ends:
        found.machines_after = machines(ends)
    found.provenance_after = provenance(Path.cwd(), found.seed, {}).as_json()


def delay_part(delay_ns: NDArray[np.int64], lost: int) -> DelayPart:
    """Return what a document records of the one-way delay."""
    each_ns = delay_ns.tolist()
    return DelayPart(
        packets=len(each_ns) + lost, lost=lost, one_way_ns=quantiles_of(each_ns), each_ns=each_ns
    )


def bucket_part(offered_bps: float, bucket: TokenBucket) -> TokenBucketPart:
    """Return what a document records of the token bucket."""
    return TokenBucketPart(offered_bps=offered_bps, **dict(bucket))


def samples_of(trace: TrafficTrace) -> list[tuple[float, float, int | float]]:
    """Return a trace as a document records it."""
    samples = zip(trace.begin_s, trace.end_s, trace.bits, strict=True)
    return [(round(float(begin), 9), round(float(end), 9), round(bits)) for begin, end, bits in samples]


def _round_trips(asked: Messages) -> RoundTripsPart:
    return RoundTripsPart(
        messages=len(asked.round_trip_ns) + asked.failed,
        failed=asked.failed,
        ns=quantiles_of(asked.round_trip_ns),
        each_ns=list(asked.thinned()),
    )


def quantiles_of(values: Sequence[float]) -> dict[str, float]:
    """Return the quantiles that a document records, by their names; empty without values."""
    return {f"p{100 * share:g}": quantile(values, share) for share in _QUANTILES if len(values)}
