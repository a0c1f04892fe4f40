"""The time to make and end nodes, and the CPU time of an idle emulator."""

import json
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench import kernel_nodes
from bench.figures import Figure, figure
from crosswind.testbed import Agent, RunningFabric, find_binary
from crosswind.testbed.plain import plain_fabric

NODES = 1000


def hosts(rounds: int) -> Iterator[Figure]:
    """Yield the times of four hosts up and down, and the CPU share of an idle emulator."""
    ups, downs, idle = [], [], []
    for _ in range(rounds + 2):
        with Agent() as agent, tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            with RunningFabric(agent, plain_fabric(("n0", "n1", "n2", "n3")), Path(folder)) as fabric:
                ups.append(time.monotonic() - started)
                fabric.measure()
                time.sleep(0.5)
                fabric.measure()
                time.sleep(1)
                measured = fabric.read()
                idle.append((measured.host.emulator_cpu_ns or 0) / measured.window.length_ns)
                ending = time.monotonic()
            downs.append(time.monotonic() - ending)
    yield figure("four hosts up", "s", ups, "at most 0.5")
    yield figure("four hosts down", "s", downs, "at most 0.2")
    yield figure("idle emulator, share of a core", "ratio", idle, "under 0.1")
    size_mb = find_binary("crosswind-agent").stat().st_size / 1e6
    yield figure("agent binary", "MB", [size_mb], "under 15")


def nodes(rounds: int) -> Iterator[Figure]:
    """Yield the times of a thousand nodes up and down, next to those of the kernel alone."""
    ups, downs = [], []
    kernel: list[dict[str, float]] = []
    spec = plain_fabric([f"n{number}" for number in range(NODES)])
    for _ in range(rounds):
        kernel.append(_kernel())
        with Agent() as agent, tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            with RunningFabric(agent, spec, Path(folder)):
                ups.append(time.monotonic() - started)
                ending = time.monotonic()
            downs.append(time.monotonic() - ending)
    for way, times, wanted in (("up", ups, "at most 2"), ("down", downs, "at most 1")):
        alone = [round(run[f"{way}_s"], 2) for run in kernel]
        yield figure(f"{NODES} nodes {way}", "s", times, wanted, kernel_alone_s=alone)


def _kernel() -> dict[str, float]:
    script = [sys.executable, kernel_nodes.__file__, str(NODES)]
    done = subprocess.run(script, check=True, capture_output=True, text=True)
    times: dict[str, float] = json.loads(done.stdout)
    return times
