"""A network that is up and in which time passes ten times slower: programs that are started by hand, too."""

from __future__ import annotations

import re
import shutil
import time
from typing import TYPE_CHECKING

import pytest
from networks import TWO_NODES

import crosswind

if TYPE_CHECKING:
    from conftest import Live

FACTOR = 10
# Five milliseconds on each of the four wires of a round trip.
FAR = TWO_NODES.replace("delay: 0us", "delay: 5ms")
TOPOLOGY = {"hosts": 2, "uplink": {"rate": "100Mbit/s"}, "nodes": {"a": "h0", "b": "h1"}}
SLEEP = "import time; began = time.monotonic(); time.sleep(0.2); print(time.monotonic() - began)"


def test_exec_starts_programs_that_perceive_the_network_as_declared(live: Live) -> None:
    if not shutil.which("ping"):
        pytest.skip("ping is not installed")
    with live.up(FAR, "--dilation", str(FACTOR)) as (_, said):
        assert f"time: {FACTOR} times slower; perceived time is shown\n" in said
        began_s = time.monotonic()
        status, slept_s = live.run("exec", "a", "--", "python3", "-c", SLEEP)
        assert status == 0, slept_s
        assert time.monotonic() - began_s >= 0.2 * FACTOR
        assert 0.2 <= float(slept_s) < 0.25
        # The first packet waits for the other end's address.
        status, pinged = live.run("exec", "a", "--", "ping", "-c", "3", "-i", "0.2", "b")
        assert status == 0, pinged
        fastest_ms = min(map(float, re.findall(r"time=([0-9.]+) ms", pinged)))
        # Undilated it would be 200 ms.
        assert 20 <= fastest_ms < 25, pinged


def test_a_file_says_how_slow_and_the_library_waits_in_perceived_time() -> None:
    content = {"topology": TOPOLOGY, "time": {"dilation": FACTOR}}
    with crosswind.Fabric(content) as net:
        assert net.dilation == FACTOR
        began_s = time.monotonic()
        server = net.popen("b", ["sh", "-c", "sleep 0.1; exec python3 -m http.server 8000"])
        net.await_port("b", 8000)
        assert time.monotonic() - began_s >= 0.1 * FACTOR
        ran = net.exec("a", ["python3", "-c", SLEEP], check=True, timeout=1)
        assert 0.2 <= float(ran.stdout) < 0.25
        window = net.read()
        # The window is as long as the nodes perceive it.
        assert 0.3 <= window.duration_s < (time.monotonic() - began_s) / 2
        clocks = {node.node: node.dilation for node in window.measurement.nodes}["b"]
        assert clocks is not None
        assert not list(clocks.faults())
        assert server.poll() is None
