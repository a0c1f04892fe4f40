"""The lateness of the kernel's sleeps without any packet: the control of an emulator that sleeps.

`sleeps.py COUNT MICROSECONDS` prints the lateness of each in us, as JSON. Like the emulator it uses exact
timers and, where permitted, real-time priority.
"""

import ctypes
import json
import os
import subprocess
import sys
import time
from contextlib import suppress

import numpy as np
from numpy.typing import NDArray

PR_SET_TIMERSLACK = 29  # linux/prctl.h
# The emulator ends its sleeps early enough that one in forty is late (crates/emulator/src/waking.rs).
MARGIN = 0.975


def late_us(count: int, sleep_us: int) -> NDArray[np.float64]:
    """Return the lateness of each of `count` sleeps in us, shape (count,)."""
    script = [sys.executable, __file__, str(count), str(sleep_us)]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    return np.array(json.loads(done.stdout))


def _main(count: int, sleep_us: int) -> None:
    ctypes.CDLL(None).prctl(PR_SET_TIMERSLACK, 1)
    with suppress(PermissionError):
        os.sched_setscheduler(0, os.SCHED_FIFO, os.sched_param(1))
    late = []
    for _ in range(count):
        began = time.monotonic_ns()
        time.sleep(sleep_us / 1e6)
        late.append((time.monotonic_ns() - began) / 1e3 - sleep_us)
    print(json.dumps(late))


if __name__ == "__main__":
    _main(*map(int, sys.argv[1:]))
