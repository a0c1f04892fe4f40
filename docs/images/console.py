"""Take console.png of this folder: `python docs/images/console.py`, with Crosswind and Chromium installed.

It brings a network up, sends a bulk transfer and two steady flows over it, moves three sliders, and takes a
picture of the page.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from pathlib import Path

import crosswind
from crosswind.console import Console

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests" / "live"))

from chromium import Chromium  # noqa: E402

TOPOLOGY = {
    "switches": ["leaf0", "leaf1", "spine"],
    "hosts": {"h0": "leaf0", "h1": "leaf0", "h2": "leaf1", "h3": "leaf1"},
    "links": [
        {"ends": ["leaf0", "spine"], "rate": "50Mbit/s", "delay": "2ms", "buffer": "256KiB"},
        {"ends": ["leaf1", "spine"], "rate": "50Mbit/s", "delay": "2ms", "buffer": "256KiB"},
    ],
    "uplink": {"rate": "100Mbit/s", "delay": "50us", "buffer": "256KiB"},
    "nodes": {"web": "h0", "shop": "h1", "user": "h2", "backup": "h3"},
}
PORT = 5000
TAKE = """
import socket, threading
listener = socket.create_server(("", 5000))
def take(connection):
    while connection.recv(1 << 16):
        pass
while True:
    threading.Thread(target=take, args=(listener.accept()[0],)).start()
"""
SEND = """
import socket, sys, time
connection, piece = socket.create_connection((sys.argv[1], 5000)), bytes(16384)
began, sent = time.monotonic(), 0
while True:
    connection.sendall(piece)
    sent += len(piece)
    time.sleep(max(0, began + sent * 8 / float(sys.argv[2]) - time.monotonic()))
"""
MOVES = (("delay_us", 75), ("rate_bps", 110), ("loss_ppm", 60))


def main() -> None:
    """Take the picture."""
    with crosswind.Fabric(TOPOLOGY) as net, Console(net) as console, tempfile.TemporaryDirectory() as profile:
        for node in ("web", "shop"):
            net.popen(node, [sys.executable, "-c", TAKE], stderr=subprocess.DEVNULL)
            net.await_port(node, PORT, timeout=30)
        for node, to, bps in (("user", "web", 12e6), ("backup", "shop", 1e9), ("backup", "web", 3e6)):
            net.popen(node, [sys.executable, "-c", SEND, to, str(bps)], stderr=subprocess.DEVNULL)
        time.sleep(20)
        with Chromium(Path(profile)) as page:
            page.open(console.url, width=1280, height=1150)
            page.await_true("document.getElementById('state').textContent === 'live'")
            for slider, position in MOVES:
                page.value(
                    f"(() => {{ const found = document.getElementById('{slider}'); found.value = {position};"
                    " found.dispatchEvent(new Event('input')); })()"
                )
                time.sleep(11)
            page.picture(FOLDER / "console.png")


if __name__ == "__main__":
    main()
