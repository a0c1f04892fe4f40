"""Thirteen zones, each ordered pair with a delay of its own, and real packets between all of them."""

from __future__ import annotations

import json
import statistics
import sys
import time
from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING

import pytest

from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.spec.document import parse_document
from crosswind.spec.fabric import fabric_of
from crosswind.spec.setup import setup_of
from crosswind.testbed import Agent, Ended, Process, RunningFabric

if TYPE_CHECKING:
    from conftest import Live

ZONES = 13
PINGS = 5
UPLINK_NS = 100_000  # Of each of the two links of a host that a packet crosses.
# What two hosts, the kernel and the emulator add to a round trip, beside 1 % of it.
FLOOR_NS = 50_000

ECHO = """\
import socket, sys
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.bind(("", 7007))
print("ready", flush=True)
while True:
    data, sender = sock.recvfrom(100)
    sock.sendto(data, sender)
"""
# Asks all others at once, so that a round takes as long as the longest round trip. The kernel stamps what
# comes back, so that this process may be late to read it.
PING = f"""\
import json, socket, struct, sys, time
targets = sys.argv[1].split(",")
sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
sock.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
sock.settimeout(2)
found = {{target: [] for target in targets}}
for _ in range({PINGS}):
    sent = {{}}
    for target in targets:
        sent[target] = time.clock_gettime_ns(time.CLOCK_REALTIME)
        sock.sendto(b"x" * 20, (target, 7007))
    for _ in targets:
        _, notes, _, sender = sock.recvmsg(100, 100)
        seconds, rest = struct.unpack("qq", notes[0][2][:16])
        found[sender[0]].append(seconds * 10**9 + rest - sent[sender[0]])
print(json.dumps(found))
"""


def delay_ns(source: int, target: int) -> int:
    """Return 156 different delays, from 20 to 97 ms, in no order."""
    number = source * (ZONES - 1) + (target if target < source else target - 1)
    return 20_000_000 + 497_000 * (number * 61 % 156)


def network(folder: str) -> FabricSpec:
    rows = {
        f"z{one}": {f"z{other}": f"{delay_ns(one, other)}ns" for other in range(ZONES) if other != one}
        for one in range(ZONES)
    }
    nodes = {f"{kind}{zone}": f"z{zone}" for kind in ("ping", "echo") for zone in range(ZONES)}
    topology = {
        "zones": {"delay": rows},
        "uplink": {"rate": "1Gbit/s", "delay": f"{UPLINK_NS}ns"},
        "nodes": nodes,
    }
    setup = setup_of(parse_document(json.dumps({"topology": topology}).encode(), f"{folder}/x.yaml"))
    return fabric_of(setup.resolved(1), "none")


def await_ready(processes: Sequence[Process]) -> None:
    """Wait until each has said so; while interpreters start, nobody measures anything."""
    deadline = time.monotonic() + 20
    while not all("ready" in process.printed() for process in processes):
        assert time.monotonic() < deadline
        time.sleep(0.05)


def test_round_trips_of_all_pairs_of_thirteen_zones_are_those_of_the_matrix(live: Live) -> None:
    assert (
        len({delay_ns(one, other) for one in range(ZONES) for other in range(ZONES) if one != other}) == 156
    )
    spec = network(str(live.folder))
    found: dict[tuple[int, int], list[int]] = {}
    with Agent() as agent, RunningFabric(agent, spec, live.folder / "logs") as fabric:
        address = {name: node.address for name, node in fabric.nodes.items()}
        zone_of = {address[f"echo{zone}"]: zone for zone in range(ZONES)}
        start = partial(fabric.start, cwd=live.folder)
        echoes = [start(name, name, [sys.executable, "-c", ECHO]) for name in address if "echo" in name]
        await_ready(echoes)
        fabric.measure()
        for zone in range(ZONES):
            others = ",".join(each for each, at in zone_of.items() if at != zone)
            ping = start(f"ping{zone}", f"ping{zone}", [sys.executable, "-c", PING, others])
            ended = ping.wait(20)
            assert ended == Ended(0, None), ping.last_words()
            for target, times_ns in json.loads(ping.printed()).items():
                found[zone, zone_of[target]] = times_ns
        measurement = fabric.read()
    assert len(found) == 156
    expected_ns = {pair: delay_ns(*pair) + delay_ns(*reversed(pair)) + 4 * UPLINK_NS for pair in found}
    # However late a machine is, it is never early.
    assert {pair: times for pair, times in found.items() if min(times) < expected_ns[pair]} == {}
    late_ns = {pair: statistics.median(times) - expected_ns[pair] for pair, times in found.items()}
    wrong = {pair: late for pair, late in late_ns.items() if late > 0.01 * expected_ns[pair] + FLOOR_NS}
    if wrong and (reason := live.stolen() or waited(measurement)) is not None:
        pytest.skip(f"SKIPPED: {reason}")
    assert wrong == {}


def waited(measurement: Measurement) -> str | None:
    """Return how long the emulator waited for a CPU; None where that is little: then others were not busy."""
    share = (measurement.host.run_queue_delay_ns or 0) / measurement.window.length_ns
    return f"the emulator waited {share:.1%} of the time for a CPU that others had" if share > 0.01 else None
