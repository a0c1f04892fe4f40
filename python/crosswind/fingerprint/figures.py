"""The figures of a fingerprint that two of them are compared by: where each stands, and what does not matter.

A figure is what one measurement says, with the 95 % interval of that measurement: of the packets, tenths of a
second and samples that it took. How much one measurement differs from the next is in no interval of one; that
is what the margins are for, and each says where it comes from.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from crosswind.stats import Bounded, Convention, batch_mean, quantile, quantile_ranks, share_interval


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
class Figure:
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


def _quantile(p: float) -> Callable[[Mapping[str, Any]], Found]:
    """Read a quantile of the one-way delay; a bound that would take more packets is infinite."""

    def read(document: Mapping[str, Any]) -> Found:
        each = sorted(at(document, "delay", "each_ns") or ())
        if not each:
            return None
        ranks = quantile_ranks(len(each), p, convention=Convention.EQUAL_TAILED)
        low = -math.inf if ranks.low is None else float(each[ranks.low - 1])
        high = math.inf if ranks.high is None else float(each[ranks.high - 1])
        return Bounded(quantile(each, p), low, high)

    return read


def _lost(document: Mapping[str, Any]) -> Found:
    packets = at(document, "delay", "packets")
    return share_interval(at(document, "delay", "lost"), packets) if packets else None


def _goodput(document: Mapping[str, Any]) -> Found:
    mean = batch_mean(at(document, "bulk", "parts_bps") or [0.0])
    return mean and Bounded(mean.value, max(0.0, mean.low), mean.high)


def _of_bucket(key: str) -> Callable[[Mapping[str, Any]], Found]:
    """Read what was found of the token bucket with an interval."""

    def read(document: Mapping[str, Any]) -> Found:
        found = at(document, "token_bucket", key)
        return Bounded(**found) if found else None

    return read


def _until_empty(document: Mapping[str, Any]) -> Found:
    """Read what is carried at the high rate until the bucket is empty; what was, if it never was."""
    emptied_s, budget = at(document, "token_bucket", "emptied_s"), at(document, "token_bucket", "budget_bits")
    if emptied_s is None or budget is None:
        return AtLeast(_first_phase_bits(document["trace"])) if document.get("trace") else None
    back = at(document, "token_bucket", "refill_bps") or at(document, "token_bucket", "low_bps")
    came_back = back["value"] * emptied_s
    return Bounded(*(budget[end] + came_back for end in ("value", "low", "high")))


def _first_phase_bits(trace: list[list[float]]) -> float:
    from crosswind.fingerprint.traffic_trace import TrafficTrace

    return float(next(TrafficTrace.of(*zip(*trace, strict=True)).phases()).bits.sum())


# The error of one-way delays that a benchmark of this project allows itself is 1 % + 2 us; a session differs
# from the next by more, and a tenth is what most people would not call another network.
_LATENCY = Margin(0.10, 2_000.0)
# Levels of one network wander by a few percent from session to session (Uta et al. 2020, section 3).
_RATE = Margin(0.05)
# The tail of an idle network is made by the other work of the machines at its ends.
_TAIL = Margin(0.25, 50_000.0)

FIGURES = (
    Figure("delay-p50", "one-way delay (median)", "ns", _LATENCY, _quantile(0.5)),
    Figure("delay-p90", "one-way delay (P90)", "ns", _TAIL, _quantile(0.9)),
    Figure("delay-p99", "one-way delay (P99)", "ns", _TAIL, _quantile(0.99)),
    Figure("lost", "small packets lost", "share", Margin(0.0, 0.01), _lost),
    Figure("goodput", "goodput of bulk transfer", "bit/s", _RATE, _goodput),
    Figure("high-rate", "rate at full speed", "bit/s", _RATE, _of_bucket("high_bps")),
    Figure("until-empty", "carried until the bucket is empty", "bit", _RATE, _until_empty),
    Figure("low-rate", "rate with an empty bucket", "bit/s", _RATE, _of_bucket("low_bps")),
    Figure("budget", "bucket's budget", "bit", _RATE, _of_bucket("budget_bits")),
    Figure("refill", "bucket's refill", "bit/s", _RATE, _of_bucket("refill_bps")),
)
