"""Performance over one or two factors: a point for each condition, one value for each trial.

Performance is the application's throughput for a closed loop, and otherwise its first figure, inverted where
lower is better. It is expressed as a share of the best point's. Other factors stay at the levels of the best
condition.
"""

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.measure import Measure
from crosswind.analysis.profile.axis import Axis, axis_of
from crosswind.analysis.summary import ConditionSummary, Summary
from crosswind.spec.resolved import ResolvedLevel
from crosswind.stats import Interval, RefusedInterval


@dataclass(frozen=True)
class SurfacePoint:
    """One condition of the surface.

    Attributes:
        at: its level of each axis, by the axis's name.
        logs: shape (trials,): the natural logarithm of each trial's performance.
        value: the measure's median over trials, in its unit.
        low, high: its exact 95 % interval over trials; None where there is none.
        refused: whether its trials are not independent, so that there are no intervals.
    """

    condition: ConditionSummary
    at: dict[str, float]
    logs: NDArray[np.float64]
    value: float
    low: float | None
    high: float | None
    refused: bool


@dataclass(frozen=True)
class Surface:
    """A network profile.

    Attributes:
        axes: one or two, in the order of the file.
        others: the levels of further factors, as text.
        best: the point that performance is normalised to.
    """

    measure: Measure
    axes: tuple[Axis, ...]
    others: dict[str, str]
    points: list[SurfacePoint]
    best: SurfacePoint

    def share(self, value: float) -> float:
        """Return the performance of a value of the measure, as a share of the best point's."""
        ratio = value / self.best.value
        return ratio if self.measure.better == "higher" else 1 / ratio

    def interval(self, point: SurfacePoint) -> tuple[float, float] | None:
        """Return the ends of a point's interval as shares of the best point's median; None without one."""
        if point.low is None or point.high is None:
            return None
        low, high = sorted((self.share(point.low), self.share(point.high)))
        return low, high

    def point_at(self, **levels: float) -> SurfacePoint | None:
        """Return the point with these levels, if there is one."""
        return next((point for point in self.points if point.at == levels), None)

    def towards_better(self, axis: Axis) -> tuple[float, ...]:
        """Return the levels from the worst network to the best, by their unit or by the best point."""
        if axis.better == "either":
            rises = 2 * axis.levels.index(self.best.at[axis.name]) >= len(axis.levels) - 1
        else:
            rises = axis.better == "more"
        return axis.levels if rises else tuple(reversed(axis.levels))

    @property
    def complete(self) -> bool:
        """Whether there is a point for every combination of levels."""
        return len(self.points) == math.prod(len(axis.levels) for axis in self.axes)


def profile_of(summary: Summary) -> Surface | None:
    """Return the network profile of a run; None without a factor that is a quantity and has two levels."""
    factors = summary.resolved.factors
    levels = {c.name: c.factors for c in summary.resolved.conditions if c.factors}
    measure = _performance(summary)
    found = [
        (condition, levels[condition.name])
        for condition in summary.conditions
        if condition.name in levels and _positive(condition, measure)
    ]
    if not found:
        return None
    best, at_best = max(found, key=lambda pair: _rank(pair[0], measure))
    axes: list[Axis] = []
    for name, factor in factors.items():
        known = {at[name] for _, at in found if name in at}
        if factor.unit is not None and len(known) > 1 and name in at_best and len(axes) < 2:
            axes.append(axis_of(name, factor, {_number(level) for level in known}))
    if not axes:
        return None
    names = [axis.name for axis in axes]
    others = {name: level for name, level in at_best.items() if name not in names}
    points = [
        _point(condition, {name: _number(at[name]) for name in names}, measure)
        for condition, at in found
        if set(at) == set(at_best) and all(at[name] == level for name, level in others.items())
    ]
    return Surface(
        measure,
        tuple(axes),
        {name: str(level) for name, level in others.items()},
        points,
        next(point for point in points if point.condition is best),
    )


def _number(level: ResolvedLevel) -> float:
    if isinstance(level, str):
        raise ValueError(f"{level!r} is the level of a factor with a unit, but no number")
    return level


def _performance(summary: Summary) -> Measure:
    """Return the measure of performance: throughput for a closed loop, otherwise the first figure."""
    rates = [measure for measure in summary.measures if measure.better == "higher"]
    if summary.primary.of_operations and rates and not summary.open_loop:
        return rates[0]
    return summary.primary


def _positive(condition: ConditionSummary, measure: Measure) -> bool:
    """Return whether there are trials, and ratios of their values exist."""
    values = condition.per_trial(measure.key).values
    return bool(values) and all(0 < value < math.inf for value in values)


def _rank(condition: ConditionSummary, measure: Measure) -> float:
    median = float(np.median(condition.per_trial(measure.key).values))
    return median if measure.better == "higher" else -median


def _point(condition: ConditionSummary, at: dict[str, float], measure: Measure) -> SurfacePoint:
    values = np.array(condition.per_trial(measure.key).values)
    estimate = condition.estimates[measure.key]
    low, high = (estimate.low, estimate.high) if isinstance(estimate, Interval) else (None, None)
    return SurfacePoint(
        condition,
        at,
        np.log(values) * (1 if measure.better == "higher" else -1),
        float(np.median(values)),
        low,
        high,
        isinstance(estimate, RefusedInterval),
    )
