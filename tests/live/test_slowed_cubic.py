"""CUBIC where time passes five times slower: its window grows on the perceived clock."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crosswind.results.measurement import Measurement
from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import Agent
from crosswind.testbed.replies import Started, Up

if TYPE_CHECKING:
    from conftest import Live

FACTOR = 5
SENDS_S = 20
# The buffer holds what is under way in a round trip of 100 ms.
EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 10Mbit/s, delay: 25ms, buffer: 125kB}
  wait: sleep
  nodes: {server: h0, client: h1}
conditions: [none]
application: {rpc: {duration: 500ms, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7}
"""
SINK = """python3 -c '
import socket
connection, _ = socket.create_server(("", 7000)).accept()
while connection.recv(1 << 20):
    pass'"""
SOURCE = f"""python3 -c '
import socket, time
for _ in range(50):
    try:
        connection = socket.create_connection(("server", 7000))
        break
    except ConnectionRefusedError:
        time.sleep(0.1)
ends = time.monotonic() + {SENDS_S}
while time.monotonic() < ends:
    connection.sendall(bytes(1 << 16))'"""


def epochs(folder: Path, factor: int) -> tuple[list[float], bool]:
    """Return when a flow lost packets, in s; losses within a second are one. And whether CUBIC was slowed."""
    fabric = fabric_of(resolve(parse_experiment(EXPERIMENT.encode(), "live.yaml")), "none")
    with Agent() as agent:
        request = {
            "fabric": fabric.model_dump(by_alias=True, exclude_none=True),
            "dilation": {"factor": factor},
        }
        up = agent.request("up", Up, request)
        assert up.dilation is not None
        processes = []
        for node, script in (("server", SINK), ("client", SOURCE)):
            output = folder / f"{node}-{factor}"
            start = {
                "node": node, "name": node, "argv": ["bash", "-c", script], "cwd": str(folder),
                "stdout": str(output), "stderr": str(output),
            }  # fmt: skip
            processes.append((agent.request("start", Started, start).process, output))
        for process, output in processes:
            ended = agent.wait_exit(process, timeout_s=3 * SENDS_S * factor)
            assert ended is not None, output.read_text()
            assert ended.code == 0, output.read_text()
        drops = agent.request("read", Measurement).drops.rows
    times = sorted(drop.at_ns / 1e9 for drop in drops)
    found = [at_s for before_s, at_s in zip([0.0, *times], times, strict=False) if at_s > before_s + 1]
    return found, "cubic" in up.dilation.tcp


@pytest.mark.long
def test_epochs_are_as_long_as_in_real_time(live: Live) -> None:
    folder = live.folder / "open"
    folder.mkdir(mode=0o777)
    folder.chmod(0o777)
    slowed, is_slowed = epochs(folder, FACTOR)
    if not is_slowed:
        pytest.skip("the machine lacks what slows CUBIC: root, and a kernel with BTF")
    real, _ = epochs(folder, 1)
    # With the kernel's clock there are three times as many.
    assert abs(len(slowed) - len(real)) <= 1, (slowed, real)
