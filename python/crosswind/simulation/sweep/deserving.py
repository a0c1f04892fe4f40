"""Choose the conditions that deserve a real trial from what the simulation says of all.

Three lists say why one does: it changes the application's first figure most against the baseline, its trials
differ most from each other, or most of its operations meet a timeout of TCP. The lists take turns, each with
its first condition that is not chosen yet. The neighbours of a condition in a grid are about as extreme as it
is, so a condition is passed over that differs from a chosen one by at most one level of each factor. So is
one whose figures are those of a chosen one: they differ in a factor that has no effect there.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from crosswind.spec.resolved import ResolvedLevel

Why = Literal["largest effect", "largest spread", "most timeouts"]
# The place of a level among those of its factor; a level that is text is only next to itself.
_Place = Mapping[str, int | str]


@dataclass(frozen=True)
class Simulated:
    """What the simulation says of one condition.

    Attributes:
        trials: that were simulated.
        refused: why a trial could not be carried out; None where all were.
        value: median of the figure over trials; None without a trial.
        effect: ratio of `value` to the baseline's; None where one of the two is missing or 0.
        spread: largest trial over smallest; None with fewer than two, or where one is 0.
        timeouts: share of operations, or of segments of streams, that met a timeout.
    """

    condition: str
    trials: int
    refused: str | None
    value: float | None
    effect: float | None
    spread: float | None
    timeouts: float | None


@dataclass(frozen=True)
class Deserving:
    """A condition that deserves a real trial, and the list that it was taken from."""

    of: Simulated
    why: Why


# A real trial on a real machine does not show a smaller difference.
_LEAST_RATIO = 1.01


def _distance(ratio: float | None) -> float:
    """Return how far a ratio is from 1; 0 where it is not far enough, or unknown."""
    found = abs(math.log(ratio)) if ratio else 0.0
    return found if found >= math.log(_LEAST_RATIO) else 0.0


_AMOUNTS: Mapping[Why, Callable[[Simulated], float]] = {
    "largest effect": lambda each: _distance(each.effect),
    "largest spread": lambda each: _distance(each.spread),
    "most timeouts": lambda each: each.timeouts or 0.0,
}


def chosen(
    conditions: Sequence[Simulated],
    levels: Mapping[str, Mapping[str, ResolvedLevel]],
    baseline: str,
    at_most: int,
) -> list[Deserving]:
    """Return up to `at_most` conditions besides the baseline, in the order of turns.

    Args:
        levels: those of each condition's factors, by its name; empty without factors.
    """
    places = _places(levels)
    others = [each for each in conditions if each.condition != baseline]
    lists = {why: _ordered(others, amount) for why, amount in _AMOUNTS.items()}
    found: list[Deserving] = []
    while lists and len(found) < at_most:
        for why in list(lists):
            taken = [each.of for each in found]
            new = (each for each in lists[why] if not any(_is_like(each, it, places) for it in taken))
            following = next(new, None)
            if following is None:
                del lists[why]
            elif len(found) < at_most:
                found.append(Deserving(following, why))
    return found


def _ordered(conditions: Sequence[Simulated], amount: Callable[[Simulated], float]) -> Iterator[Simulated]:
    """Return those with an amount above 0, the largest first; equal ones in the order of the file."""
    return iter(sorted((each for each in conditions if amount(each) > 0), key=amount, reverse=True))


def _is_like(one: Simulated, other: Simulated, places: Mapping[str, _Place]) -> bool:
    """Whether a real trial of one would say little that a trial of the other does not."""
    if one.condition == other.condition:
        return True
    place, its = places[one.condition], places[other.condition]
    figures = ((one.value, other.value), (one.spread, other.spread), (one.timeouts, other.timeouts))
    return (bool(place) and _are_neighbours(place, its)) or all(_are_equal(*pair) for pair in figures)


def _are_equal(one: float | None, other: float | None) -> bool:
    return one == other or (bool(one) and bool(other) and _distance((one or 1) / (other or 1)) == 0)


def _are_neighbours(one: _Place, other: _Place) -> bool:
    if one.keys() != other.keys():
        return False
    return all(
        abs(mine - its) <= 1
        if isinstance(mine, int) and isinstance(its := other[name], int)
        else mine == other[name]
        for name, mine in one.items()
    )


def _places(levels: Mapping[str, Mapping[str, ResolvedLevel]]) -> dict[str, _Place]:
    values: dict[str, set[float]] = {}
    for of_condition in levels.values():
        for name, level in of_condition.items():
            if not isinstance(level, str):
                values.setdefault(name, set()).add(level)
    ranks = {name: {value: rank for rank, value in enumerate(sorted(of))} for name, of in values.items()}
    return {
        condition: {
            name: level if isinstance(level, str) else ranks[name][level] for name, level in of.items()
        }
        for condition, of in levels.items()
    }
