"""What 1 to 50 connections side by side are given, repetition by repetition.

Every number of connections comes once in each block, so that what changes over time meets all of them
alike. Jain's index is of the connections of one repetition, and only then summarised: of averages over
repetitions it would say that everybody gets the same where everybody is now lucky and now not.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from crosswind.fingerprint.measure.bulk import WARM_UP_S, Bulk, bulk
from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.sent_bytes import SentBytes
from crosswind.stats import quantile

CONNECTIONS = (1, 2, 5, 10, 20, 50)
REPETITIONS, DURATION_S = 3, 0.5


@dataclass(frozen=True)
class Capacity:
    """The repetitions with one number of connections; at least one."""

    connections: int
    repetitions: list[Bulk]

    def summary(self, key: str) -> dict[str, float]:
        """Return median and range over the repetitions of one figure."""
        values = [getattr(one, key) for one in self.repetitions]
        return {"median": quantile(values, 0.5), "least": min(values), "most": max(values)}

    def as_dict(self) -> dict[str, Any]:
        """Return what a fingerprint keeps (docs/reference/contracts.md, section 9)."""
        return {
            "connections": self.connections,
            "goodput_bps": self.summary("goodput_bps"),
            "jain": self.summary("jain"),
            "repetitions": [one.as_dict() for one in self.repetitions],
        }


def capacity_s(connections: Sequence[int], repetitions: int) -> float:
    """Return how long transfers are under way in `capacity`."""
    return repetitions * len(connections) * (WARM_UP_S + DURATION_S)


def capacity(
    network: Network,
    sent: SentBytes,
    connections: Sequence[int] = CONNECTIONS,
    repetitions: int = REPETITIONS,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[int, Bulk]]:
    """Measure what each number of connections is given; yield each number with a repetition of it.

    Args:
        say: is told what is under way.
    """
    for block in range(repetitions):
        for number in connections:
            say(f"{number} connections, {block + 1} of {repetitions}")
            sent.expect_seconds(WARM_UP_S + DURATION_S, f"bulk transfer over {number} connections")
            with network() as ends:
                transfer = bulk(ends, number, DURATION_S)
            sent.count(transfer)
            yield number, transfer


def by_number(transfers: Iterable[tuple[int, Bulk]]) -> list[Capacity]:
    """Return repetitions with their number of connections, each number once, in the order of their first."""
    found: dict[int, list[Bulk]] = {}
    for number, transfer in transfers:
        found.setdefault(number, []).append(transfer)
    return [Capacity(number, repetitions) for number, repetitions in found.items()]
