"""The wall clock of an end, by which the kernel stamps packets there: nobody may set it meanwhile."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from crosswind.fingerprint.measure.ends import End
from crosswind.fingerprint.regime.points import CLOCK_SET_S
from crosswind.testbed import TestbedError

# Wall clock less monotonic clock: slewing moves both, and only setting moves one against the other.
_OFFSET = "import time; print(time.time() - time.monotonic())"


class ClockSet(TestbedError):
    """Somebody set the clock of an end while packets were stamped by it; what they say of time is wrong."""


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
            f"{name}: its clock was set by {after_s - before_s:+.3g} s, or it slept, while packets were "
            "stamped by it; measure again, with whatever sets clocks there (NTP, the hypervisor) at rest"
        )
