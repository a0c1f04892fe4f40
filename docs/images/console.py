"""Take the pictures of the console in this folder: `python docs/images/console.py`.

Crosswind and Chromium have to be installed.

console.png: a network that is up, with a bulk transfer and two steady flows, and three sliders dragged.
console-phone.png: the same on a phone, dark.
console-drag-before.png, console-drag-after.png: the delay of links, right before it is dragged with the mouse
and one second later; what a ping measured is printed.
console-run.png: a run in its last block, with what its application does.
console-replay.png: a trial of it again, dark, with an outage, a partition and a bucket that runs empty.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import crosswind
from crosswind.console import Console

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests" / "live"))

from chromium import Chromium  # noqa: E402
from consoles import ECHO  # noqa: E402

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
  - burst:
      summary: a token bucket of 90 Mbit, an outage, a partition of 600 ms, and 2 % loss at the end
      host.egress:
        - credit: {budget: 90Mbit, high: 40Mbit/s, low: 8Mbit/s, refill: 8Mbit/s, buffer: 64KiB, on: [server]}
      link: [{capacity: {steps: {0s: 50Mbit/s, 1200ms: 0bit/s, 1600ms: 50Mbit/s}, on: [spine->leaf1]}}]
      at:
        2500ms: {isolate: server}
        3100ms: {heal: all}
        5s: {host.ingress: [{lose: {bernoulli: 2%, on: [client]}}]}
application: {rpc: {duration: 6s, warm_up: 500ms, connections: 8, response: 16kB}}
trials: {repeat: 7, rest: 0s, seed: 7, limits: {void: accept}}
"""
STARTED = (sys.executable, "-c", "from crosswind.cli import main; main()")
WIDTH = 1280
PHONE = (390, 1500)
DRAG_HEIGHT = 560
MOVE = """(() => {{ const found = document.getElementById('{}'); found.value = {};
  found.dispatchEvent(new Event('input')); }})()"""

# Only the chart of the round trip, so that slider and chart are in one picture.
DRAG_PAGE = """document.querySelectorAll('#charts figure').forEach((figure, number, all) => {
  figure.hidden = number < all.length - 1;
})"""


def main() -> None:
    """Take the pictures."""
    with tempfile.TemporaryDirectory() as folder, Chromium(Path(folder) / "profile") as page:
        take_up(page)
        take_drag(page)
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
            page.slide(slider, position)
            time.sleep(11)
        page.picture(FOLDER / "console.png")
        page.open(console.url, width=PHONE[0], height=PHONE[1], dark=True)
        page.await_true("document.getElementById('state').textContent === 'live'")
        time.sleep(2)
        page.picture(FOLDER / "console-phone.png")


def take_drag(page: Chromium) -> None:
    """Take the delay of a link before and after it is dragged, beside a ping."""
    star = {
        "hosts": 2,
        "uplink": {"rate": "100Mbit/s", "delay": "1ms", "buffer": "64KiB"},
        "nodes": {"a": "h0", "b": "h1"},
    }
    with crosswind.Fabric(star) as net, Console(net) as console:
        net.popen("b", [sys.executable, "-c", ECHO, "answer"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        asks = net.popen("a", [sys.executable, "-c", ECHO, "ask"], stdout=subprocess.PIPE)
        pings: list[str] = []
        threading.Thread(target=lambda: pings.extend(asks.stdout or ()), daemon=True).start()
        time.sleep(20)
        page.open(console.url, width=WIDTH, height=DRAG_HEIGHT)
        page.await_true("document.getElementById('state').textContent === 'live'")
        page.slide("delay_us", 95)
        time.sleep(8)
        page.value(DRAG_PAGE)
        page.picture(FOLDER / "console-drag-before.png")
        at_ns = page.slide("delay_us", 125)
        time.sleep(1)
        page.picture(FOLDER / "console-drag-after.png")
        time.sleep(0.5)
        trips = [(int(sent), int(trip) / 1e6) for sent, trip in map(str.split, pings)]
        # On its way the slider has other delays already.
        before_ms = [trip for sent, trip in trips if sent < at_ns - 1e9][-1]
        felt_ns = next(sent for sent, trip in trips if sent >= at_ns and trip > 1.5 * before_ms)
        after_ms = trips[-1][1]
        felt_ms = (felt_ns - at_ns) / 1e6
        print(f"ping: {before_ms:.1f} ms before, {after_ms:.1f} ms after; felt {felt_ms:.0f} ms later")


def take_run_and_replay(page: Chromium, folder: Path) -> None:
    """Take the picture of a run in its last block, and that of a trial of it again."""
    (folder / "shop.yaml").write_text(EXPERIMENT)
    with served("run", "--console", "shop.yaml", folder=folder) as url:
        page.open(url, width=WIDTH, height=1150)
        page.await_true("document.querySelectorAll('#ended li').length >= 18", timeout_s=600)
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
        page.open(url, width=WIDTH, height=1150, dark=True)
        page.await_true("document.querySelectorAll('#charts canvas').length >= 8")
        page.value("[...document.querySelectorAll('#trials button')].findLast((it) => "
                   "it.firstChild.textContent === 'burst').click()")  # fmt: skip
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
