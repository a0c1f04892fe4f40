"""End many processes in the time of one."""

import signal
import time
from collections.abc import Sequence

from crosswind.testbed.fabric import Process


def end_all(processes: Sequence[Process], grace_s: float) -> list[Process]:
    """End process groups side by side, after `grace_s` by SIGKILL; return those that had ended before."""
    dead = [process for process in processes if process.ended is not None]
    for process in processes:
        process.signal(signal.SIGTERM)
    deadline = time.monotonic() + grace_s
    for process in processes:
        process.stop(max(0.0, deadline - time.monotonic()))
    return dead
