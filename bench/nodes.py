"""How long nodes take to come up and go, and what an idle emulator uses."""

import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, figure
from crosswind.testbed import Agent, Fabric, find_binary
from crosswind.testbed.plain import plain_fabric


def hosts(rounds: int) -> Iterator[Figure]:
    """Yield four hosts up and down, and what an idle emulator uses."""
    ups, downs, idle = [], [], []
    for _ in range(rounds + 2):
        with Agent() as agent, tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            with Fabric(agent, plain_fabric(("n0", "n1", "n2", "n3")), Path(folder)) as fabric:
                ups.append(time.monotonic() - started)
                fabric.measure()
                time.sleep(0.5)
                fabric.measure()
                time.sleep(1)
                measured = fabric.read()
                window = measured["window"]
                idle.append(measured["host"]["emulator_cpu_ns"] / (window["ended_ns"] - window["started_ns"]))
                ending = time.monotonic()
            downs.append(time.monotonic() - ending)
    yield figure("four hosts up", "s", ups, "at most 0.5")
    yield figure("four hosts down", "s", downs, "at most 0.2")
    yield figure("idle emulator, share of a core", "ratio", idle, "under 0.1")
    size_mb = find_binary("crosswind-agent").stat().st_size / 1e6
    yield figure("agent binary", "MB", [size_mb], "under 15")


def nodes(rounds: int) -> Iterator[Figure]:
    """Yield a thousand nodes up and down."""
    ups, downs = [], []
    spec = plain_fabric([f"n{number}" for number in range(1000)])
    for _ in range(min(rounds, 3)):
        with Agent() as agent, tempfile.TemporaryDirectory() as folder:
            started = time.monotonic()
            with Fabric(agent, spec, Path(folder)):
                ups.append(time.monotonic() - started)
                ending = time.monotonic()
            downs.append(time.monotonic() - ending)
    yield figure("1000 nodes up", "s", ups, "at most 6")
    yield figure("1000 nodes down", "s", downs, "at most 1")
