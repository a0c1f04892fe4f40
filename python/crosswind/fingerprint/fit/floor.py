"""Subtract the floor from delays: the delay that the machine itself adds.

A measured delay is the sum of the network's delay and the machine's, which are independent. The machine adds
its own again when the condition is emulated. A floor that is one time is subtracted. For a floor with a
spread, this module finds delays whose sums with the floor have the measured quantiles. It starts with each
delay less the floor's median, and repeatedly adds what is missing at each quantile. The order of the delays
stays.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosswind.errors import CrosswindError
from crosswind.fingerprint.trace.delay_trace import delays_of_fingerprint, is_delays, read_delays
from crosswind.spec.quantities import TIME, QuantityError
from crosswind.spec.read_file import read_file
from crosswind.text.quantities import time_text

Values = NDArray[np.float64]

# Of the delays, and of the floor: five of them lie beyond P99.
_QUANTILES, _FLOOR_QUANTILES = 500, 1_000
# More rounds would fit the noise of the last few samples.
_ROUNDS = 10


@dataclass(frozen=True)
class Floor:
    """Delays without any network, shape (m,), m >= 1, in ns; a single one applies to each packet.

    Attributes:
        name: of the file, for messages; None for a time.
    """

    delay_ns: Values
    name: str | None = None

    @classmethod
    def read(cls, words: str) -> Floor:
        """Return the floor that `--floor` names: a time, a file of delays, or a fingerprint.

        Raises: CrosswindError: it is neither, or cannot be read.
        """
        file = Path(words)
        if not file.exists():
            try:
                return cls(np.array([float(TIME.read_positive(words))]))
            except QuantityError as error:
                raise CrosswindError(f"--floor {words}: is no file, and as a time {error}") from None
        try:
            content = read_file(file)
        except OSError as error:
            raise CrosswindError(f"--floor {words}: cannot be read: {error.strerror or error}") from None
        trace = read_delays(words, content) if is_delays(content) else delays_of_fingerprint(words, content)
        return cls(trace.delay_ns, file.name)

    @property
    def middle_ns(self) -> float:
        """Its median."""
        return float(np.median(self.delay_ns))

    def __str__(self) -> str:
        """What is subtracted."""
        middle = time_text(self.middle_ns)
        return f"{middle} each" if self.name is None else f"those of {self.name} ({middle} at the median)"

    def taken_off(self, delay_ns: Values) -> Values:
        """Return delays, none below 0, whose sums with the floor have the given distribution.

        Args:
            delay_ns: shape (n,), n >= 1, ns.
        Returns: shape (n,), in the same ranks.
        Raises: CrosswindError: their median is not above the floor's.
        """
        middle_ns = float(np.median(delay_ns))
        if middle_ns <= self.middle_ns:
            raise CrosswindError(
                f"--floor {self.name or time_text(self.middle_ns)}: the median of the delays is "
                f"{time_text(middle_ns)}, and a machine with a floor of {time_text(self.middle_ns)} cannot "
                "emulate a shorter one; use a machine with a lower floor"
            )
        if np.ptp(self.delay_ns) == 0:
            return np.maximum(0, delay_ns - self.middle_ns)
        shares = _shares(_QUANTILES)
        measured_ns = np.quantile(delay_ns, shares)
        added_ns = np.quantile(self.delay_ns, _shares(_FLOOR_QUANTILES))
        sought_ns = measured_ns - self.middle_ns
        for _ in range(_ROUNDS):
            given_ns = np.quantile(np.add.outer(sought_ns, added_ns), shares)
            sought_ns = np.maximum.accumulate(np.maximum(0, sought_ns + measured_ns - given_ns))
        ranks = (np.argsort(np.argsort(delay_ns, kind="stable")) + 0.5) / delay_ns.size
        # Whole ns, like the measured delays.
        return np.interp(ranks, shares, sought_ns).round()


def _shares(count: int) -> Values:
    return (np.arange(count) + 0.5) / count
