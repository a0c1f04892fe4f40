"""Partitions on a live network, as tools that are not ours see them: `python -m bench.partition`.

Between nodes `a` and `b`, 10 ms apart, ping and iperf3 (UDP) run both ways. After a second `a` is cut off
from `b`, one way, and a second later that heals. tcpdump on both nodes says which packets were sent and which
arrived. It needs root, ping, iperf3 and tcpdump.
"""

from __future__ import annotations

import argparse
import os
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import crosswind
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.results.measurement import Change
from crosswind.spec import FabricCondition
from crosswind.spec.resolved import ResolvedCut, ResolvedStep

MS = 1_000_000
TOPOLOGY: dict[str, object] = {
    "hosts": 2,
    "uplink": {"rate": "1Gbit/s", "delay": "5ms", "buffer": "1MiB"},
    "nodes": {"a": "h0", "b": "h1"},
}
WAY_NS = 10 * MS
CUT_NS, HEAL_NS = 1_000 * MS, 2_000 * MS
# Packets are on the links for less than this beside the delay, and stamped this near to when they enter.
LOOSE_NS = 1 * MS
TOOLS = ("ping", "tcpdump")
ROUNDS = 10
_LOAD_S = 4
_PORTS = {"a": 5201, "b": 5202}
# Of tcpdump's file: nanoseconds, this machine's order of bytes, Ethernet.
_MAGIC = 0xA1B23C4D
_STORED_BYTES = 96


@dataclass(frozen=True)
class Crossed:
    """What crossed in one direction.

    Attributes:
        sent, arrived: packets that were due while the cut held, and how many of these arrived.
        under_way: those of `sent` that were under way when it began.
        after_us: of all packets that arrived while it held, how long after its begin the last one came.
    """

    sent: int
    arrived: int
    under_way: int
    after_us: float


@dataclass(frozen=True)
class Partition:
    """A cut from `a` to `b`, and both directions.

    Attributes:
        late_us: how late it took effect.
        dropped: packets that the gate counted.
        disturbed: what the machine did to it, which says nothing of a cut; empty where nothing.
    """

    cut: Crossed
    other: Crossed
    late_us: float
    dropped: int
    disturbed: str


def impossible() -> str | None:
    """Return why it cannot be measured here; None where it can."""
    if os.geteuid() != 0:
        return "tcpdump needs root"
    if missing := [tool for tool in TOOLS if shutil.which(tool) is None]:
        return f"needs {', '.join(missing)}; install them"
    return "needs iperf3; run `crosswind apps install iperf3`" if IPERF3.missing() else None


def partition() -> Partition:
    """Cut a running network in one direction for a second, and count what crossed."""
    program = IPERF3.program("iperf3")
    iperf3 = ["env", *(f"{name}={value}" for name, value in program.env.items()), str(program.path)]
    with tempfile.TemporaryDirectory() as folder, crosswind.Fabric(TOPOLOGY) as net:
        files = {node: Path(folder) / f"{node}.pcap" for node in net.nodes}
        captures = [_capture(net, node, file) for node, file in files.items()]
        for node, port in _PORTS.items():
            _quiet(net, node, *iperf3, "-s", "-1", "-p", port)
            net.await_port(node, port)
        for node, other in (("a", "b"), ("b", "a")):
            to = net.address(other)
            _quiet(
                net,
                node,
                *iperf3,
                "-c",
                to,
                "-p",
                _PORTS[other],
                "-u",
                "-b",
                "20M",
                "-l",
                1000,
                "-t",
                _LOAD_S,
            )
            _quiet(net, node, "ping", "-q", "-i", "0.002", "-w", _LOAD_S, to)
        time.sleep(0.5)
        cut = ResolvedCut(sources=["a"], targets=["b"])
        steps = [
            ResolvedStep(at_ns=at_ns, places={}, cuts=cuts)
            for at_ns, cuts in ((CUT_NS, [cut]), (HEAL_NS, []))
        ]
        net.apply(FabricCondition(name="cut", timeline=steps))
        time.sleep(HEAL_NS / 1e9 + 0.3)
        reading, (begun, healed) = _healed(net)
        measured = reading.measurement
        unseen = sum(_unseen(capture) for capture in captures)
        offset_ns = measured.window.realtime_minus_monotonic_ns
        held_ns = (begun.at_ns + offset_ns, healed.at_ns + offset_ns)
        seen = {node: list(_packets(file.read_bytes())) for node, file in files.items()}
        addresses = {node: net.address(node) for node in net.nodes}
        gate = next(each for each in measured.elements if each.element == "b/cut")
        overruns = measured.host.ring_overruns
        clamp_ns = measured.ledger.ingress_clamp_ns_max
        notes = {
            reading.reason: reading.fidelity == "void",
            f"the emulator missed {overruns} packets": overruns,
            f"packets entered up to {clamp_ns / MS:.0f} ms late": clamp_ns > LOOSE_NS,
            f"tcpdump missed {unseen} packets": unseen,
        }
    return Partition(
        _crossed(seen["a"], seen["b"], addresses["a"], held_ns),
        _crossed(seen["b"], seen["a"], addresses["b"], held_ns),
        (begun.at_ns - begun.asked_ns) / 1e3,
        sum(count.packets for count in gate.real.dropped.values()),
        "; ".join(note for note, is_true in notes.items() if is_true),
    )


@dataclass(frozen=True)
class _Packet:
    """A packet of ping or iperf3: when tcpdump saw it, who sent it, and what tells it from others."""

    at_ns: int
    source: str
    name: bytes


def _healed(net: crosswind.Fabric) -> tuple[crosswind.Reading, list[Change]]:
    """Return what was measured, and the two steps of the timeline, once both have come."""
    while True:
        reading = net.read()
        steps = [change for change in reading.measurement.changes if change.by == "timeline"]
        if len(steps) == 2:
            return reading, steps
        net.check()
        time.sleep(0.1)


def _quiet(net: crosswind.Fabric, node: str, *words: object) -> None:
    net.popen(node, [str(word) for word in words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def _capture(net: crosswind.Fabric, node: str, file: Path) -> subprocess.Popen[str]:
    words = [
        "tcpdump",
        "-i",
        "eth0",
        "-n",
        "-B",
        "32768",
        "-w",
        str(file),
        "-s",
        str(_STORED_BYTES),
        "-Z",
        "root",
    ]
    stamps = ["--time-stamp-precision=nano", "icmp or udp"]
    capture = net.popen(node, [*words, *stamps], stderr=subprocess.PIPE)
    assert capture.stderr is not None
    # It says so when it listens.
    capture.stderr.readline()
    return capture


def _unseen(capture: subprocess.Popen[str]) -> int:
    """End tcpdump, and return how many packets it could not see."""
    capture.terminate()
    (lost,) = re.findall(r"(\d+) packets? dropped by kernel", capture.communicate()[1])
    return int(lost)


def _packets(content: bytes) -> Iterator[_Packet]:
    """Yield the packets of a capture that carry a number: echoes, and datagrams of iperf3."""
    magic, *_, link = struct.unpack_from("=IHHiIII", content)
    assert (magic, link) == (_MAGIC, 1), "a capture of tcpdump on Ethernet"
    at = 24
    while at + 16 <= len(content):
        seconds, nanoseconds, stored, _ = struct.unpack_from("=IIII", content, at)
        frame, at = content[at + 16 : at + 16 + stored], at + 16 + stored
        protocol, transport = frame[23], frame[34:]
        source = ".".join(str(part) for part in frame[26:30])
        # Type, code, checksum, identifier, sequence number; or ports, lengths, seconds, microseconds, number.
        name = frame[23:24] + (
            transport[:1] + transport[4:8] if protocol == 1 else transport[:4] + transport[8:20]
        )
        yield _Packet(seconds * 10**9 + nanoseconds, source, name)


def _crossed(sent: list[_Packet], came: list[_Packet], source: str, held_ns: tuple[int, int]) -> Crossed:
    from_ns, until_ns = held_ns
    arrived = {packet.name: packet.at_ns for packet in came if packet.source == source}
    due = [
        packet
        for packet in sent
        if packet.source == source and from_ns + LOOSE_NS <= packet.at_ns + WAY_NS < until_ns - LOOSE_NS
    ]
    last_ns = max((at_ns for at_ns in arrived.values() if from_ns <= at_ns < until_ns), default=from_ns)
    return Crossed(
        sent=len(due),
        arrived=sum(packet.name in arrived for packet in due),
        under_way=sum(packet.at_ns < from_ns for packet in due),
        after_us=(last_ns - from_ns) / 1e3,
    )


def main() -> None:
    """Print a table with a row for each repetition."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("--rounds", type=int, default=ROUNDS)
    rounds: int = parser.parse_args().rounds
    if reason := impossible():
        sys.exit(reason)
    print(
        "| repetition | due a to b | of these under way | arrived | due b to a | arrived "
        "| cut late by us | last arrival a to b after us |"
    )
    print("|---|---|---|---|---|---|---|---|")
    number = 0
    while number < rounds:
        each = partition()
        if each.disturbed:
            print(f"again: {each.disturbed}", file=sys.stderr)
            continue
        number += 1
        print(
            f"| {number} | {each.cut.sent} | {each.cut.under_way} | {each.cut.arrived} | {each.other.sent} "
            f"| {each.other.arrived} | {each.late_us:.1f} | {each.cut.after_us:.1f} |",
            flush=True,
        )


if __name__ == "__main__":
    main()
