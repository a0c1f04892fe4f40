"""The guard for runs of several kinds: test whether the level of all kinds changed once.

A campaign often runs each setting (a number of connections, for example) two or three times, which is too few
for a test of one setting. All settings together are enough: each run is compared with the runs of its own
kind, and one change of level is searched over the whole campaign in the order of time. So it finds a batch of
runs from another machine, or with a wrong name.

Values are logarithms minus the mean of their kind, so that all kinds have the same weight. They are compared
with orders in which runs are exchanged within their kind only, so the test is exact for any order of kinds.
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
    """Return whether runs of several kinds have a constant level.

    Args:
        values: one per run, > 0 and finite, any unit, in the order of time.
        kinds: of each run; only kinds with two or more runs count.
        among: number of series that are tested; p is corrected for it (Bonferroni).
    Returns: "unknown" with fewer than 6 runs that count; `levels` are the medians before and after the
    change,
        relative to the geometric mean of each kind.
    Raises: Refused: a value that is not above 0 and finite, or not one kind for each value.
    """
    if len(kinds) != len(values):
        raise Refused(f"kinds: {len(kinds)} for {len(values)} runs; give one for each")
    if not all(0 < value < math.inf for value in values.values):
        raise Refused("runs of kinds are compared as ratios; leave out values that are not above 0")
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
        "check whether runs before and after it had the same machine and set-up; analyse them separately",
        change,
        levels,
        {"matched CUSUM": p},
    )


def _orders(series: NDArray[np.float64], kinds: Sequence[NDArray[np.intp]]) -> NDArray[np.float64]:
    """Return the series in its own order and in random orders within each kind, one per row."""
    rows = np.tile(series, (_ORDERS, 1))
    random = np.random.default_rng(_SEED)
    for places in kinds:
        rows[1:, places] = random.permuted(rows[1:, places], axis=1)
    return rows
