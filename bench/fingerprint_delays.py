"""The closed loop of delays: emulated ones are measured as a fingerprint does, and their quantiles come back.

The machine takes its time too, so a bare veth pair is measured beside each delay. What should come back is
a quantile of the sum of the two, independent of each other: of every value of the law with every one of the
pair.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import ndtri

from bench.figures import Figure, figure
from crosswind.certify.probe import probe_bare
from crosswind.fingerprint.measure.one_way import PACKETS, PACKETS_PER_S, one_way
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.testbed.plain import plain_fabric

SHARES = (0.5, 0.9, 0.99)
WANTED_NS, WANTED_SHARE = 2_000.0, 0.01
# Of a law that is drawn: its quantiles must not be missed by the draw.
DRAWN_PACKETS = 2_000
_GRID = (np.arange(1_000) + 0.5) / 1_000


@dataclass(frozen=True)
class Delay:
    """A delay of `time_us`, with a part drawn from `law` that is `jitter_us` wide, if there is one.

    Neighbours are 5 ms apart, so that none has to wait for the one before it.
    """

    time_us: int
    law: str | None = None
    jitter_us: int = 0

    def __str__(self) -> str:
        return f"{self.time_us} us" + (f", {self.law} {self.jitter_us} us" if self.law else "")

    def values_ns(self) -> NDArray[np.float64]:
        """Return the law at even probabilities."""
        spread = {None: np.zeros(1), "uniform": 2 * _GRID - 1, "normal": ndtri(_GRID)}[self.law]
        return 1e3 * (self.time_us + self.jitter_us * spread)

    def measured_ns(self) -> NDArray[np.int64]:
        """Return the one-way delays of a fingerprint."""
        delay: dict[str, Any] = {"time_ns": 1_000 * self.time_us}
        if self.law:
            jitter = {self.law: {"jitter_ns": 1_000 * self.jitter_us}}
            delay["random"] = {"law": jitter, "depth": None, "order": "keep", "half_life_ns": None}
        spec = plain_fabric(places={"link": [{"delay": {**delay, "on": ["h0"]}}]})
        probes = one_way(partial(own_fabric, spec), DRAWN_PACKETS if self.law else PACKETS)
        assert probes is not None, "both nodes of a fabric have one clock"
        return probes.delay_ns


DELAYS = (
    *(Delay(time_us) for time_us in (100, 1_000, 10_000, 50_000)),
    *(Delay(time_us, "uniform", time_us // 10) for time_us in (1_000, 10_000)),
    *(Delay(time_us, "normal", time_us // 25) for time_us in (1_000, 10_000)),
)


def delays_back() -> Iterator[Figure]:
    """Yield the error of every quantile of every delay, as a share of what is allowed."""
    for delay in DELAYS:
        bare_ns = probe_bare(PACKETS_PER_S, PACKETS).delay_ns
        together_ns = np.add.outer(delay.values_ns(), bare_ns)
        found_ns = delay.measured_ns()
        errors_ns = [
            float(np.quantile(found_ns, share) - np.quantile(together_ns, share)) for share in SHARES
        ]
        allowed_ns = [
            WANTED_NS + WANTED_SHARE * float(np.quantile(delay.values_ns(), share)) for share in SHARES
        ]
        for share, error_ns, most_ns in zip(SHARES, errors_ns, allowed_ns, strict=True):
            yield figure(
                f"error of the delay's p{100 * share:g} over 2 us + 1 %, {delay}",
                "ratio",
                [abs(error_ns) / most_ns],
                "at most 1",
                error_us=round(error_ns / 1e3, 2),
                bare_us=round(float(np.quantile(bare_ns, share)) / 1e3, 2),
            )
