"""Two zones with a packet thread each: round trips of all pairs, and a bulk transfer between the zones."""

from __future__ import annotations

import json
import sys
from functools import partial
from typing import TYPE_CHECKING

import pytest
from test_zones import ECHO, await_ready, waited

from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.document import parse_document
from crosswind.spec.fabric import fabric_of
from crosswind.spec.setup import setup_of
from crosswind.testbed import Agent, Ended, RunningFabric, TestbedError

if TYPE_CHECKING:
    from conftest import Live

PINGS = 50
UPLINK_NS = 100_000  # Of each of the two links of a host that a packet crosses.
BETWEEN_NS = 5_000_000
# What two hosts, the kernel and the emulator add at least to a round trip, beside 1 % of it: 50 us on a quiet
# machine, and more where a machine of two cores has other work.
FLOOR_NS = 100_000
BULK_BYTES = 50_000_000
NODES = {"a": "left", "b": "left", "c": "right", "d": "right"}

# The kernel stamps what comes back, so that this process may be late to read it.
PING = f"""\
import json, socket, struct, sys, time
found = {{}}
for target in sys.argv[1].split(","):
    sock = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    sock.setsockopt(socket.SOL_SOCKET, 35, 1)  # SO_TIMESTAMPNS
    sock.settimeout(2)
    times = found[target] = []
    for _ in range({PINGS}):
        sent = time.clock_gettime_ns(time.CLOCK_REALTIME)
        sock.sendto(b"x" * 20, (target, 7007))
        _, notes, _, _ = sock.recvmsg(100, 100)
        seconds, rest = struct.unpack("qq", notes[0][2][:16])
        times.append(seconds * 10**9 + rest - sent)
print(json.dumps(found))
"""
SINK = """\
import hashlib, socket
server = socket.create_server(("", 7008))
print("ready", flush=True)
connection, _ = server.accept()
total, digest = 0, hashlib.sha256()
while data := connection.recv(1 << 16):
    total += len(data)
    digest.update(data)
print(total, digest.hexdigest(), flush=True)
"""
BULK = f"""\
import hashlib, random, socket, sys
data = random.Random(1).randbytes(1 << 16)
sock = socket.create_connection((sys.argv[1], 7008))
left, digest = {BULK_BYTES}, hashlib.sha256()
while left:
    part = data[:left]
    sock.sendall(part)
    digest.update(part)
    left -= len(part)
sock.close()
print({BULK_BYTES}, digest.hexdigest())
"""


def network(folder: str, domains: int | list[list[str]]) -> FabricSpec:
    delay = f"{BETWEEN_NS}ns"
    topology = {
        "zones": {"delay": {"left": {"right": delay}, "right": {"left": delay}}},
        "uplink": {"rate": "1Gbit/s", "delay": f"{UPLINK_NS}ns"},
        "nodes": NODES,
    }
    setup = setup_of(parse_document(json.dumps({"topology": topology}).encode(), f"{folder}/x.yaml"))
    return fabric_of(setup.resolved(1), "none").with_changes(domains=domains)


def test_round_trips_of_all_pairs_and_a_bulk_transfer_cross_between_two_domains(live: Live) -> None:
    found: dict[tuple[str, str], list[int]] = {}
    with (
        Agent() as agent,
        RunningFabric(agent, network(str(live.folder), 2), live.folder / "logs") as fabric,
    ):
        address = {name: node.address for name, node in fabric.nodes.items()}
        name_of = {at: name for name, at in address.items()}
        start = partial(fabric.start, cwd=live.folder)
        await_ready([start(name, "echo", [sys.executable, "-c", ECHO]) for name in NODES])
        fabric.measure()
        for name in NODES:
            others = ",".join(at for other, at in address.items() if other != name)
            ping = start(name, "ping", [sys.executable, "-c", PING, others])
            assert ping.wait(30) == Ended(0, None), ping.last_words()
            for target, times_ns in json.loads(ping.printed()).items():
                found[name, name_of[target]] = times_ns
        measurement = fabric.read()
        assert fabric.domains == measurement.domains == 2
        # New elements in both domains, while the network is up.
        fabric.set(FabricCondition(name="marked", places={"host.egress": [{"mark": {"dscp": 10}}]}))
        fabric.measure()
        sink = start("d", "sink", [sys.executable, "-c", SINK])
        await_ready([sink])
        bulk = start("a", "bulk", [sys.executable, "-c", BULK, address["d"]])
        assert bulk.wait(60) == Ended(0, None), bulk.last_words()
        assert sink.wait(10) == Ended(0, None), sink.last_words()
        assert sink.printed().split()[1:] == bulk.printed().split()
        busy = fabric.read()
    for one in (measurement, busy):
        assert one.conservation.holds
        assert one.ledger.early == 0
    assert measurement.conservation.entered.real >= 12 * 2 * PINGS
    assert busy.conservation.entered.real >= BULK_BYTES / 1448
    cut = next(
        element for element in busy.elements if element.of == "left->right" and element.real.arrived_packets
    )
    assert cut.real.departed_bytes >= BULK_BYTES
    marked = [element.real for element in busy.elements if element.element.endswith(":mark")]
    assert sum(counts.departed_bytes for counts in marked) >= BULK_BYTES
    assert len(found) == 12
    expected_ns = {
        (one, other): 4 * UPLINK_NS + (2 * BETWEEN_NS if NODES[one] != NODES[other] else 0)
        for one, other in found
    }
    # However late a machine is, it is never early.
    assert {pair: times for pair, times in found.items() if min(times) < expected_ns[pair]} == {}
    late_ns = {pair: min(times) - expected_ns[pair] for pair, times in found.items()}
    wrong = {pair: late for pair, late in late_ns.items() if late > 0.01 * expected_ns[pair] + FLOOR_NS}
    if wrong and (reason := live.stolen() or waited(measurement)) is not None:
        pytest.skip(f"SKIPPED: {reason}")
    assert wrong == {}


def test_what_cannot_be_divided_is_refused_with_a_remedy(live: Live) -> None:
    close = network(str(live.folder), [["left"], ["right"]])
    links = [link.model_copy(update={"delay_ns": 50_000}) for link in close.links]
    close = close.with_changes(links=links)
    refused = pytest.raises(TestbedError, match="a cut needs 100000 ns or more")
    with Agent() as agent, refused, RunningFabric(agent, close, live.folder / "logs"):
        pass
