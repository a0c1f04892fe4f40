"""How long it takes to say how many repetitions a long pilot asks for."""

import time
from collections.abc import Iterator

import numpy as np

from bench.figures import Figure, figure
from crosswind.stats import confirm

VALUES = 100_000


def repetitions(rounds: int) -> Iterator[Figure]:
    """Yield the time of `confirm` for 100,000 lognormal values; drawing subsets would take hours."""
    for sigma in (0.2, 0.5):
        values = np.random.default_rng(1).lognormal(sigma=sigma, size=VALUES)
        confirm(values[:1000], within=0.01)  # What is imported at the first call is not what is measured.
        seconds = []
        for _ in range(rounds):
            began = time.perf_counter()
            found = confirm(values, within=0.01)
            seconds.append(time.perf_counter() - began)
        name = f"repetitions for 1 % of the median, {VALUES} values of sigma {sigma}"
        yield figure(name, "s", seconds, "below 0.5", needed=found.needed)
