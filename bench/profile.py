"""How many trials an adaptive design needs for a surface, beside the grid, where the surface is known.

No network is needed. The grid has every combination of twelve bandwidths and twelve delays once and is read
as it is; its error is that of a trial. The adaptive design begins with nine points, measures six more at a
time that make it most certain, once each, and is read off its Gaussian process, at every point of the grid.
A cliff across both factors is beyond it: one point on the wrong side costs more than the grid's whole error.
Errors are root mean squares of relative errors. `--rounds` repeats each with other noise.
"""

import math
from collections.abc import Callable, Iterator

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure, figure
from crosswind.plan.adaptive import first_points, next_points, places_of, surface_of

LEVELS = 12
BANDWIDTHS = [1e9 * 40 ** (i / (LEVELS - 1)) for i in range(LEVELS)]  # 1 to 40 Gbit/s
DELAYS = [1e-6 * 1000 ** (i / (LEVELS - 1)) for i in range(LEVELS)]  # 1 us to 1 ms
NOISE = 0.05  # standard deviation of the logarithm of a trial
START, STEP = 9, 6
POINTS = [{"bandwidth": bandwidth, "delay": delay} for bandwidth in BANDWIDTHS for delay in DELAYS]

# Performance by bandwidth in bit/s and delay in s.
SURFACES: dict[str, Callable[[float, float], float]] = {
    "one request after the other": lambda bandwidth, delay: 1 / (100e-6 + 2 * delay + 80_000 / bandwidth),
    "the narrower of link and window": lambda bandwidth, delay: min(
        bandwidth / 80_000, 1 / (60e-6 + 2 * delay)
    ),
    "bandwidth alone": lambda bandwidth, delay: bandwidth / (bandwidth + 4e9),
    "a step at 6 Gbit/s": lambda bandwidth, delay: 0.3 + 0.7 / (1 + (6e9 / bandwidth) ** 4) - 200 * delay,
    "a cliff at 150 us": lambda bandwidth, delay: (
        (1 if delay < 150e-6 else 0.2) * bandwidth / (bandwidth + 4e9)
    ),
    "a kink at a bandwidth-delay product": lambda bandwidth, delay: min(bandwidth, 2e5 / (delay + 5e-6)),
}
CLIFF_ACROSS: dict[str, Callable[[float, float], float]] = {
    "a cliff at a bandwidth-delay product": lambda bandwidth, delay: (
        (1 if bandwidth * delay < 4e5 else 0.4) / (100e-6 + 2 * delay)
    ),
}


def profile(rounds: int) -> Iterator[Figure]:
    """Yield for each surface how many trials it takes to be as near as the grid."""
    places = places_of(POINTS)
    for name, surface in {**SURFACES, **CLIFF_ACROSS}.items():
        true = np.log([surface(point["bandwidth"], point["delay"]) for point in POINTS])
        shares, thirds = [], []
        for seed in range(rounds):
            values = true + np.random.default_rng(seed).normal(scale=NOISE, size=true.size)
            needed, third = _needed(places, true, values)
            shares.append(100 * needed / true.size)
            thirds.append(third / _error(values, true))
        few, near = ("at most 33.4", "at most 1") if name in SURFACES else (None, None)
        yield figure(f"trials for {name}", "% of the grid's", shares, few, grid=true.size)
        yield figure(f"error with a third of them, {name}", "times the grid's", thirds, near)


def _needed(
    places: list[tuple[float, ...]], true: NDArray[np.float64], values: NDArray[np.float64]
) -> tuple[int, float]:
    """Return with how many points the error is the grid's for good, and the error with a third of them."""
    wanted = _error(values, true)
    measured = {i: [float(values[i])] for i in first_points(places, START)}
    needed, third = len(places), math.inf
    while len(measured) < 2 * len(places) / 3:
        error = _error(surface_of(places, measured).predict(np.array(places))[0], true)
        if error > wanted:
            needed = len(places)
        elif needed == len(places):
            needed = len(measured)
        if len(measured) <= len(places) / 3:
            third = error
        measured |= {i: [float(values[i])] for i in next_points(places, measured, STEP)}
    return needed, third


def _error(found: NDArray[np.float64], true: NDArray[np.float64]) -> float:
    return float(np.sqrt(np.mean(np.expm1(found - true) ** 2)))
