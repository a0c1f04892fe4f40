"""Take the pictures of the console in this folder: `python docs/images/console.py`.

Crosswind and Chromium have to be installed.

console.png: a network that is up, with a bulk transfer and two steady flows, and three sliders moved.
console-run.png: a run in its last block. console-replay.png: a trial of it again, with an outage.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
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
EXPERIMENT = """
name: shop
summary: A shop in one rack, its customers in another
topology:
  switches: [leaf0, leaf1, spine]
  hosts: {h0: leaf0, h1: leaf0, h2: leaf1, h3: leaf1}
  links:
    - {ends: [leaf0, spine], rate: 50Mbit/s, delay: 1ms, buffer: 64KiB}
    - {ends: [leaf1, spine], rate: 50Mbit/s, delay: 1ms, buffer: 64KiB}
  uplink: {rate: 100Mbit/s, delay: 50us, buffer: 256KiB}
  nodes: {server: h0, client: h2}
conditions:
  - none
  - far:
      summary: 5 ms on each link, and 20 ms for two seconds
      link: [{delay: {time: 5ms}}]
      at: {2s: {link: [{delay: {time: 20ms}}]}, 4s: {link: [{delay: {time: 5ms}}]}}
  - cut:
      summary: an outage of 400 ms, and 2 % loss at the end
      link: [{capacity: {steps: {0s: 50Mbit/s, 2s: 0bit/s, 2400ms: 50Mbit/s}, on: [spine->leaf1]}}]
      at: {4s: {host.ingress: [{lose: {bernoulli: 2%, on: [client]}}]}}
application: {rpc: {duration: 6s, warm_up: 500ms, connections: 8, response: 16kB}}
trials: {repeat: 9, rest: 0s, seed: 7, limits: {void: accept}}
"""
STARTED = (sys.executable, "-c", "from crosswind.cli import main; main()")
WIDTH = 1280
MOVE = """(() => {{ const found = document.getElementById('{}'); found.value = {};
  found.dispatchEvent(new Event('input')); }})()"""


def main() -> None:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder, Chromium(Path(folder) / "profile") as page:
        take_up(page)
        take_run_and_replay(page, Path(folder))


def take_up(page: Chromium) -> None:
    """Take the picture of a network that is up."""
    with crosswind.Fabric(TOPOLOGY) as net, Console(net) as console:
        for node in ("web", "shop"):
            net.popen(node, [sys.executable, "-c", TAKE], stderr=subprocess.DEVNULL)
            net.await_port(node, PORT, timeout=30)
        for node, to, bps in (("user", "web", 12e6), ("backup", "shop", 1e9), ("backup", "web", 3e6)):
            net.popen(node, [sys.executable, "-c", SEND, to, str(bps)], stderr=subprocess.DEVNULL)
        time.sleep(20)
        page.open(console.url, width=WIDTH, height=1150)
        page.await_true("document.getElementById('state').textContent === 'live'")
        for slider, position in MOVES:
            page.value(MOVE.format(slider, position))
            time.sleep(11)
        page.picture(FOLDER / "console.png")


def take_run_and_replay(page: Chromium, folder: Path) -> None:
    """Take the picture of a run in its last block, and that of a trial of it again."""
    (folder / "shop.yaml").write_text(EXPERIMENT)
    with served("run", "--console", "shop.yaml", folder=folder) as url:
        page.open(url, width=WIDTH, height=1150)
        page.await_true("document.querySelectorAll('#ended li').length >= 24", timeout_s=600)
        page.await_true("document.getElementById('doing').textContent === 'the load runs'", timeout_s=60)
        time.sleep(4)
        # Elsewhere the folder has another name.
        page.value(
            "(() => { const found = document.getElementById('folder');"
            " found.textContent = found.textContent.replace(/.*(?=results)/, ''); })()"
        )
        page.picture(FOLDER / "console-run.png")
        page.await_true("document.getElementById('now').textContent === 'The run has ended.'", timeout_s=300)
    with served("console", "results/shop", folder=folder) as url:
        page.open(url, width=WIDTH, height=1150)
        page.await_true("document.querySelectorAll('#charts canvas').length >= 8")
        page.value("[...document.querySelectorAll('#trials button')].findLast((it) => "
                   "it.firstChild.textContent === 'cut').click()")  # fmt: skip
        time.sleep(2)
        page.value(MOVE.format("time", 45))
        time.sleep(1)
        page.picture(FOLDER / "console-replay.png")


@contextmanager
def served(*arguments: str, folder: Path) -> Iterator[str]:
    """Start a verb, and give the address of its console; its input ends with the block."""
    process = subprocess.Popen(
        [*STARTED, *arguments],
        cwd=folder,
        text=True,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )
    assert process.stdout is not None
    yield next(line.split()[1] for line in process.stdout if line.startswith("console: "))
    process.communicate()


if __name__ == "__main__":
    main()
