"""One TCP stream: `transfer.py receive ADDRESS FILE` and `transfer.py send ADDRESS SECONDS`."""

import socket
import sys
import time
from pathlib import Path

PORT = 5001
WRITE_BYTES = 256 * 1024


def receive(address: str, out: Path) -> None:
    """Accept one connection, read it to its end and write the goodput in bit/s to `out`."""
    with socket.create_server((address, PORT)) as listener:
        connection, _ = listener.accept()
        buffer = bytearray(1 << 20)
        total, started = 0, time.monotonic()
        while count := connection.recv_into(buffer):
            total += count
        out.write_text(str(total * 8 / (time.monotonic() - started)))


def send(address: str, seconds: float) -> None:
    """Connect, waiting for the receiver, and write for so many seconds."""
    deadline = time.monotonic() + 10
    while True:
        try:
            connection = socket.create_connection((address, PORT), timeout=5)
            break
        except OSError:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.02)
    payload = bytes(WRITE_BYTES)
    until = time.monotonic() + seconds
    while time.monotonic() < until:
        connection.sendall(payload)
    connection.close()


if __name__ == "__main__":
    if sys.argv[1] == "receive":
        receive(sys.argv[2], Path(sys.argv[3]))
    else:
        send(sys.argv[2], float(sys.argv[3]))
