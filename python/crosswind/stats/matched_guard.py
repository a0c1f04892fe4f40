"""The guard over runs of several kinds: whether the level changed once, for all kinds together.

A campaign often runs each setting (a number of connections, say) two or three times, too few for the guard to
see anything in one setting. All settings together can tell: each run is compared with the runs of its own
kind, and the search for one change of level goes over the whole campaign in the order of time. So a batch of
runs that was made on another machine, or filed under the wrong name, stands out.

Values are logarithms, less the mean of their kind, so that kinds weigh alike whatever their level. Chance is
what within-kind orders give: a run never takes the place of one of another kind, so the test is exact however
the kinds follow one another.
"""

from __future__ import annotations

import math
from collections.abc import Hashable, Sequence

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.cusum import cusum_curves
from crosswind.stats.guard import ALPHA, GUARD_TRIALS_MIN, Guard
from crosswind.stats.trials import PerTrial
from crosswind.stats.values import Refused

_ORDERS = 4000  # the observed one included; with steps of 0.00025 in p
_SEED = 1


def matched_guard(values: PerTrial, kinds: Sequence[Hashable], among: int = 1) -> Guard:
    """Return whether runs of several kinds keep one level.

    Args:
        values: one per run, > 0 and finite, any unit, in the order of time.
        kinds: of each run; only those with two runs or more can tell anything.
        among: how many series are asked the same question; p is corrected for it (Bonferroni).
    Returns: "unknown" with fewer than 6 runs that can tell; `levels` are what runs gave before and after the
        change, relative to the geometric mean of their kind.
    Raises: Refused: a value that is not above 0 and finite, or not one kind for each value.
    """
    if len(kinds) != len(values):
        raise Refused(f"kinds: {len(kinds)} for {len(values)} runs; give one for each")
    if not all(0 < value < math.inf for value in values.values):
        raise Refused("levels of kinds are compared as ratios; leave out runs that are not above 0")
    places: dict[Hashable, list[int]] = {}
    for place, kind in enumerate(kinds):
        places.setdefault(kind, []).append(place)
    repeated = [np.array(of_kind) for of_kind in places.values() if len(of_kind) > 1]
    n = sum(of_kind.size for of_kind in repeated)
    if n < GUARD_TRIALS_MIN:
        return Guard("unknown", n, reason=f"not enough runs of repeated kinds: {n} of {GUARD_TRIALS_MIN}")
    kept = np.sort(np.concatenate(repeated))
    logs = np.log(np.array(values.values))
    for of_kind in repeated:
        logs[of_kind] -= logs[of_kind].mean()
    series = logs[kept]
    if not np.ptp(series) > 1e-12:
        return Guard("clear", n)
    curve = cusum_curves(series[np.newaxis, :])[0]
    rows = _orders(series, [np.searchsorted(kept, of_kind) for of_kind in repeated])
    reached = float(curve.max()) * (1 - 1e-9)
    p = min(1.0, among * float(np.mean(cusum_curves(rows).max(axis=1) >= reached)))
    if p >= ALPHA:
        return Guard("clear", n, p={"matched CUSUM": p})
    first = int(np.argmax(curve)) + 1
    change = int(kept[first])
    levels = tuple(float(np.exp(np.median(part))) for part in (series[:first], series[first:]))
    return Guard(
        "refused",
        n,
        "shift",
        f"the level changed after run {change} of {len(values)} (matched CUSUM, p = {p:.2g})",
        "see whether runs before and after it were made on one machine with one set-up; analyse them apart",
        change,
        levels,
        {"matched CUSUM": p},
    )


def _orders(series: NDArray[np.float64], kinds: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the series in its own order, and in orders drawn within each kind; a row each."""
    rows = np.tile(series, (_ORDERS, 1))
    random = np.random.default_rng(_SEED)
    for places in kinds:
        rows[1:, places] = random.permuted(rows[1:, places], axis=1)
    return rows
