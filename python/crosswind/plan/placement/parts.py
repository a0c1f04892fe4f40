"""Parts of a graph that stay whole: sets of vertices, joined one link at a time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

# One core of each machine carries the packets of its part of the network.
EMULATOR_CORES = 1


@dataclass(frozen=True)
class MachineCores:
    """A machine, and its cores; None: unknown."""

    name: str
    cores: int | None = None

    @property
    def usable(self) -> int | None:
        """Cores for nodes; at least one, because the emulator of a machine with one core shares it."""
        return None if self.cores is None else max(1, self.cores - EMULATOR_CORES)


@dataclass(frozen=True)
class Edge:
    """A link between two vertices, in either direction; `delay_ns` is 0 if it must not be cut."""

    ends: tuple[int, int]
    delay_ns: int


class Sets:
    """Disjoint sets of vertices; each set is known by its first vertex."""

    def __init__(self, count: int) -> None:
        self._parents = list(range(count))
        self.count = count

    def root(self, vertex: int) -> int:
        """Return the first vertex of a vertex's set."""
        parents = self._parents
        while parents[vertex] != vertex:
            parents[vertex] = parents[parents[vertex]]
            vertex = parents[vertex]
        return vertex

    def join(self, one: int, other: int) -> None:
        """Make one set of the sets of two vertices."""
        first, second = sorted((self.root(one), self.root(other)))
        if first != second:
            self._parents[second] = first
            self.count -= 1

    def weights(self, weights: Sequence[float]) -> dict[int, float]:
        """Return the sum of the weights in each set, by its first vertex, in the order of these."""
        found: dict[int, float] = {}
        for vertex, weight in enumerate(weights):
            root = self.root(vertex)
            found[root] = found.get(root, 0.0) + weight
        return found
