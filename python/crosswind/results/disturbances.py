"""What the machine did to a trial and when: the times in which packets were late or the emulator stood still.

Stalls have instants, and so have late packets. Steal is one sum of the window: the part that no stall and no
late packet accounts for has no instant, and may have been anywhere.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from crosswind.results.measurement import Measurement


@dataclass(frozen=True)
class Disturbances:
    """Attributes:
    window_ns: length of the measurement.
    begin_ns, end_ns: shape (n,); in order, and none overlaps another.
    unplaced_ns: CPU time taken by the hypervisor whose instants are unknown.
    """

    window_ns: int
    begin_ns: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    end_ns: NDArray[np.int64] = field(default_factory=lambda: np.empty(0, dtype=np.int64))
    unplaced_ns: int = 0

    @property
    def placed_ns(self) -> int:
        """The time of all disturbances with instants."""
        return int((self.end_ns - self.begin_ns).sum())

    @property
    def total_ns(self) -> int:
        """The time that they can have taken from a trial, at most its window."""
        return min(self.placed_ns + self.unplaced_ns, self.window_ns)


def disturbances(measurement: Measurement) -> Disturbances:
    """Return the disturbances of a measurement."""
    host, ledger = measurement.host, measurement.ledger
    spans = [(span.at_ns, span.at_ns + span.length_ns) for span in [*(host.stalls or []), *ledger.late]]
    begin_ns, end_ns = joined(np.array(spans, dtype=np.int64).reshape(-1, 2))
    placed_ns = int((end_ns - begin_ns).sum())
    unplaced_ns = max(0, (host.steal_ns or 0) - placed_ns)
    return Disturbances(measurement.window.length_ns, begin_ns, end_ns, unplaced_ns)


def joined(spans: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return begins and ends of spans, shape (n, 2), in order; those that touch are one."""
    if not len(spans):
        return spans[:, 0], spans[:, 1]
    spans = spans[np.argsort(spans[:, 0], kind="stable")]
    ends = np.maximum.accumulate(spans[:, 1])
    first = np.append(True, spans[1:, 0] > ends[:-1])
    last = np.append(first[1:], True)
    return spans[first, 0], ends[last]
