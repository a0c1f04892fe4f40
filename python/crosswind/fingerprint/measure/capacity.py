"""Goodput of 1 to 50 parallel connections, in repetitions.

Each block has every number of connections once, so that changes over time affect all of them equally. Jain's
index is computed for each repetition and then summarised. Computed from averages over repetitions, it would
hide that connections take turns in being favoured.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass

from crosswind.analysis.network.transfers import CapacityPart, Spread
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

    @property
    def goodput_bps(self) -> Spread:
        """The goodput over the repetitions."""
        return _spread([one.goodput_bps for one in self.repetitions])

    @property
    def jain(self) -> Spread:
        """Jain's index over the repetitions."""
        return _spread([one.jain for one in self.repetitions])

    def part(self) -> CapacityPart:
        """Return what a fingerprint records."""
        return CapacityPart(
            connections=self.connections,
            goodput_bps=self.goodput_bps,
            jain=self.jain,
            repetitions=[one.part() for one in self.repetitions],
        )


def _spread(values: Sequence[float]) -> Spread:
    return Spread(median=quantile(values, 0.5), least=min(values), most=max(values))


def capacity_s(connections: Sequence[int], repetitions: int) -> float:
    """Return how long `capacity` sends, in total."""
    return repetitions * len(connections) * (WARM_UP_S + DURATION_S)


def capacity(
    network: Network,
    sent: SentBytes,
    connections: Sequence[int] = CONNECTIONS,
    repetitions: int = REPETITIONS,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[tuple[int, Bulk]]:
    """Measure each number of connections in each block; yield the number and the transfer.

    Args:
        say: is called with the name of each measurement.
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
    """Return the repetitions of each number of connections, in the order of the numbers' first."""
    found: dict[int, list[Bulk]] = {}
    for number, transfer in transfers:
        found.setdefault(number, []).append(transfer)
    return [Capacity(number, repetitions) for number, repetitions in found.items()]
