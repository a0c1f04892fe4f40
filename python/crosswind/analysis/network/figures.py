"""The figures by which two fingerprints are compared: how each is read, and which difference is negligible.

A figure is the result of one measurement. Its 95 % interval comes from the packets, tenths of a second,
blocks and samples of that measurement. It does not cover the variation between measurements. The margins
cover that, and each margin has its source beside it.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from crosswind.analysis.network.document import FingerprintDocument
from crosswind.analysis.network.token_bucket import TokenBucketPart
from crosswind.analysis.network.transfers import BulkPart, RoundTripsPart
from crosswind.stats import Bounded, batch_mean, quantile, quantile_ranks, share_interval, student_mean
from crosswind.text.quantities import memory_text


@dataclass(frozen=True)
class AtLeast:
    """A lower bound, where the value itself was not reached."""

    at_least: float


@dataclass(frozen=True)
class Margin:
    """A negligible difference: a share of the smaller of two values, plus a constant."""

    share: float
    absolute: float = 0.0  # in the unit of the figure

    def of(self, first: float, second: float) -> float:
        """Return the margin for two values, in their unit."""
        return self.share * min(abs(first), abs(second)) + self.absolute


Found = Bounded | AtLeast | None
Read = Callable[[FingerprintDocument], Found]


@dataclass(frozen=True)
class Trait:
    """One figure.

    Attributes:
        unit: as in metrics (docs/reference/contracts.md, section 5); `share` is a share of 1.
        read: returns the figure of a document; None where the document does not have it.
    """

    key: str
    title: str
    unit: str
    margin: Margin
    read: Read


def _quantile_of(samples: Sequence[float], p: float) -> Found:
    """Return a quantile with its interval; a bound is infinite where there are too few samples for it."""
    if not samples:
        return None
    ordered = sorted(samples)
    ranks = quantile_ranks(len(ordered), p)
    low = -math.inf if ranks.low is None else float(ordered[ranks.low - 1])
    high = math.inf if ranks.high is None else float(ordered[ranks.high - 1])
    return Bounded(quantile(ordered, p), low, high)


def _delay(p: float) -> Read:
    """Read a quantile of the one-way delay."""
    return lambda document: _quantile_of(document.delay.each_ns, p) if document.delay else None


def _idle(p: float) -> Read:
    """Read a quantile of round trips on an idle network."""
    return lambda document: _round_trip(document.round_trip.idle, p)


def _loaded(p: float) -> Read:
    """Read a quantile of round trips during a bulk transfer."""
    return lambda document: _round_trip(document.round_trip.loaded, p)


def _round_trip(trips: RoundTripsPart | None, p: float) -> Found:
    return _quantile_of(trips.each_ns, p) if trips else None


def _lost(document: FingerprintDocument) -> Found:
    delay = document.delay
    return share_interval(delay.lost, delay.packets) if delay and delay.packets else None


def _goodput(document: FingerprintDocument) -> Found:
    return _rate_of(document.bulk.parts_bps if document.bulk else [])


def _rate_of(parts_bps: Sequence[float]) -> Found:
    mean = batch_mean(parts_bps or [0.0])
    return mean and Bounded(mean.value, max(0.0, mean.low), mean.high)


def _capacity(connections: int) -> Read:
    """Read the goodput over a number of connections, from all repetitions one after the other."""

    def read(document: FingerprintDocument) -> Found:
        for number in document.capacity:
            if number.connections == connections:
                return _rate_of([part for one in number.repetitions for part in one.parts_bps])
        return None

    return read


def _over_blocks(
    document: FingerprintDocument,
    numbers: Sequence[int],
    of: Callable[[BulkPart], float | None],
    scale: Callable[[float], float] = float,
) -> Bounded | None:
    """Return the mean over several numbers of connections, with an interval over blocks.

    A block has each number once. A disturbance of the machine affects a whole block, so the repetitions are
    blocks, not transfers. An incomplete block is left out.

    Args:
        of: the figure of one transfer.
        scale: the transformation under which the mean is taken.
    """
    found = [
        [of(one) for one in number.repetitions]
        for number in document.capacity
        if number.connections in numbers
    ]
    known = [[value for value in each if value] for each in found]
    # Older versions did not record it; a value that the tool rounded to 0 has no logarithm.
    if len(found) < len(numbers) or known != found:
        return None
    blocks = [sum(map(scale, block)) / len(block) for block in zip(*known, strict=False)]
    return student_mean(blocks) if blocks else None


def _fairness(numbers: Sequence[int]) -> Read:
    """Read Jain's index."""

    def read(document: FingerprintDocument) -> Found:
        found = _over_blocks(document, numbers, lambda one: one.jain)
        return found and Bounded(found.value, max(0.0, found.low), min(1.0, found.high))

    return read


def _cpu_time(numbers: Sequence[int], of: Callable[[BulkPart], float | None]) -> Read:
    """Read the CPU time of an end: a mean of logarithms, since other work multiplies it."""

    def read(document: FingerprintDocument) -> Found:
        found = _over_blocks(document, numbers, of, math.log)
        return found and Bounded(*map(math.exp, (found.value, found.low, found.high)))

    return read


def _message(write_bytes: int) -> Read:
    """Read the time of a message of a size and its answer."""

    def read(document: FingerprintDocument) -> Found:
        for size in document.writes:
            if size.write_bytes == write_bytes:
                return _quantile_of(size.message_ns, 0.5)
        return None

    return read


def _of_bucket(of: Callable[[TokenBucketPart], Bounded | None]) -> Read:
    """Read a figure of the token bucket."""
    return lambda document: of(document.token_bucket) if document.token_bucket else None


def until_empty(document: FingerprintDocument) -> Found:
    """Return the volume carried at the high rate until the bucket was empty; a bound if it never was."""
    bucket, trace = document.token_bucket, document.traffic()
    if bucket is None or bucket.emptied_s is None or bucket.budget_bits is None:
        return AtLeast(float(next(trace.phases()).bits.sum())) if trace else None
    refill, budget = bucket.refill_bps or bucket.low_bps, bucket.budget_bits
    refilled = refill.value * bucket.emptied_s if refill else 0.0
    return Bounded(*(end + refilled for end in (budget.value, budget.low, budget.high)))


# A benchmark of this project allows one-way delays an error of 1 % + 2 us. Sessions differ by more, and most
# people would not call a network different for a tenth.
_LATENCY = Margin(0.10, 2_000.0)
# Levels of one network wander by a few percent from session to session (Uta et al. 2020, section 3).
_RATE = Margin(0.05)
# The tail of an idle network is caused by other work of the machines at its ends.
_TAIL = Margin(0.25, 50_000.0)

# An index of 0.95 means that a twentieth of the connections gets nothing (Jain et al. 1984).
_FAIRNESS = Margin(0.0, 0.05)
# CPU frequency, caches and other work change it by this much on an unchanged network.
_CPU_TIME = Margin(0.25)

_LATENCIES = (
    Trait("delay-p50", "one-way delay (median)", "ns", _LATENCY, _delay(0.5)),
    Trait("delay-p90", "one-way delay (P90)", "ns", _TAIL, _delay(0.9)),
    Trait("delay-p99", "one-way delay (P99)", "ns", _TAIL, _delay(0.99)),
    Trait("round-trip-p50", "round trip (median)", "ns", _LATENCY, _idle(0.5)),
    Trait("round-trip-p99", "round trip (P99)", "ns", _TAIL, _idle(0.99)),
    # Neighbours in a queue wait for similar times, so this interval is too narrow.
    Trait("loaded-p50", "round trip during a bulk transfer (median)", "ns", _TAIL, _loaded(0.5)),
    Trait("loaded-p99", "round trip during a bulk transfer (P99)", "ns", _TAIL, _loaded(0.99)),
    Trait("lost", "small packets lost", "share", Margin(0.0, 0.01), _lost),
)
_GOODPUT = Trait("goodput", "goodput of bulk transfer", "bit/s", _RATE, _goodput)
_BUCKET = (
    Trait("high-rate", "rate at full speed", "bit/s", _RATE, _of_bucket(lambda bucket: bucket.high_bps)),
    Trait("until-empty", "carried until the bucket is empty", "bit", _RATE, until_empty),
    Trait("low-rate", "rate with an empty bucket", "bit/s", _RATE, _of_bucket(lambda bucket: bucket.low_bps)),
    Trait("budget", "bucket's budget", "bit", _RATE, _of_bucket(lambda bucket: bucket.budget_bits)),
    Trait("refill", "bucket's refill", "bit/s", _RATE, _of_bucket(lambda bucket: bucket.refill_bps)),
)


def figures_of(documents: Iterable[FingerprintDocument]) -> list[Trait]:
    """Return the figures that any of these documents may have, in the order in which they are shown.

    There is one for each size of writes and each number of connections in any of them. Figures over several
    numbers of connections are over those that all documents with transfers have.
    """
    sizes: set[int] = set()
    numbers: set[int] = set()
    common: set[int] | None = None
    for document in documents:
        sizes |= {size.write_bytes for size in document.writes}
        if measured := {number.connections for number in document.capacity}:
            numbers |= measured
            common = measured if common is None else common & measured
    messages = [_of_message(size) for size in sorted(sizes)]
    capacities = [_of_capacity(number) for number in sorted(numbers)]
    return [*_LATENCIES, *messages, _GOODPUT, *capacities, *_over_numbers(sorted(common or ())), *_BUCKET]


def _over_numbers(numbers: Sequence[int]) -> list[Trait]:
    """Return the figures over several numbers of connections; one connection is always fair."""
    found, many = [], [number for number in numbers if number > 1]
    if many:
        title = f"Jain's index, {_range(many)}"
        found.append(Trait("jain", title, "1", _FAIRNESS, _fairness(many)))
    ends: dict[str, Callable[[BulkPart], float | None]] = {
        "sender": lambda one: one.sender_cpu_s_per_gb,
        "receiver": lambda one: one.receiver_cpu_s_per_gb,
    }
    if numbers:
        found += [
            Trait(
                # The key is older than the title, and scripts search for it.
                f"{end}-processor-time",
                f"CPU time of the {end}, {_range(numbers)}",
                "s/GB",
                _CPU_TIME,
                _cpu_time(numbers, of),
            )
            for end, of in ends.items()
        ]
    return found


def _range(numbers: Sequence[int]) -> str:
    least, most = numbers[0], numbers[-1]
    said = f"{least}" if least == most else f"{least} to {most}"
    return f"{said} connection{'s' if most > 1 else ''}"


def _of_message(write_bytes: int) -> Trait:
    title = f"message of {memory_text(write_bytes)} and its answer (median)"
    return Trait(f"message-{write_bytes}", title, "ns", _LATENCY, _message(write_bytes))


def _of_capacity(connections: int) -> Trait:
    title = f"goodput of {connections} connection{'s' if connections > 1 else ''}"
    return Trait(f"goodput-{connections}", title, "bit/s", _RATE, _capacity(connections))
