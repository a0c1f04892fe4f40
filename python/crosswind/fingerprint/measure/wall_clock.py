"""Check that the wall clock of an end, by which its kernel timestamps packets, is not set meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crosswind.fingerprint.measure.ends import End
from crosswind.fingerprint.regime.points import CLOCK_SET_S
from crosswind.testbed import TestbedError

# Wall clock less monotonic clock. Slewing changes both; only setting changes the difference.
_OFFSET = "import time; print(time.time() - time.monotonic())"


class ClockSet(TestbedError):
    """The clock of an end was set while it timestamped packets, so their times are wrong."""


@contextmanager
def left_alone(end: End) -> Iterator[None]:
    """Check that the clock of an end was not set during the block.

    Raises: ClockSet: it was.
    """
    before_s = float(end.ask(_OFFSET))
    yield
    refuse_set(end.name, before_s, float(end.ask(_OFFSET)))


def refuse_set(name: str, before_s: float, after_s: float) -> None:
    """Compare two offsets of the wall clock from the monotonic one, in s."""
    if abs(after_s - before_s) > CLOCK_SET_S:
        raise ClockSet(
            f"{name}: its clock was set by {after_s - before_s:+.3g} s, or it slept, while it timestamped "
            "packets; stop what sets the clock there (NTP, the hypervisor), and measure again"
        )
