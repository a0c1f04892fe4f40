"""Choose a machine for every vertex: long links are cut first, and the work is spread by capacity.

1. Vertices joined by a link that must not be cut, and those that are bound together, are one atom.
2. The threshold is the longest delay at which the parts that remain, when all links of at least this delay
   are cut, can be spread evenly. Only where no delay allows that are all links cut that may be.
3. Parts are assigned, the heaviest first: to the machine that has the neighbour at the smallest delay, unless
   the sum exceeds an even share of its capacity; then to the machine that is least loaded for its capacity.

The result depends on the order of vertices and machines only. Rules 1 and 2 are those of domains
(crates/fabric/src/domains/partition.rs); rule 3 is theirs for machines of different size.

Source: Graham 1969, "Bounds on multiprocessing timing anomalies" (heaviest first).
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache

from crosswind.plan.placement.parts import Edge, MachineCores, Sets

# An even share times this is even enough; of two machines, one then has three quarters at most.
_UNEVEN_MAX = 1.5


@dataclass(frozen=True)
class Assignment:
    """The machine of every vertex, by position, and the largest load, relative to an even share."""

    machine_of: list[int]
    used: int
    unevenness: float


def chosen(
    weights: Sequence[float],
    edges: Sequence[Edge],
    together: Sequence[tuple[int, int]],
    machines: Sequence[MachineCores],
) -> list[int]:
    """Return the machine of every vertex, by its position in `machines`.

    Args:
        weights: cores that each vertex takes.
        together: pairs that must be on one machine.
    """
    capacities = _capacities(machines)
    atoms = _joined(len(weights), edges, together, 0)
    used_max = min(atoms.count, len(machines))

    @lru_cache
    def at(threshold_ns: int) -> Assignment:
        return _assigned(weights, edges, _joined(len(weights), edges, together, threshold_ns), capacities)

    def is_uneven(threshold_ns: int) -> bool:
        return at(threshold_ns).used < used_max or at(threshold_ns).unevenness > _UNEVEN_MAX

    thresholds = sorted({edge.delay_ns for edge in edges})
    # Longer thresholds leave fewer and heavier parts, so those that are even come first.
    even = bisect_left(thresholds, True, key=is_uneven)
    return at(thresholds[even - 1] if even else 0).machine_of


def _joined(
    count: int, edges: Sequence[Edge], together: Sequence[tuple[int, int]], threshold_ns: int
) -> Sets:
    """Return the parts that remain when all links of at least `threshold_ns` are cut."""
    parts = Sets(count)
    for edge in edges:
        if edge.delay_ns == 0 or edge.delay_ns < threshold_ns:
            parts.join(*edge.ends)
    for pair in together:
        parts.join(*pair)
    return parts


def _capacities(machines: Sequence[MachineCores]) -> list[float]:
    """Return the cores of each machine; one whose cores are unknown counts as the smallest that is known."""
    known = [machine.usable for machine in machines if machine.usable is not None]
    return [float(machine.usable or min(known, default=1)) for machine in machines]


def _assigned(
    weights: Sequence[float], edges: Sequence[Edge], parts: Sets, capacities: Sequence[float]
) -> Assignment:
    """Return the machine of each part."""
    of_part = parts.weights(weights)
    share = sum(weights) / sum(capacities)  # Of a core of any machine.
    nearest: dict[int, dict[int, int]] = {part: {} for part in of_part}
    for edge in edges:
        one, other = (parts.root(end) for end in edge.ends)
        if one != other:
            for here, there in ((one, other), (other, one)):
                known = nearest[here].get(there, edge.delay_ns)
                nearest[here][there] = min(known, edge.delay_ns)
    loads = [0.0] * len(capacities)
    machine_of: dict[int, int] = {}
    for part in sorted(of_part, key=lambda part: (-of_part[part], part)):
        relative = [
            (load + of_part[part]) / capacity for load, capacity in zip(loads, capacities, strict=True)
        ]
        delay_to: dict[int, int] = {}
        for other, delay_ns in nearest[part].items():
            if other in machine_of:
                machine = machine_of[other]
                delay_to[machine] = min(delay_to.get(machine, delay_ns), delay_ns)
        # Sums of fractions are not exact.
        fitting = [machine for machine in delay_to if relative[machine] <= share * (1 + 1e-9)]
        chosen_one = min(
            fitting or range(len(capacities)),
            key=lambda machine: (delay_to[machine] if fitting else 0, relative[machine], machine),
        )
        machine_of[part] = chosen_one
        loads[chosen_one] += of_part[part]
    heaviest = max(load / capacity for load, capacity in zip(loads, capacities, strict=True))
    return Assignment(
        [machine_of[parts.root(vertex)] for vertex in range(len(weights))],
        len(set(machine_of.values())),
        heaviest / share if share else 1.0,
    )
