"""The capture of a network that is up holds every packet, with its stamp and, if it was lost, the reason."""

from __future__ import annotations

import json
import shutil
import subprocess
import time
from collections import Counter
from typing import TYPE_CHECKING

import pytest
from pcapng import Capture, read_capture

if TYPE_CHECKING:
    from conftest import Live

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 100us, buffer: 64KiB}
  nodes: {a: h0, b: h1}
condition:
  limited:
    link: [{delay: {time: 3ms}}]
    switch.ingress: [{police: {rate: 1Mbit/s, burst: 3kB}}]
"""
# 50 datagrams of 1000 bytes of payload, far more than the policer lets pass.
SEND = """
import socket, time
sender = socket.socket(type=socket.SOCK_DGRAM)
for number in range(50):
    sender.sendto(bytes([number]) * 1000, ("b", 4000))
time.sleep(0.3)  # The last one needs 7 ms on a quiet machine; the network goes down when this ends.
"""
# One small message at a time and its answer, faster than a policer of 150 kbit/s lets them pass: behind what
# is dropped comes nothing that could ask for it, so each drop takes a timeout. Then what the kernel counted.
TALK_NETWORK = NETWORK.replace("rate: 1Mbit/s", "rate: 150kbit/s")
TALK = """
import socket, sys
if sys.argv[1] == "answer":
    listener = socket.create_server(("0.0.0.0", 4000))
    print("listening", flush=True)
    connection = listener.accept()[0]
    connection.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    while connection.recv(1000, socket.MSG_WAITALL):
        connection.sendall(b"!")
else:
    with socket.create_connection(("b", 4000)) as connection:
        for _ in range(15):
            connection.sendall(bytes(1000))
            connection.recv(1)
    names, values = [line.split() for line in open("/proc/self/net/snmp") if line.startswith("Tcp:")]
    print(values[names.index("RetransSegs")])
"""


def captured(live: Live, *options: str) -> Capture:
    up = brought_up(live, NETWORK, SEND, *options)
    assert live.run("exec", "a", "--", "python3", "send.py")[0] == 0
    down(up)
    return read_capture((live.folder / "run.pcapng").read_bytes())


def brought_up(live: Live, network: str, program: str, *options: str) -> subprocess.Popen[str]:
    (live.folder / "network.yaml").write_text(network)
    (live.folder / "send.py").write_text(program)
    up = live.start("up", "network.yaml", "--capture", "run.pcapng", *options, stdin=subprocess.PIPE)
    assert up.stdout is not None
    while up.stdout.readline() != "ready\n":
        assert up.poll() is None
    return up


def down(up: subprocess.Popen[str]) -> None:
    said, _ = up.communicate(timeout=20)
    assert up.returncode == 0, said
    assert "run.pcapng: " in said


def test_what_entered_left_or_was_lost_for_a_reason(live: Live) -> None:
    began_ns = time.time_ns()
    capture = captured(live)
    names = [f"{node} {what}" for node in "ab" for what in ("sends", "receives", "loses")]
    assert [interface.name for interface in capture.interfaces] == names
    # 14 bytes of Ethernet, 20 of IP and 8 of UDP before the payload; ARP and errors of ICMP are left aside.
    datagrams = [packet for packet in capture.packets if packet.original_bytes == 1042]
    where = Counter(packet.interface for packet in datagrams)
    assert where["a sends"] == 50
    assert where["b receives"] + where["a loses"] == 50
    assert where["a loses"] > 30
    lost = [packet for packet in datagrams if packet.interface == "a loses"]
    assert {packet.comment for packet in lost} == {"h0/switch.ingress/0:police no-tokens"}
    assert all(packet.comment is None for packet in datagrams if packet.interface != "a loses")
    assert all(len(packet.data) == 128 for packet in datagrams)
    entered = {packet.data[42]: packet.at_ns for packet in datagrams if packet.interface == "a sends"}
    for packet in datagrams:
        assert began_ns <= packet.at_ns <= time.time_ns()
        if packet.interface == "b receives":
            # Two delays of 3 ms, two links of 100 us and twice 85 us at 100 Mbit/s: never earlier.
            assert packet.at_ns - entered[packet.data[42]] >= 6_370_000
    for interface in capture.interfaces:
        in_file = sum(packet.interface == interface.name for packet in capture.packets)
        assert (interface.received, interface.left_out) == (in_file, 0)


def test_frames_are_cut_to_what_was_asked_for(live: Live) -> None:
    capture = captured(live, "--snap", "60B")
    assert max(len(packet.data) for packet in capture.packets) == 60


def test_analyze_finds_the_declared_delay_and_a_timeout_for_every_drop(live: Live) -> None:
    up = brought_up(live, TALK_NETWORK, TALK)
    receiver = live.start("exec", "b", "--", "python3", "send.py", "answer")
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "listening\n"
    status, said = live.run("exec", "a", "--", "python3", "send.py", "ask")
    assert status == 0, said
    receiver.communicate(timeout=10)
    down(up)
    status, printed = live.run("analyze", "run.pcapng", "--json")
    assert status == 0, printed
    found = json.loads(printed)
    assert (found["ended"], found["sum"]["packets"]) == (
        None,
        sum(flow["packets"] for flow in found["flows"]),
    )
    (asked,) = (flow for flow in found["flows"] if flow["at"] == "a")
    # Four delays of 3 ms and four links of 100 us there and back; at 100 Mbit/s data take twice 85 us.
    for what, least_ns in (("handshake", 12_400_000), ("acknowledgement", 12_570_000)):
        assert least_ns <= asked[what]["min"] <= asked[what]["p50"] <= least_ns + 20_000_000
    drops = sum(asked["lost"].values())
    assert list(asked["lost"]) == ["h0/switch.ingress/0:police no-tokens"]
    assert drops >= 3
    assert asked["retransmissions"] == asked["timeouts"] == drops == int(said)
    assert all(200_000_000 <= silence["silence_ns"] < 1_000_000_000 for silence in asked["silences"])
    cut = live.folder / "cut.pcapng"
    cut.write_bytes((live.folder / "run.pcapng").read_bytes()[:-1000])
    status, printed = live.run("analyze", "cut.pcapng")
    assert status == 0
    assert "is cut off at byte" in printed


def test_wireshark_opens_it(live: Live) -> None:
    if shutil.which("tshark") is None:
        pytest.skip("tshark is not installed")
    capture = captured(live)
    fields = ("-T", "fields", "-e", "frame.interface_name", "-e", "frame.comment")
    said = subprocess.run(
        ["tshark", "-r", live.folder / "run.pcapng", *fields], capture_output=True, text=True, check=True
    )
    rows = [line.split("\t") for line in said.stdout.splitlines()]
    assert [row[0] for row in rows] == [packet.interface for packet in capture.packets]
    assert [row[1] or None for row in rows] == [packet.comment for packet in capture.packets]
