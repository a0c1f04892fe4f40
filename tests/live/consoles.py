"""A network that is up with a console, for live tests: its page, pings through it, and a bulk transfer."""

from __future__ import annotations

import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from chromium import Chromium

if TYPE_CHECKING:
    from conftest import Live

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 0us, buffer: 64KiB}
  wait: sleep
  nodes: {a: h0, b: h1}
condition:
  far: {link: [{delay: {time: 5ms}}]}
"""
# One end answers packets; the other prints when it sent each, and how long its round trip took, in ns.
ECHO = """
import socket, sys, threading, time
ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
if sys.argv[1] == "answer":
    ends.bind(("", 7))
    print("answers", flush=True)
    while True:
        ends.sendto(*ends.recvfrom(64))
def read():
    while True:
        sent_ns = int(ends.recv(64))
        print(sent_ns, time.monotonic_ns() - sent_ns, flush=True)
ends.connect(("b", 7))
threading.Thread(target=read, daemon=True).start()
while True:
    ends.send(str(time.monotonic_ns()).encode())
    time.sleep(0.005)
"""
# One end takes bytes and prints their rate; the other sends for some seconds.
BULK = """
import socket, sys, time
if sys.argv[1] == "take":
    listener = socket.create_server(("", 4000))
    print("takes", flush=True)
    connection, began, taken = listener.accept()[0], time.monotonic(), 0
    while piece := connection.recv(1 << 18):
        taken += len(piece)
    print(taken * 8 / (time.monotonic() - began), flush=True)
    sys.exit()
connection, until = socket.create_connection(("b", 4000)), time.monotonic() + float(sys.argv[2])
while time.monotonic() < until:
    connection.sendall(bytes(1 << 16))
"""
CHOOSE_FAR = """[...document.querySelectorAll('#conditions button')]
  .find((button) => button.textContent === 'far').click()"""


def url_of(said: list[str]) -> str:
    """Return the address of the console that a verb has printed."""
    (url,) = [line.split()[1] for line in said if line.startswith("console: ")]
    return url


@contextmanager
def console(live: Live) -> Iterator[str]:
    """Bring the network up, and give the address of its console."""
    (live.folder / "echo.py").write_text(ECHO)
    with live.up(NETWORK, "--console") as (_, said):
        yield url_of(said)


@contextmanager
def opened_console(live: Live) -> Iterator[tuple[str, Chromium]]:
    """Bring the network up, and open its page; give the address and the browser."""
    with console(live) as url, Chromium(live.folder / "profile") as page:
        page.open(url)
        page.await_true("document.getElementById('state').textContent === 'live'")
        page.await_true("document.getElementById('active').textContent === 'far'")
        yield url, page


@contextmanager
def pings(live: Live) -> Iterator[Path]:
    """Let a program on a ping one on b while the block runs; give the file of what it found."""
    answers = live.start("exec", "b", "--", sys.executable, "echo.py", "answer")
    assert answers.stdout is not None
    assert answers.stdout.readline() == "answers\n"
    path = live.folder / "pings"
    with path.open("w") as file:
        asks = subprocess.Popen(
            [*live.command, "exec", "a", "--", sys.executable, "echo.py", "ask"],
            cwd=live.folder, env=live.env, stdout=file,
        )  # fmt: skip
        try:
            while path.stat().st_size == 0:
                time.sleep(0.05)
            yield path
        finally:
            asks.terminate()
            asks.wait()
    answers.terminate()
    answers.communicate()


def read_pings(path: Path) -> list[tuple[int, int]]:
    """Return when each ping was sent, and how long its round trip took, in ns."""
    # The last line may be cut off.
    lines = path.read_text().splitlines()[:-1]
    return [(int(sent), int(trip)) for sent, trip in (line.split() for line in lines)]
