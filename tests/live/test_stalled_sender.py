"""A sender that stalls in the middle of a burst is found out: its burst is repeated, or refused."""

from __future__ import annotations

import os
import signal
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.measure.duty_cycle import duty_cycle
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.fingerprint.measure.packets import EndStalled
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from conftest import Live

BUDGET_BITS, HIGH_BPS, LOW_BPS = 120_000_000, 60_000_000, 8_000_000
STALL_S = 0.4
CREDIT = {
    "budget_bits": BUDGET_BITS,
    "initial_bits": BUDGET_BITS,
    "high_bps": HIGH_BPS,
    "low_bps": LOW_BPS,
    "refill_bps": LOW_BPS,
    "buffer_bytes": 128 * 1024,
}


@contextmanager
def stalls(live: Live, most: int) -> Iterator[list[int]]:
    """Stop the senders of this place's floods for a while, each once, `most` of them; give their ids."""
    done = threading.Event()
    stopped: list[int] = []

    def stop() -> None:
        while not done.wait(0.01) and len(stopped) < most:
            for pid in set(live.processes()) - set(stopped):
                if _is_sending(pid):
                    os.kill(pid, signal.SIGSTOP)
                    stopped.append(pid)
                    time.sleep(STALL_S)
                    os.kill(pid, signal.SIGCONT)
                    break

    thread = threading.Thread(target=stop)
    thread.start()
    try:
        yield stopped
    finally:
        done.set()
        thread.join()


def _is_sending(pid: int) -> bool:
    """Return whether a process is a flood's sender that has worked for a fifth of a second."""
    try:
        words = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
        spent = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[11:13]
    except OSError:
        return False
    return b"flood-send" in words and sum(map(int, spent)) >= 0.2 * os.sysconf("SC_CLK_TCK")


@pytest.fixture
def measured(live: Live, monkeypatch: pytest.MonkeyPatch) -> partial[TrafficTrace]:
    """Return the measurement of a bucket with programs of this place's own."""
    for name in ("CROSSWIND_AGENT", "CROSSWIND_LOAD", "CROSSWIND_WORK_DIR"):
        monkeypatch.setenv(name, live.env[name])
    network = partial(own_fabric, plain_fabric(places={"host.egress": [{"credit": CREDIT}]}))
    return partial(duty_cycle, network, 1.3 * HIGH_BPS, [3.5, 2.0], 3.0, 0.02)


@pytest.mark.long
def test_a_burst_whose_sender_stalled_is_measured_again_and_the_bucket_is_right(
    live: Live, measured: partial[TrafficTrace]
) -> None:
    try:
        with stalls(live, 1) as stopped:
            trace = measured()
    except EndStalled as error:
        pytest.skip(f"SKIPPED: this machine is too busy: {error}")
    assert len(stopped) == 1
    found = identify(trace)
    assert found.budget_bits is not None
    assert found.refill_bps is not None
    assert found.budget_bits.value == pytest.approx(BUDGET_BITS, rel=0.03)
    assert found.refill_bps.value == pytest.approx(LOW_BPS, rel=0.05)


@pytest.mark.long
def test_a_sender_that_stalls_every_time_is_refused_with_what_would_help(
    live: Live, measured: partial[TrafficTrace]
) -> None:
    with stalls(live, 5) as stopped, pytest.raises(EndStalled, match=r"stalled.*5 times.*less busy"):
        measured()
    assert len(stopped) >= 1
