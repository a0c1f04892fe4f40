"""Causes that were put there on purpose are the ones that the report names."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
from typing import TYPE_CHECKING

from crosswind.report import summarise
from crosswind.report.causes import BEHIND, CLIENT_STALL, NO_EVENT

if TYPE_CHECKING:
    from conftest import Live

HEAD = """
name: live
topology:
  hosts: 2
  uplink: {rate: 10Mbit/s, delay: 1ms, buffer: 256KiB}
  nodes: {server: h0, client: h1}
"""
# 30 kB take 24 ms on the uplink and 480 ms at 500 kbit/s.
NETWORK = (
    HEAD
    + """
conditions:
  - lossy: {link: [{lose: {bernoulli: 8%}}]}
  - shaped: {host.egress: [{shape: {rate: 500kbit/s, burst: 3kB, buffer: 256KiB}}]}
  - narrow: {link: [{capacity: {steps: {0s: 500kbit/s}}}]}
application: {rpc: {response: 30kB, connections: 1, duration: 1500ms, warm_up: 100ms}}
trials: {repeat: 1, rest: 0s, seed: 7}
"""
)
# Requests are due every 10 ms, and answered within 5 ms as long as both are awake.
AWAKE = (
    HEAD
    + """
conditions: [none]
application: {rpc: {response: 100B, connections: 2, rate: 100/s, duration: 1s, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7}
"""
)


def test_loss_shapers_and_queues_are_told_apart(live: Live) -> None:
    (live.folder / "live.yaml").write_text(NETWORK)
    status, said = live.run("run", "live.yaml")
    assert status == 0, said
    found = {condition.name: condition.slow.by_cause for condition in summarise(live.run_folder).conditions}
    timeouts = [cause for cause in found["lossy"] if cause.startswith("retransmission timeout after a drop")]
    assert timeouts
    assert all(cause.endswith(":lose (lost)") for cause in timeouts)
    assert set(found["shaped"]) == {"shaper wait at server/host.egress/0:shape"}
    assert set(found["narrow"]) == {"queueing at h0/uplink"}


def test_a_server_that_stood_still_is_told_from_a_client_that_did(live: Live) -> None:
    (live.folder / "live.yaml").write_text(AWAKE)
    run = live.start("run", "live.yaml")
    for trial, stopped in enumerate(("rpc-serve", "rpc")):
        live.await_step("prepared", trial + 1)
        process = load_process(live, stopped)
        time.sleep(0.4)  # into the measured phase
        os.kill(process, signal.SIGSTOP)
        time.sleep(0.35)
        os.kill(process, signal.SIGCONT)
        live.await_step("measured", trial + 1)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 0, said
    server, client = (trial.slow.by_cause for trial in summarise(live.run_folder).trials)
    # What was under way when the server stopped waited for it; what was due then waited for a connection.
    assert set(server) == {NO_EVENT, BEHIND}
    assert set(client) == {CLIENT_STALL, BEHIND}


def load_process(live: Live, verb: str) -> int:
    """Return the load generator with that verb in this run, as soon as it is there."""
    deadline = time.monotonic() + 10
    while time.monotonic() < deadline:
        for pid, program in live.processes().items():
            try:
                arguments = Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0")
            except OSError:
                continue
            if program.endswith("crosswind-load") and verb.encode() in arguments:
                return pid
        time.sleep(0.005)
    raise AssertionError(f"no crosswind-load {verb} within 10 s")
