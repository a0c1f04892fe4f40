"""Which points of a grid to measure next, so that a surface is known after few trials.

The first points are spread over the grid, and include its corners. Then, in each step, the points follow that
make the whole surface most certain, by a Gaussian process fitted to the measured values. Rejected: the point
where the surface itself is least certain. It is usually on the edge, and a kink took up to twice as many
trials. The coordinates of a level are its rank in its list, from 0 to 1, so the spacing of levels is that of
the user. The same values always lead to the same points.

Source: Cohn, Ghahramani and Jordan, Active Learning with Statistical Models, JAIR 4 (1996).
"""

from __future__ import annotations

import math
from collections.abc import Collection, Mapping, Sequence
from itertools import product

import numpy as np

from crosswind.spec.resolved import Resolved, ResolvedAdaptive, ResolvedLevel
from crosswind.stats.gaussian_process import FEWEST, GaussianProcess, fit_gaussian_process

_Place = tuple[float, ...]


def first_conditions(resolved: Resolved) -> list[str]:
    """Return the conditions that an adaptive design begins with."""
    points = [condition.factors for condition in resolved.conditions]
    chosen = first_points(places_of(points), _adaptive(resolved).start)
    return [resolved.conditions[index].name for index in sorted(chosen)]


def next_conditions(
    resolved: Resolved, planned: Collection[str], performance: Mapping[str, Sequence[float]]
) -> list[str]:
    """Return the conditions to run next; none when the design allows no more.

    Args:
        planned: the conditions that were run already.
        performance: condition -> the value of each trial, above 0 and finite; failed trials may be missing.
    """
    adaptive = _adaptive(resolved)
    places = places_of([condition.factors for condition in resolved.conditions])
    names = [condition.name for condition in resolved.conditions]
    measured = {
        names.index(name): [math.log(value) for value in values]
        for name, values in performance.items()
        if values
    }
    count = min(adaptive.step, adaptive.at_most - len(planned))
    tried = {names.index(name) for name in planned}
    if count <= 0 or sum(map(len, measured.values())) < FEWEST:
        return []
    return [names[index] for index in next_points(places, measured, count, tried)]


def _adaptive(resolved: Resolved) -> ResolvedAdaptive:
    assert resolved.design is not None  # Callers have checked that.
    return resolved.design.adaptive


def first_points(places: Sequence[_Place], count: int) -> list[int]:
    """Return the positions of `count` of `places`: the nearest to the corners, then the farthest from others.

    Args:
        places: coordinates of every candidate, in [0, 1].
    """
    corners = product((0.0, 1.0), repeat=len(places[0]))
    chosen = list(
        dict.fromkeys(min(range(len(places)), key=lambda i: math.dist(places[i], c)) for c in corners)
    )
    chosen = chosen[:count]
    while len(chosen) < min(count, len(places)):
        rest = [i for i in range(len(places)) if i not in chosen]
        chosen.append(max(rest, key=lambda i: min(math.dist(places[i], places[j]) for j in chosen)))
    return chosen


def next_points(
    places: Sequence[_Place], measured: Mapping[int, Sequence[float]], count: int, tried: Collection[int] = ()
) -> list[int]:
    """Return the positions of up to `count` untried places that leave the least variance over all places.

    Args:
        places: coordinates of every candidate, in [0, 1].
        measured: position -> the values of its trials, finite, best as logarithms.
        tried: places that are not to be chosen either, because they failed.
    """
    surface = surface_of(places, measured)
    _, doubt = surface.predict(np.array(places))
    chosen: list[int] = []
    rest = [i for i in range(len(places)) if i not in measured and i not in tried]
    while rest and len(chosen) < count:
        of_value = np.diag(doubt) + surface.noise**2
        less = (doubt**2).sum(axis=0) / of_value  # variance that a value at each place takes from all
        best = rest.pop(int(np.argmax(less[rest])))
        chosen.append(best)
        doubt = doubt - np.outer(doubt[best], doubt[best]) / of_value[best]
    return chosen


def surface_of(places: Sequence[_Place], measured: Mapping[int, Sequence[float]]) -> GaussianProcess:
    """Return the Gaussian process of the measured values; each trial is one value."""
    points = [places[i] for i, values in measured.items() for _ in values]
    values = [value for of_point in measured.values() for value in of_point]
    return fit_gaussian_process(np.array(points), np.array(values))


def places_of(levels: Sequence[Mapping[str, ResolvedLevel]]) -> list[_Place]:
    """Return the coordinates of points: the rank of each level among those of its factor, from 0 to 1."""
    names = list(levels[0])
    ranks = {name: {level: i for i, level in enumerate(sorted({p[name] for p in levels}))} for name in names}
    return [tuple(ranks[name][p[name]] / max(len(ranks[name]) - 1, 1) for name in names) for p in levels]
