"""Whether results stay the same at another dilation: then neither the machine nor a real timer matters.

A pair is two conditions that differ only in their dilation: k and 2k, or none and 1. The latter is the null
run, in which what slows time down is installed and changes nothing. Trials of one block have the same seed
and are near in time, so the ratio of a number is taken within each block. Two one-sided tests of the
logarithms show whether the mean ratio is within the margin. A result is the same only where the data exclude
a larger change; without enough of them it is undecided.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from crosswind.analysis.measure import Measure
from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.spec.resolved import Resolved, ResolvedCondition, dilation_of
from crosswind.stats.equivalence import Alike, alike, tost_paired

# The largest change that does not matter: by 5 % more, or as much less.
MARGIN = 1.05
# Of two or three differences, nobody sees whether a t distribution describes their mean.
ROUNDS_MIN = 4
# A forecast beyond is no help.
ROUNDS_MAX = 1000


@dataclass(frozen=True)
class Pair:
    """Two conditions that differ only in their dilation."""

    base: ResolvedCondition
    slower: ResolvedCondition
    dilations: tuple[int | None, int]

    @property
    def is_null(self) -> bool:
        """Whether it compares real time with a dilation of 1."""
        return self.dilations[0] is None

    @property
    def condition(self) -> str:
        """What both are called, where `crosswind certify` made them of one; else the first one's name."""
        return self.base.name.partition("@")[0]

    @property
    def words(self) -> str:
        """Both dilations, such as `10 and 20 times slower`."""
        base, slower = self.dilations
        return "real time and a dilation of 1" if base is None else f"{base} and {slower} times slower"


@dataclass(frozen=True)
class Agreement:
    """One number of a trial under both conditions of a pair.

    Attributes:
        rounds: blocks in which both conditions have a trial that counts.
        change: mean ratio, the slower one over the other; None where there is no interval.
        low, high: its interval at 90 %, as two one-sided tests at 5 % have it.
        reason: why there is no interval; empty where there is one.
        more_rounds: that would decide it, if spread and change stay; None where it is decided, or hardly any
            number would.
    """

    pair: Pair
    measure: Measure
    rounds: int
    outcome: Alike
    change: float | None = None
    low: float | None = None
    high: float | None = None
    reason: str = ""
    more_rounds: int | None = None


def pairs_of(resolved: Resolved) -> list[Pair]:
    """Return the pairs of an experiment's conditions, in their order."""
    known: dict[tuple[str, int | None], list[ResolvedCondition]] = {}
    for condition in resolved.conditions:
        for key in _keys(condition):
            known.setdefault((key, dilation_of(resolved, condition)), []).append(condition)
    return [
        Pair(condition, slower, (base, 1 if base is None else 2 * base))
        for condition in resolved.conditions
        for base in [dilation_of(resolved, condition)]
        for key in _keys(condition)
        for slower in _same_place(known, key, base, condition)
    ]


def _same_place(
    known: dict[tuple[str, int | None], list[ResolvedCondition]],
    key: str,
    base: int | None,
    condition: ResolvedCondition,
) -> list[ResolvedCondition]:
    """Return what this condition is at the next dilation: equal conditions are paired in their order."""
    others = known.get((key, 1 if base is None else 2 * base), [])
    place = next(at for at, each in enumerate(known[key, base]) if each is condition)
    return others[place : place + 1]


def _keys(condition: ResolvedCondition) -> Iterator[str]:
    """Yield what two conditions have in common that differ only in their dilation.

    The dilation is a factor of a design, whose level both lack, or `crosswind certify` chose it.
    """
    content = condition.as_json()
    for name in ("name", "summary", "dilation", "factors"):
        content.pop(name, None)
    by_certify = condition.name.partition("@")[0] if "@" in condition.name else ""
    levels = condition.factors
    if by_certify or not levels:
        yield json.dumps([by_certify, "", levels, content], sort_keys=True)
        return
    for name, level in levels.items():
        if level == condition.dilation:
            rest = {other: levels[other] for other in levels if other != name}
            yield json.dumps(["", name, rest, content], sort_keys=True)


def agreements(summary: Summary, measures: list[Measure]) -> list[Agreement]:
    """Return whether each measure agrees under every pair of a run."""
    conditions = {condition.name: condition for condition in summary.conditions}
    return [
        agreement(pair, measure, conditions[pair.base.name], conditions[pair.slower.name])
        for pair in pairs_of(summary.resolved)
        for measure in measures
    ]


def of_conditions(summary: Summary) -> dict[str, Agreement]:
    """Return, by the condition with the smaller dilation of each pair, whether the first figure agrees."""
    return {found.pair.base.name: found for found in agreements(summary, [summary.primary])}


def agreement(pair: Pair, measure: Measure, base: ConditionSummary, slower: ConditionSummary) -> Agreement:
    """Return whether a measure agrees under both conditions of a pair, by the trials that count."""
    sides = [_by_block(condition, measure) for condition in (base, slower)]
    blocks = sorted(sides[0].keys() & sides[1].keys())
    rounds = len(blocks)
    values = [[side[block] for block in blocks] for side in sides]
    if rounds and not all(0 < value < math.inf for side in values for value in side):
        return Agreement(
            pair, measure, rounds, "undecided", reason="a value is not above 0, so it has no ratio"
        )
    if rounds < ROUNDS_MIN:
        lacking = ROUNDS_MIN - rounds
        reason = f"{rounds} of the {ROUNDS_MIN} rounds that an interval needs"
        return Agreement(pair, measure, rounds, "undecided", reason=reason, more_rounds=lacking)
    margin = math.log(MARGIN)
    before, after = (np.log(side) for side in values)
    tested = tost_paired(before, after, margin)
    outcome = alike(tested.low, tested.high, -margin, margin)
    return Agreement(
        pair,
        measure,
        rounds,
        outcome,
        change=math.exp(tested.difference),
        low=math.exp(tested.low),
        high=math.exp(tested.high),
        more_rounds=_more(rounds, tested.difference, tested.high) if outcome == "undecided" else None,
    )


def _by_block(condition: ConditionSummary, measure: Measure) -> dict[int, float]:
    """Return the value of each block's trial that counts."""
    known = {trial.row.block: trial.values.get(measure.key) for trial in condition.counted}
    return {block: value for block, value in known.items() if value is not None}


def _more(rounds: int, difference: float, high: float) -> int | None:
    """Return how many more rounds would decide; the interval shrinks with the root of their number."""
    left = abs(math.log(MARGIN) - abs(difference))
    if left == 0 or (share := (high - difference) / left) ** 2 * rounds > ROUNDS_MAX:
        return None
    return max(1, math.ceil(rounds * share**2) - rounds)
