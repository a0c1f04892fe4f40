"""What a console costs: figures with it open and closed, and lateness while it refuses requests.

The console, a browser and the network share the cores of this machine, so ways take turns in each round.
"""

from __future__ import annotations

import contextlib
import shutil
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import crosswind
from bench.figures import Figure, Skipped, figure, skipped
from crosswind.console import Console

# The browser and the programs of the live tests.
sys.path.append(str(Path(__file__).parents[1] / "tests" / "live"))
from chromium import Chromium
from consoles import BULK, ECHO

FAR = {"link": [{"delay": {"time": "5ms"}}]}
WAYS = ("closed", "client", "page")
_SEEN_BY = {"client": "a client that draws nothing", "page": "a browser"}
# Of pings, and of a bulk transfer.
EACH_S = 3
REQUESTS = 10_000
# No token, a foreign origin, a name that leads here (DNS rebinding), no token again.
REFUSED = """
import socket, sys
host, _, port = sys.argv[1].partition(":")
for number in range(int(sys.argv[2])):
    wrong = (
        f"GET /api/page HTTP/1.0\\r\\nHost: {sys.argv[1]}",
        f"GET /api/page HTTP/1.0\\r\\nHost: {sys.argv[1]}\\r\\nOrigin: http://elsewhere",
        f"GET / HTTP/1.0\\r\\nHost: elsewhere:{port}",
        f"POST /api/set HTTP/1.0\\r\\nHost: {sys.argv[1]}\\r\\nContent-Length: 0",
    )[number % 4]
    with socket.create_connection((host, int(port))) as client:
        client.sendall(wrong.encode() + b"\\r\\n\\r\\n")
        answer = client.recv(4096).split()[1]
        assert answer in (b"401", b"403"), answer
"""


def console(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield throughput and round trips with the console open, as ratios to those with it closed."""
    browser = shutil.which("chromium") is not None
    ways = WAYS if browser else WAYS[:2]
    found: dict[str, list[dict[str, float]]] = {way: [] for way in ways}
    with tempfile.TemporaryDirectory() as folder, contextlib.ExitStack() as stack:
        page = stack.enter_context(Chromium(Path(folder))) if browser else None
        for number in range(rounds):
            # Each comes first as often as the others.
            first = number % len(ways)
            for way in ways[first:] + ways[:first]:
                found[way].append(_measured(way, page))
    for way in ways[1:]:
        for name in ("throughput", "round trip p50", "round trip p99"):
            closed = [each[name] for each in found["closed"]]
            ratios = [each[name] / before for each, before in zip(found[way], closed, strict=True)]
            wanted = "at least 0.95" if name == "throughput" else None
            label = f"{name} with the console open to {_SEEN_BY[way]}"
            yield figure(
                label, "of that with it closed", ratios, wanted, closed=[round(each, 3) for each in closed]
            )
    if not browser:
        yield skipped(
            "throughput with the console open to a browser", "no chromium here: apt-get install chromium"
        )


def refused(rounds: int) -> Iterator[Figure]:
    """Yield the P99 of lateness of packets while 10,000 requests are refused, and without requests."""
    late_us: dict[str, list[float]] = {"none": [], "refused": []}
    took_s: list[float] = []
    with crosswind.Fabric(_topology("1ms")) as net, Console(net) as open_one:
        address = urlsplit(open_one.url).netloc
        net.popen("b", [sys.executable, "-c", ECHO, "answer"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        net.popen("a", [sys.executable, "-c", ECHO, "ask"], stdout=subprocess.DEVNULL)
        for number in range(rounds):
            for way in [*late_us][:: 1 if number % 2 else -1]:
                net.measure()
                began_s = time.monotonic()
                if way == "refused":
                    subprocess.run([sys.executable, "-c", REFUSED, address, str(REQUESTS)], check=True)
                    took_s.append(time.monotonic() - began_s)
                else:
                    time.sleep(took_s[-1] if took_s else 5)
                found_ns = net.read().error_ns["p99"]
                assert found_ns is not None
                late_us[way].append(found_ns / 1000)
    yield figure(f"{REQUESTS} requests that are refused", "s", took_s, None)
    for way, what in (("none", "without requests"), ("refused", f"while {REQUESTS} requests are refused")):
        yield figure(f"p99 of lateness {what}", "us", late_us[way], None)


def _measured(way: str, page: Chromium | None) -> dict[str, float]:
    """Bring a network up; return the throughput of a transfer in Mbit/s, and round trips of pings in ms."""
    with (
        crosswind.Fabric(_topology("0us"), conditions=["none", {"far": FAR}]) as net,
        contextlib.ExitStack() as stack,
    ):
        if way != "closed":
            _watch(stack.enter_context(Console(net)).url, page if way == "page" else None)
        net.set("far")
        net.popen("b", [sys.executable, "-c", ECHO, "answer"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        asks = net.popen("a", [sys.executable, "-c", ECHO, "ask"], stdout=subprocess.PIPE)
        time.sleep(EACH_S)
        asks.terminate()
        # The last line may be cut off.
        trips_ms = [int(line.split()[1]) / 1e6 for line in asks.communicate()[0].splitlines()[:-1]]
        # Without the delay, so that the link alone decides how fast the transfer is.
        net.set("none")
        takes = net.popen("b", [sys.executable, "-c", BULK, "take"], stdout=subprocess.PIPE)
        assert takes.stdout is not None
        takes.stdout.readline()
        net.exec("a", [sys.executable, "-c", BULK, "send", str(EACH_S)], check=True)
        mbps = float(takes.communicate(timeout=20)[0]) / 1e6
    return {
        "throughput": mbps,
        "round trip p50": statistics.median(trips_ms),
        "round trip p99": statistics.quantiles(trips_ms, n=100)[-1],
    }


def _watch(url: str, page: Chromium | None) -> None:
    """Watch a network until it ends: with a page, or with a client that reads the same and draws nothing."""
    if page is not None:
        page.open(url)
        page.await_true("document.getElementById('state').textContent === 'live'")
        return
    address, _, token = url.partition("#")
    request = Request(f"{address}api/stream", headers={"Authorization": f"Bearer {token}"})

    def read() -> None:
        with contextlib.suppress(OSError), urlopen(request) as stream:
            stream.read()

    threading.Thread(target=read, daemon=True).start()


def _topology(delay: str) -> dict[str, object]:
    uplink = {"rate": "100Mbit/s", "delay": delay, "buffer": "64KiB"}
    return {"hosts": 2, "uplink": uplink, "nodes": {"a": "h0", "b": "h1"}}
