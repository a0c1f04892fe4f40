"""One TCP stream: `transfer.py receive ADDRESS FILE` and `transfer.py send ADDRESS SECONDS`."""

import socket
import sys
import time
from pathlib import Path

PORT = 5001
WRITE_BYTES = 256 * 1024
# Slow start is left out of the rate, as with iperf3's --omit.
OMITTED_S = 0.5


def receive(address: str, out: Path) -> None:
    """Accept one connection, read it to its end, and write the goodput in bit/s after its start."""
    with socket.create_server((address, PORT)) as listener:
        print(f"listening {address}:{PORT}", flush=True)
        connection, _ = listener.accept()
        buffer = bytearray(1 << 20)
        begun = time.monotonic()
        while time.monotonic() < begun + OMITTED_S and connection.recv_into(buffer):
            pass
        total, started = 0, time.monotonic()
        while count := connection.recv_into(buffer):
            total += count
        out.write_text(str(total * 8 / (time.monotonic() - started)))


def send(address: str, seconds: float) -> None:
    """Connect and write for this number of seconds."""
    connection = socket.create_connection((address, PORT), timeout=10)
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
