"""The probe of marks counts datagrams of a sender that a busy machine starts late."""

import json
import socket
import subprocess
import sys
import time

from crosswind.probe.marks import DATAGRAMS, PORT, WAIT_S

ADDRESS = "127.0.5.4"


def test_a_sender_may_start_later_than_the_receiver_waits() -> None:
    receiver = subprocess.Popen(
        [sys.executable, "-m", "crosswind.probe.marks", "receive", ADDRESS],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
    )
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "listening\n"
    time.sleep(WAIT_S * 1.25)
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(DATAGRAMS):
            sender.sendto(b"mark", (ADDRESS, PORT))
    answer, _ = receiver.communicate("sent\n", timeout=30)
    assert json.loads(answer) == {"0": DATAGRAMS}
