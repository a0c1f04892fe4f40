"""The figures of a fingerprint that two of them are compared by: where each stands, and what does not matter.

A figure is what one measurement says, with the 95 % interval of that measurement: of the packets, tenths of a
second, blocks and samples that it took. How much one measurement differs from the next is in no interval of
one; that is what the margins are for, and each says where it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from crosswind.stats import Bounded, batch_mean, quantile, quantile_ranks, share_interval, student_mean
from crosswind.text.quantities import memory_text


@dataclass(frozen=True)
class AtLeast:
    """What was not reached: all that is known is that it is no less."""

    at_least: float


@dataclass(frozen=True)
class Margin:
    """A difference that does not matter: so much of the smaller of two values, and so much beside."""

    share: float
    absolute: float = 0.0  # in the unit of the figure

    def of(self, first: float, second: float) -> float:
        """Return it for two values, in their unit."""
        return self.share * min(abs(first), abs(second)) + self.absolute


Found = Bounded | AtLeast | None


@dataclass(frozen=True)
class Trait:
    """One figure.

    Attributes:
        unit: as metrics have it (docs/reference/contracts.md, section 5); `share` is a share of 1.
        read: returns it from a document, None where the document does not say.
    """

    key: str
    title: str
    unit: str
    margin: Margin
    read: Callable[[Mapping[str, Any]], Found]


def at(document: Mapping[str, Any], *path: str) -> Any:
    """Return what stands in a document at a path, None where nothing does."""
    found: Any = document
    for key in path:
        found = found.get(key) if isinstance(found, Mapping) else None
    return found


def _quantile(p: float, *path: str) -> Callable[[Mapping[str, Any]], Found]:
    """Read a quantile of samples that stand at a path."""
    return lambda document: _quantile_of(at(document, *path), p)


def _quantile_of(samples: Sequence[float] | None, p: float) -> Found:
    """Return a quantile with its interval; a bound that would take more samples is infinite."""
    if not samples:
        return None
    ordered = sorted(samples)
    ranks = quantile_ranks(len(ordered), p)
    low = -math.inf if ranks.low is None else float(ordered[ranks.low - 1])
    high = math.inf if ranks.high is None else float(ordered[ranks.high - 1])
    return Bounded(quantile(ordered, p), low, high)


def _lost(document: Mapping[str, Any]) -> Found:
    packets = at(document, "delay", "packets")
    return share_interval(at(document, "delay", "lost"), packets) if packets else None


def _goodput(document: Mapping[str, Any]) -> Found:
    return _rate_of(at(document, "bulk", "parts_bps"))


def _rate_of(parts_bps: Sequence[float] | None) -> Found:
    mean = batch_mean(parts_bps or [0.0])
    return mean and Bounded(mean.value, max(0.0, mean.low), mean.high)


def _capacity(connections: int) -> Callable[[Mapping[str, Any]], Found]:
    """Read the goodput of so many connections, of all repetitions one after the other."""

    def read(document: Mapping[str, Any]) -> Found:
        for number in document.get("capacity", ()):
            if number["connections"] == connections:
                return _rate_of([part for one in number["repetitions"] for part in one["parts_bps"]])
        return None

    return read


def _over_blocks(
    numbers: Sequence[int], key: str, scale: Callable[[float], float] = float
) -> Callable[[Mapping[str, Any]], Bounded | None]:
    """Read the mean over some numbers of connections, with the interval that its blocks give it.

    A block has each number once, and what the machine does for a while meets all of it alike: so blocks are
    the repetitions, and transfers of one block are none. A block that was cut short is left out.

    Args:
        scale: in which the mean is taken.
    """

    def read(document: Mapping[str, Any]) -> Bounded | None:
        found = [
            [one.get(key) for one in number["repetitions"]]
            for number in document.get("capacity", ())
            if number["connections"] in numbers
        ]
        # An earlier version did not keep it, and what a tool rounds to nothing has no logarithm.
        if len(found) < len(numbers) or not all(one for each in found for one in each):
            return None
        blocks = [sum(map(scale, block)) / len(block) for block in zip(*found, strict=False)]
        return student_mean(blocks) if blocks else None

    return read


def _fairness(numbers: Sequence[int]) -> Callable[[Mapping[str, Any]], Found]:
    """Read Jain's index."""
    of_blocks = _over_blocks(numbers, "jain")

    def read(document: Mapping[str, Any]) -> Found:
        found = of_blocks(document)
        return found and Bounded(found.value, max(0.0, found.low), min(1.0, found.high))

    return read


def _processor_time(numbers: Sequence[int], key: str) -> Callable[[Mapping[str, Any]], Found]:
    """Read the processor time of an end; a mean of logarithms, since other work multiplies it."""
    of_blocks = _over_blocks(numbers, key, math.log)

    def read(document: Mapping[str, Any]) -> Found:
        found = of_blocks(document)
        return found and Bounded(*map(math.exp, (found.value, found.low, found.high)))

    return read


def _message(write_bytes: int) -> Callable[[Mapping[str, Any]], Found]:
    """Read how long a message of a size takes with its answer."""

    def read(document: Mapping[str, Any]) -> Found:
        for size in document.get("writes", ()):
            if size["write_bytes"] == write_bytes:
                return _quantile_of(size["message_ns"], 0.5)
        return None

    return read


def _of_bucket(key: str) -> Callable[[Mapping[str, Any]], Found]:
    """Read what was found of the token bucket with an interval."""

    def read(document: Mapping[str, Any]) -> Found:
        found = at(document, "token_bucket", key)
        return Bounded(**found) if found else None

    return read


def until_empty(document: Mapping[str, Any]) -> Found:
    """Read what is carried at the high rate until the bucket is empty; what was, if it never was."""
    emptied_s, budget = at(document, "token_bucket", "emptied_s"), at(document, "token_bucket", "budget_bits")
    if emptied_s is None or budget is None:
        return AtLeast(_first_phase_bits(document["trace"])) if document.get("trace") else None
    back = at(document, "token_bucket", "refill_bps") or at(document, "token_bucket", "low_bps")
    came_back = back["value"] * emptied_s
    return Bounded(*(budget[end] + came_back for end in ("value", "low", "high")))


def _first_phase_bits(trace: list[list[float]]) -> float:
    from crosswind.analysis.network.traffic_trace import TrafficTrace

    return float(next(TrafficTrace.of(*zip(*trace, strict=True)).phases()).bits.sum())


# The error of one-way delays that a benchmark of this project allows itself is 1 % + 2 us; a session differs
# from the next by more, and a tenth is what most people would not call another network.
_LATENCY = Margin(0.10, 2_000.0)
# Levels of one network wander by a few percent from session to session (Uta et al. 2020, section 3).
_RATE = Margin(0.05)
# The tail of an idle network is made by the other work of the machines at its ends.
_TAIL = Margin(0.25, 50_000.0)

# An index of 0.95 is that of connections of which a twentieth gets nothing (Jain et al. 1984).
_FAIRNESS = Margin(0.0, 0.05)
# The machines' own: frequency, caches and other work change it so much with the network as it was.
_PROCESSOR_TIME = Margin(0.25)

# Where their samples stand.
_DELAYS = ("delay", "each_ns")
_IDLE = ("round_trip", "idle", "each_ns")
_LOADED = ("round_trip", "loaded", "each_ns")

_LATENCIES = (
    Trait("delay-p50", "one-way delay (median)", "ns", _LATENCY, _quantile(0.5, *_DELAYS)),
    Trait("delay-p90", "one-way delay (P90)", "ns", _TAIL, _quantile(0.9, *_DELAYS)),
    Trait("delay-p99", "one-way delay (P99)", "ns", _TAIL, _quantile(0.99, *_DELAYS)),
    Trait("round-trip-p50", "round trip (median)", "ns", _LATENCY, _quantile(0.5, *_IDLE)),
    Trait("round-trip-p99", "round trip (P99)", "ns", _TAIL, _quantile(0.99, *_IDLE)),
    # In a queue neighbours wait alike, which makes their interval too narrow.
    Trait("loaded-p50", "round trip beside a bulk transfer (median)", "ns", _TAIL, _quantile(0.5, *_LOADED)),
    Trait("loaded-p99", "round trip beside a bulk transfer (P99)", "ns", _TAIL, _quantile(0.99, *_LOADED)),
    Trait("lost", "small packets lost", "share", Margin(0.0, 0.01), _lost),
)
_GOODPUT = Trait("goodput", "goodput of bulk transfer", "bit/s", _RATE, _goodput)
_BUCKET = (
    Trait("high-rate", "rate at full speed", "bit/s", _RATE, _of_bucket("high_bps")),
    Trait("until-empty", "carried until the bucket is empty", "bit", _RATE, until_empty),
    Trait("low-rate", "rate with an empty bucket", "bit/s", _RATE, _of_bucket("low_bps")),
    Trait("budget", "bucket's budget", "bit", _RATE, _of_bucket("budget_bits")),
    Trait("refill", "bucket's refill", "bit/s", _RATE, _of_bucket("refill_bps")),
)


def figures_of(documents: Iterable[Mapping[str, Any]]) -> list[Trait]:
    """Return the figures that a document of these may have, in the order in which they are shown.

    There is one for each size of writes and each number of connections that any of them has; and what is told
    over several numbers of connections is told over those that all of them have.
    """
    sizes: set[int] = set()
    numbers: set[int] = set()
    common: set[int] | None = None
    for document in documents:
        sizes |= {size["write_bytes"] for size in document.get("writes", ())}
        if measured := {number["connections"] for number in document.get("capacity", ())}:
            numbers |= measured
            common = measured if common is None else common & measured
    messages = [_of_message(size) for size in sorted(sizes)]
    capacities = [_of_capacity(number) for number in sorted(numbers)]
    return [*_LATENCIES, *messages, _GOODPUT, *capacities, *_over_numbers(sorted(common or ())), *_BUCKET]


def _over_numbers(numbers: Sequence[int]) -> list[Trait]:
    """Return what is told over several numbers of connections; one connection is fair to itself."""
    found, many = [], [number for number in numbers if number > 1]
    if many:
        title = f"Jain's index, {_range(many)}"
        found.append(Trait("jain", title, "1", _FAIRNESS, _fairness(many)))
    if numbers:
        found += [
            Trait(
                f"{end}-processor-time",
                f"processor time of the {end}, {_range(numbers)}",
                "s/GB",
                _PROCESSOR_TIME,
                _processor_time(numbers, f"{end}_cpu_s_per_gb"),
            )
            for end in ("sender", "receiver")
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
