"""Packets that are damaged or doubled on the way, as the receiver's kernel sees them."""

from __future__ import annotations

import json
import subprocess
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from conftest import Live

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 0us, buffer: 1MiB}
  nodes: {a: h0, b: h1}
condition:
  hard: {link: [ELEMENT]}
"""
DATAGRAMS = 40
PAYLOAD = bytes(range(200))
# Sends datagrams, half of them without a checksum (SO_NO_CHECK); says what came and what the kernel refused.
PROGRAM = """
import json, socket, sys
it = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "send":
    for number in range(40):
        it.setsockopt(socket.SOL_SOCKET, 11, number % 2)
        it.sendto(bytes(range(200)), ("b", 5000))
    sys.exit()
it.bind(("0.0.0.0", 5000))
print("listening", flush=True)
came = []
it.settimeout(15)  # Until the sender has started.
try:
    while True:
        came.append(it.recv(2000).hex())
        it.settimeout(0.5)
except TimeoutError:
    names, values = [line.split() for line in open("/proc/net/snmp") if line.startswith("Udp:")]
    print(json.dumps({"came": came, "refused": int(dict(zip(names, values))["InCsumErrors"])}))
"""


def received(live: Live, element: str) -> tuple[list[bytes], int]:
    """Return the datagrams that came through `element`, and how many had a wrong checksum."""
    (live.folder / "network.yaml").write_text(NETWORK.replace("ELEMENT", element))
    (live.folder / "datagrams.py").write_text(PROGRAM)
    network = live.start("up", "network.yaml", stdin=subprocess.PIPE)
    try:
        assert network.stdout is not None
        assert "ready\n" in iter(network.stdout.readline, "")
        receiver = live.start("exec", "b", "--", "python3", "datagrams.py", "receive")
        assert receiver.stdout is not None
        assert receiver.stdout.readline() == "listening\n"
        status, said = live.run("exec", "a", "--", "python3", "datagrams.py", "send")
        assert status == 0, said
        told: dict[str, Any] = json.loads(receiver.communicate(timeout=20)[0])
    finally:
        network.communicate(timeout=20)
    return [bytes.fromhex(each) for each in told["came"]], told["refused"]


def test_a_flipped_bit_is_found_by_the_checksum_or_delivered_without_one(live: Live) -> None:
    came, refused = received(live, "{corrupt: {share: 100%, on: [h0]}}")
    # All that have a checksum are refused. Of those without, the bit lies in the UDP header of 1 in 26; then
    # ports, length or the missing checksum are wrong.
    assert refused >= DATAGRAMS // 2
    assert 0 < len(came) <= DATAGRAMS // 2
    flips = [sum((a ^ b).bit_count() for a, b in zip(each, PAYLOAD, strict=True)) for each in came]
    assert set(flips) == {1}


def test_a_duplicate_arrives_unharmed(live: Live) -> None:
    came, refused = received(live, "{duplicate: {share: 100%, on: [h0]}}")
    assert (came, refused) == ([PAYLOAD] * 2 * DATAGRAMS, 0)
