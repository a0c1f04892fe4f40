"""Find stragglers: nodes that are limited by their credit bucket while their peers are not.

In a step of the counters (100 ms) a bucket **limits** its node if packets waited at both ends of the step and
no more left than its low rate gives. It is **open** if at least half as much again left. A node that is
limited in at least a tenth of a trial's steps is a straggler if fewer than half of its peers are; peers are
nodes whose buckets have the same two rates. A node **falls** when it is limited after it was open. One that
falls at least three times oscillates; otherwise its bucket ran dry and stayed so.

Only conditions with `credit` at `host.egress` have such nodes. Buckets count as they are before any timeline.

Source: Uta et al. 2020, NSDI, section 4.2 and Figure 18: all nodes but one do not deplete their budgets; that
one "oscillates between high and low bandwidths in short periods". The shares and counts are ours.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from crosswind.results.documents import RUN_AGAIN, blaming
from crosswind.results.reading import CounterRow, Results, StoredTrial
from crosswind.spec.resolved import Parameters, Resolved, number

STEP_NS = 100_000_000  # of the counters (contracts.md, section 3)
HELD_SHARE = 0.1  # of a trial's steps: enough to delay a shuffle of several rounds
FALLS_MIN = 3  # a bucket that runs dry falls once, and perhaps again after one pause
_LOW_REACHED = 1.2  # times the low rate: a step may have some packets more
_OPEN = 1.5  # times the low rate: no step at the low rate sends that much


@dataclass(frozen=True)
class Straggler:
    """A node that was limited in a trial while most of its peers were not."""

    node: str
    held_share: float  # of the trial's steps, in [HELD_SHARE, 1]
    falls: int  # from open to limited
    equals: int  # nodes whose buckets have the same rates, this one included
    held_equals: int  # those of them that were limited too, this one included

    @property
    def oscillates(self) -> bool:
        """Whether it changed back and forth between its rates."""
        return self.falls >= FALLS_MIN


@dataclass(frozen=True)
class _Course:
    """The behaviour of one node's bucket in a trial."""

    node: str
    rates_bps: tuple[int, int]  # low, high
    held_share: float
    falls: int


def stragglers_of(results: Results, row: StoredTrial) -> list[Straggler]:
    """Return the stragglers of a trial, by name; empty where its condition has no credit buckets."""
    buckets = _buckets(results.resolved, row.condition)
    measurement = results.measurement(row.trial)
    if not buckets or measurement is None:
        return []
    steps = max(1, measurement.window.length_ns // STEP_NS)
    with blaming(results.path / "resolved.json", RUN_AGAIN):
        return find_stragglers(results.counters(row.trial), buckets, steps)


def find_stragglers(rows: Iterable[CounterRow], buckets: Sequence[Parameters], steps: int) -> list[Straggler]:
    """Return the stragglers among the nodes whose buckets were counted.

    Args:
        rows: of all elements of one trial, in the order of time, without steps in which nothing happened.
        buckets: by their place in `host.egress`, as resolved; {} for another element.
        steps: of the trial.
    """
    by_element: dict[str, list[CounterRow]] = defaultdict(list)
    for row in rows:
        by_element[row.element].append(row)
    courses = [
        _course(node, bucket, counted, steps)
        for element, counted in by_element.items()
        if (node := _node(element)) is not None and (bucket := buckets[_place(element)])
    ]
    found = []
    for rates in {course.rates_bps for course in courses}:
        equals = [course for course in courses if course.rates_bps == rates]
        held = [course for course in equals if course.held_share >= HELD_SHARE]
        if len(held) < len(equals) / 2:
            found += [Straggler(c.node, c.held_share, c.falls, len(equals), len(held)) for c in held]
    return sorted(found, key=lambda straggler: straggler.node)


def _course(node: str, bucket: Parameters, rows: Sequence[CounterRow], steps: int) -> _Course:
    low_bps, high_bps = (number(bucket, name) for name in ("low_bps", "high_bps"))
    if low_bps is None or high_bps is None:
        raise ValueError("a credit bucket lacks one of its rates")
    low_bytes = low_bps * STEP_NS / 8e9
    held = falls = 0
    was_open = False
    before: CounterRow | None = None
    for row in rows:
        waited = before is not None and before.queued_bytes > 0 and row.at_ns - before.at_ns == STEP_NS
        if waited and row.queued_bytes > 0 and row.departed_bytes <= _LOW_REACHED * low_bytes:
            held += 1
            falls += was_open
            was_open = False
        elif row.departed_bytes > _OPEN * low_bytes:
            was_open = True
        before = row
    return _Course(node, (low_bps, high_bps), held / steps, falls)


def _buckets(resolved: Resolved, condition: str) -> list[Parameters]:
    """Return the buckets at `host.egress`, {} for other elements; empty where there is no bucket."""
    described = resolved.condition(condition)
    elements = [] if described is None else described.places.get("host.egress", [])
    buckets = [element.get("credit", {}) for element in elements]
    return buckets if any(buckets) else []


def _node(element: str) -> str | None:
    """Return the node of a bucket, `n3` of `n3/host.egress/0:credit`; None for another element."""
    of, _, rest = element.partition("/")
    return of if rest.startswith("host.egress/") and rest.endswith(":credit") else None


def _place(element: str) -> int:
    return int(element.rsplit("/", 1)[-1].split(":")[0])
