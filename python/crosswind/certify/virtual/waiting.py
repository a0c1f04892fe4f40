"""Waiting times against queueing theory: of Poisson arrivals, and of those who come between them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from crosswind.certify.claim import Claim, at_most
from crosswind.curves import MD1

RATE_BPS = 123_040_000  # 1538 wire bytes take 100 us.
SERVICE_NS = 100_000


@dataclass(frozen=True)
class Margin:
    """How far off waits may be: the mean as a share of theory's, and the distance from the law (KS)."""

    mean: float
    distance: float


def waiting(
    family: str,
    name: str,
    waits_ns: ArrayLike,
    load: float,
    margin: Margin,
    *,
    clock: str = "virtual",
    disturbed: str = "",
) -> Iterator[Claim]:
    """Yield claims on the mean and the law of waits behind Poisson arrivals of 1538 wire bytes at `RATE_BPS`.

    Args:
        waits_ns: shape (n,), of customers or of anybody else who comes independently of them (PASTA).
        load: in (0, 1), that the Poisson arrivals make.
        clock: in which they waited, `virtual` or `live`.
        disturbed: why nothing should be concluded; empty where nothing stands against it.
    """
    waits = np.sort(np.asarray(waits_ns, dtype=np.float64))
    law = MD1(load, SERVICE_NS)
    yield at_most(
        family,
        f"{name}: mean wait",
        clock,
        abs(float(waits.mean()) / law.mean_wait - 1),
        margin.mean,
        "ratio",
        "Pollaczek and Khinchine; as far off as so many correlated waits may be",
        disturbed=disturbed,
        details={"wait_ns_mean": float(waits.mean()), "theory_ns": law.mean_wait, "packets": len(waits)},
    )
    # Not at 0, where half of them are and a nanosecond would make them many.
    grid = np.arange(1, 120) * SERVICE_NS / 10
    upto = np.searchsorted(waits, grid, side="right") / len(waits)
    yield at_most(
        family,
        f"{name}: distance from the law of waiting",
        clock,
        float(max(abs(found - law.wait_cdf(float(x))) for found, x in zip(upto, grid, strict=True))),
        margin.distance,
        "KS",
        "Erlang 1909; as far off as so many correlated waits may be",
        disturbed=disturbed,
    )
