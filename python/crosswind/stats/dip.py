"""Hartigan's dip: the distance of values from the nearest distribution with one mode."""

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.quantile import sorted_values
from crosswind.stats.values import Refused, flat

VALUES_MIN = 4  # With three values the dip says nothing: it is always between 1/(2n) and 1/4.

# Quantiles of sqrt(n) times the dip of n uniform values: a row for each n, a column for each share. From
# 10 000 samples for n up to 50, 5000 up to 200, 4000 beyond; numpy's default generator with n as its seed.
_SHARES = (0.5, 0.8, 0.9, 0.95, 0.98, 0.99, 0.995, 0.999)
_TABLE: dict[int, tuple[float, ...]] = {
    4: (0.25, 0.3158, 0.3765, 0.4159, 0.447, 0.4609, 0.4736, 0.4869),
    5: (0.2715, 0.3602, 0.3944, 0.4166, 0.4325, 0.4388, 0.4425, 0.4461),
    6: (0.3025, 0.3655, 0.3901, 0.4042, 0.443, 0.4739, 0.4935, 0.5432),
    7: (0.3122, 0.3616, 0.381, 0.4214, 0.4641, 0.4906, 0.5071, 0.5401),
    8: (0.315, 0.3554, 0.4013, 0.4389, 0.4709, 0.4877, 0.5003, 0.5352),
    9: (0.3125, 0.3678, 0.4068, 0.4366, 0.4691, 0.4894, 0.5137, 0.5568),
    10: (0.3091, 0.3767, 0.4129, 0.4409, 0.4759, 0.5065, 0.529, 0.5747),
    12: (0.314, 0.3795, 0.4134, 0.4479, 0.4839, 0.509, 0.5359, 0.5805),
    15: (0.3223, 0.3849, 0.4249, 0.4572, 0.4958, 0.5218, 0.5451, 0.5889),
    20: (0.3281, 0.3954, 0.4351, 0.47, 0.5086, 0.5372, 0.5645, 0.6168),
    30: (0.336, 0.4041, 0.4449, 0.4839, 0.524, 0.5553, 0.5804, 0.6417),
    50: (0.3449, 0.4148, 0.4578, 0.4955, 0.5378, 0.5708, 0.5972, 0.6652),
    100: (0.3539, 0.4272, 0.4736, 0.5129, 0.5671, 0.5996, 0.6289, 0.7162),
    200: (0.3601, 0.4377, 0.4815, 0.5212, 0.5691, 0.5973, 0.62, 0.6946),
    500: (0.369, 0.4413, 0.4896, 0.5302, 0.5809, 0.6213, 0.6616, 0.7517),
    1000: (0.3716, 0.4488, 0.4994, 0.5384, 0.5857, 0.6165, 0.6505, 0.7387),
}


def dip(values: ArrayLike) -> float:
    """Return the smallest distance sup |F_n - G| over all distributions G with one mode; at least 1/(2n).

    With one mode, the distribution function is convex up to the mode and concave after it. The search holds
    an interval that contains the mode. Outside of it, the nearest functions are the greatest convex one below
    the steps and the least concave one above them. Inside, both are calculated again, and the interval is cut
    where they are farthest apart. The search ends when this is not farther than the distance outside.

    Args:
        values: shape (n,), n >= 1, finite, any unit.
    Returns: in [1/(2n), 1/4].
    Source: Hartigan and Hartigan 1985, section 4, written from the paper.
    """
    ordered = sorted_values(values)
    if not np.isfinite(ordered).all():
        raise Refused("values: one is infinite, which has no mode; leave out operations that never ended")
    x, counts = np.unique(ordered, return_counts=True)
    upto = counts.cumsum()  # n F at each value
    below = upto - counts  # n F just below it
    low, high, found = 0, x.size - 1, 1.0
    while low < high:
        convex = _hull(x, below, low, high, 1)
        concave = _hull(x, upto, low, high, -1)
        places = np.arange(low, high + 1)
        under = np.interp(x[places], x[convex], below[convex])
        over = np.interp(x[places], x[concave], upto[concave])
        corners = np.union1d(convex, concave)
        gaps = (over - under)[corners - low]
        widest = int(corners[np.argmax(gaps)])
        if gaps.max() <= found:
            break
        new_low = max(corner for corner in convex if corner <= widest)
        new_high = min(corner for corner in concave if corner >= widest)
        # Equal values at an end of the interval are a step, which is no distance if the mode is there.
        outside_left, outside_right = places < new_low, places > new_high
        found = max(
            found,
            float(np.max((upto[places] - under)[outside_left], initial=0.0)),
            float(np.max((over - below[places])[outside_right], initial=0.0)),
        )
        if (new_low, new_high) == (low, high):
            break
        low, high = new_low, new_high
    return found / (2 * ordered.size)


def _hull(x: NDArray[np.float64], y: NDArray[np.int64], low: int, high: int, sign: int) -> list[int]:
    """Return the corners from `low` to `high` of the greatest convex function below the points, ascending.

    With a sign of -1, of the least concave function above them.
    """
    corners: list[int] = []
    for place in range(low, high + 1):
        while len(corners) > 1 and sign * _turn(x, y, corners[-2], corners[-1], place) <= 0:
            corners.pop()
        corners.append(place)
    return corners


def _turn(x: NDArray[np.float64], y: NDArray[np.int64], a: int, b: int, c: int) -> float:
    """Return a number above 0 if the path a, b, c turns left."""
    return float((x[b] - x[a]) * (y[c] - y[b]) - (x[c] - x[b]) * (y[b] - y[a]))


def dip_p(values: ArrayLike) -> float:
    """Return the p value of the dip, from uniform values: no distribution with one mode has a larger dip.

    Args:
        values: shape (n,), n >= 4, finite, any unit.
    Returns: in [0.001, 0.5], from the table by interpolation; a larger p is given as 0.5.
    """
    n = flat(values).size
    if n < VALUES_MIN:
        raise Refused(f"values: {n} of them; a test for modes needs at least {VALUES_MIN}")
    scaled = dip(values) * np.sqrt(n)
    rows = np.array(list(_TABLE.values()))
    # Quantiles at this n, between the two nearest of the table; beyond its last row they do not change.
    quantiles = [np.interp(np.sqrt(n), np.sqrt(list(_TABLE)), column) for column in rows.T]
    return float(np.interp(scaled, quantiles, [1 - share for share in _SHARES]))
