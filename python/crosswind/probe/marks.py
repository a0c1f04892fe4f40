"""The DSCP of packets at a receiver: a few datagrams through a fabric that is up, read with their headers.

Run as a module in the receiver's node it prints how many datagrams came with which DSCP, as JSON.
"""

from __future__ import annotations

import json
import socket
import subprocess
import sys
from collections import Counter

from crosswind.testbed import Node, TestbedError
from crosswind.testbed.enter import words_to_enter

DATAGRAMS = 20
PORT = 5004
WAIT_S = 2.0


def dscps_between(sender: Node, receiver: Node) -> dict[int, int]:
    """Send datagrams without a mark from node to node; return how many arrived with which DSCP.

    Raises: TestbedError: the receiver could not run.
    """
    here = (sys.executable, "-m", __name__)
    listening = subprocess.Popen(
        [*words_to_enter(receiver.pid), *here, "receive", receiver.address],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert listening.stdout is not None
    listening.stdout.readline()
    subprocess.run([*words_to_enter(sender.pid), *here, "send", receiver.address], check=False)
    answer, _ = listening.communicate("sent\n", timeout=30)
    if listening.returncode:
        raise TestbedError(f"probe of marks on {receiver.name}: exit status {listening.returncode}")
    return {int(dscp): packets for dscp, packets in json.loads(answer).items()}


def _receive(address: str) -> None:
    found: Counter[int] = Counter()
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        end.setsockopt(socket.IPPROTO_IP, socket.IP_RECVTOS, 1)
        end.bind((address, PORT))
        print("listening", flush=True)
        # On a busy machine the sender takes seconds to start. The socket holds what comes meanwhile.
        sys.stdin.readline()
        end.settimeout(WAIT_S)
        try:
            while found.total() < DATAGRAMS:
                _, headers, _, _ = end.recvmsg(64, 64)
                found.update(header[2][0] >> 2 for header in headers)
        except TimeoutError:
            pass
    print(json.dumps(found))


def _send(address: str) -> None:
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
        for _ in range(DATAGRAMS):
            end.sendto(b"mark", (address, PORT))


if __name__ == "__main__":
    {"receive": _receive, "send": _send}[sys.argv[1]](sys.argv[2])
