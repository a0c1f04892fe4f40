"""The measurements of monitors, over the counted trials of each condition.

Histograms are merged; percentiles are never averaged. A quantile is the upper edge of its bin (the lower edge
of the open bin), so it is at most one bin too large.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.results.reading import Results, TrendRow

# In the order of the report.
TITLES = {
    "utilisation": "Link utilisation",
    "packet-rate": "Packet rate",
    "packet-size": "Packet size",
    "interarrival": "Time between packets",
    "ipg": "Inter-packet gap",
    "burst-packets": "Burst length in packets",
    "burst-bytes": "Burst length in bytes",
    "queue-depth": "Queue depth",
    "queue-delay": "Queueing delay",
    "drops": "Drops",
    "flow-packets": "Flow size in packets",
    "flow-bytes": "Flow size in bytes",
    "tcp-window": "TCP window",
    "rtt-handshake": "Round trip of the handshake",
    "rtt-timestamps": "Round trip by timestamps",
    "retransmission-delay": "Time until retransmission",
    "reordering-extent": "Reordering extent",
}


@dataclass(frozen=True)
class Distribution:
    """One quantity at one element under one condition."""

    element: str
    what: str
    unit: str
    counts: str
    bins: list[tuple[int, int | None, int]]  # low, high and count of low <= value < high; ascending

    @property
    def total(self) -> int:
        """The number of values."""
        return sum(count for _, _, count in self.bins)

    def quantile(self, q: float) -> int:
        """Return the quantile `q`, to within a bin."""
        rank = q * self.total
        reached = 0
        for low, high, count in self.bins:
            reached += count
            if reached >= rank:
                return _value(low, high)
        return 0

    def cumulated(self) -> list[tuple[int, float]]:
        """Return (value, share of all values up to it) at the upper edge of each bin."""
        total, reached, points = self.total, 0, []
        for low, high, count in self.bins:
            reached += count
            points.append((_value(low, high), reached / total))
        return points


def _value(low: int, high: int | None) -> int:
    """Return the largest whole number of a bin; for the open bin the smallest."""
    return low if high is None else high - 1


def distributions(results: Results, condition: ConditionSummary) -> list[Distribution]:
    """Return the distributions of a condition, by quantity and element; empty without monitors."""
    bins: dict[tuple[str, str, str, str], Counter[tuple[int, int | None]]] = {}
    for trial in condition.counted:
        for row in results.histograms(trial.row.trial):
            key = (row.what, row.element, row.unit, row.counts)
            bins.setdefault(key, Counter())[row.low, row.high] += row.count
    order = list(TITLES)
    return [
        Distribution(
            element,
            what,
            unit,
            counts,
            [(low, high, n) for (low, high), n in sorted(found.items(), key=_low)],
        )
        for (what, element, unit, counts), found in sorted(
            bins.items(), key=lambda item: (order.index(item[0][0]), item[0][1])
        )
    ]


def by_place(found: Iterable[Distribution]) -> dict[str, Distribution]:
    """Return distributions of one quantity under one condition by the places of their monitors.

    The number of an element depends on the elements before it, and a delay of 0 is no element. So one monitor
    may be `h0/link.up/1:monitor` under one condition and `h0/link.up/2:monitor` under another. Its place here
    is `h0/link.up`, and that of a second monitor there `h0/link.up (2)`.
    """
    places: dict[str, list[tuple[int, Distribution]]] = {}
    for distribution in found:
        place, _, named = distribution.element.rpartition("/")
        places.setdefault(place, []).append((int(named.partition(":")[0]), distribution))
    return {
        place if rank == 1 else f"{place} ({rank})": distribution
        for place, members in places.items()
        for rank, (_, distribution) in enumerate(sorted(members, key=lambda member: member[0]), start=1)
    }


def _low(item: tuple[tuple[int, int | None], int]) -> int:
    return item[0][0]


def monitored(summary: Summary, results: Results) -> dict[str, list[Distribution]]:
    """Return the distributions of each condition by its name."""
    return {condition.name: distributions(results, condition) for condition in summary.conditions}


def courses(results: Results, condition: ConditionSummary) -> dict[str, list[tuple[str, list[TrendRow]]]]:
    """Return quantity -> (trial, its steps), for quantities that are recorded over time."""
    found: dict[str, list[tuple[str, list[TrendRow]]]] = {}
    for trial in condition.counted:
        rows = results.trends(trial.row.trial)
        for what in dict.fromkeys(row.what for row in rows):
            steps = [row for row in rows if row.what == what]
            found.setdefault(what, []).append((trial.row.trial, steps))
    return found
