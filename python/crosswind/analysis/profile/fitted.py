"""Predict the surface between points: a Gaussian process gives every combination of the measured levels.

This is for a profile that is no complete grid, such as one from an adaptive design. It is the same process as
that of the design: over the places of levels in their lists, for the logarithm of performance, with one value
for each trial.
"""

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.profile.surface import Surface
from crosswind.plan.adaptive import places_of
from crosswind.stats import Refused
from crosswind.stats.gaussian_process import fit_gaussian_process


def fitted(surface: Surface) -> NDArray[np.float64] | None:
    """Return performance as shares of the best point's, rows by the second axis, columns by the first.

    None where there are too few or too many values to fit a surface of two axes.
    """
    first, second = surface.axes
    grid = [{first.name: x, second.name: y} for y in second.levels for x in first.levels]
    measured = [point.at for point in surface.points for _ in point.logs]
    places = np.array(places_of([*grid, *measured]))
    values = np.concatenate([point.logs for point in surface.points])
    try:
        process = fit_gaussian_process(places[len(grid) :], values)
    except Refused:
        return None
    expected, _ = process.predict(places[: len(grid)])
    best = np.median(surface.best.logs)
    return np.exp(expected - best).reshape(len(second.levels), len(first.levels))
