"""Which combinations of levels become conditions: all, a Latin hypercube, and changes to either.

A Latin hypercube of n points cuts each factor into n parts of equal width and has one point in each part of
each factor. Points lie in the middle of their parts (Patterson 1954: lattice samples). Of 50 such designs,
the one is chosen whose nearest two points are farthest apart. They are drawn by SHA-256 of the experiment's
seed, so no library can change them by changing its random generator.

Source: McKay, Beckman and Conover, Technometrics 1979; Johnson, Moore and Ylvisaker 1990 (maximin).
"""

from __future__ import annotations

import hashlib
import math
from collections.abc import Mapping
from itertools import combinations, product

from pydantic import Field

from crosswind.spec.base import SpecModel
from crosswind.spec.factor import LevelRange, levels_of
from crosswind.spec.level import Level, LevelValue

Point = dict[str, Level]  # A level of each factor.
Factors = Mapping[str, list[Level] | LevelRange]

CONDITIONS_MAX = 20_000  # Of an experiment, written in the file or made from levels.
_DRAWS = 50


class Adaptive(SpecModel):
    """Measures a part of the points: first some spread over all combinations, then the least certain."""

    start: int = Field(ge=4, le=1000, description="Points before the first look.")
    at_most: int = Field(alias="at most", ge=4, le=1000, description="Points in all.")
    step: int = Field(3, ge=1, le=100, description="Points between two looks; 3 when absent.")


class Design(SpecModel):
    """Which combinations of the factors' levels become conditions; every one when absent."""

    latin_hypercube: int | None = Field(
        None,
        alias="latin hypercube",
        ge=2,
        le=200,
        description="Number of points, spread over all factors at once, instead of every combination.",
    )
    adaptive: Adaptive | None = Field(
        None,
        description="Chooses the combinations to measure from the results so far; all of them when absent.",
    )
    exclude: list[dict[str, LevelValue]] | None = Field(
        None,
        min_length=1,
        description="Combinations to leave out; a factor that is not named may have any level.",
    )
    include: list[dict[str, LevelValue]] | None = Field(
        None, min_length=1, description="Further combinations, with a level of each factor."
    )


def points_of(factors: Factors, design: Design, seed: int) -> list[Point]:
    """Return the points of a design, in the order of the file, the first factor changing slowest.

    Args:
        seed: of the experiment; only a Latin hypercube depends on it.
    """
    left_out = design.exclude or []
    points = combinations_of(factors, design.latin_hypercube, seed)
    kept = [point for point in points if not any(matches(part, point) for part in left_out)]
    further = [point for point in design.include or [] if not any(matches(point, other) for other in kept)]
    return [*kept, *({name: point[name] for name in factors} for point in further)]


def combinations_of(factors: Factors, latin_hypercube: int | None, seed: int) -> list[Point]:
    """Return every combination of levels, or the points of a Latin hypercube."""
    if latin_hypercube is not None:
        return _latin_hypercube(factors, latin_hypercube, seed)
    levels = [levels_of(factor) for factor in factors.values()]
    return [dict(zip(factors, chosen, strict=True)) for chosen in product(*levels)]


def matches(part: Mapping[str, Level], point: Mapping[str, Level]) -> bool:
    """Whether `point` has every level of `part`."""
    return all(name in point and level.same_as(point[name]) for name, level in part.items())


def _latin_hypercube(factors: Factors, count: int, seed: int) -> list[Point]:
    designs = ([_order(seed, draw, name, count) for name in factors] for draw in range(_DRAWS))
    columns = max(designs, key=_nearest)
    return [
        {
            name: _cut(factors[name], (column[row] + 0.5) / count)
            for name, column in zip(factors, columns, strict=True)
        }
        for row in range(count)
    ]


def _order(seed: int, draw: int, name: str, count: int) -> list[int]:
    """Return the parts 0 to `count` - 1 in an order of their own for each seed, draw and factor."""

    def digest(part: int) -> bytes:
        text = "\0".join(["crosswind latin hypercube 1", *map(str, (seed, draw, name, part))])
        return hashlib.sha256(text.encode()).digest()

    return sorted(range(count), key=digest)


def _nearest(columns: list[list[int]]) -> float:
    """Return the distance of the nearest two points, in parts."""
    rows = list(zip(*columns, strict=True))
    return min(math.dist(*pair) for pair in combinations(rows, 2))


def _cut(factor: list[Level] | LevelRange, share: float) -> Level:
    if isinstance(factor, LevelRange):
        return factor.at(share)
    return factor[math.floor(share * len(factor))]
