"""Compare waiting times with queueing theory: of Poisson arrivals, and of other packets between them."""

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
class WaitMargin:
    """Allowed differences from theory: of the mean, as a share of it, and of the distribution (KS)."""

    mean: float
    distance: float


def waiting(
    family: str,
    name: str,
    waits_ns: ArrayLike,
    load: float,
    margin: WaitMargin,
    *,
    clock: str = "virtual",
    disturbed: str = "",
) -> Iterator[Claim]:
    """Yield claims on the mean and the distribution of waits behind Poisson arrivals of full packets.

    Their 1538 wire bytes leave at `RATE_BPS`.

    Args:
        waits_ns: shape (n,), of these arrivals, or of packets that arrive independently of them (PASTA).
        load: in (0, 1), of the Poisson arrivals.
        clock: `virtual` or `live`.
        disturbed: why there can be no conclusion; empty where there can be one.
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
        "Pollaczek and Khinchine; the margin covers the sampling error of correlated waits",
        disturbed=disturbed,
        details={"wait_ns_mean": float(waits.mean()), "theory_ns": law.mean_wait, "packets": len(waits)},
    )
    # Not at 0: half of the waits are 0, and one nanosecond of error would move them all.
    grid = np.arange(1, 120) * SERVICE_NS / 10
    upto = np.searchsorted(waits, grid, side="right") / len(waits)
    yield at_most(
        family,
        f"{name}: distance from the distribution of waits",
        clock,
        float(max(abs(found - law.wait_cdf(float(x))) for found, x in zip(upto, grid, strict=True))),
        margin.distance,
        "KS",
        "Erlang 1909; the margin covers the sampling error of correlated waits",
        disturbed=disturbed,
    )
