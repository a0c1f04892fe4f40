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
WAYS = ("closed", "client", "page", "drawing")
_SEEN_BY = {
    "client": "with the console open to a client that draws nothing",
    "page": "with the console open to a browser",
    "drawing": "with it closed, beside a browser that draws 16 lines of 300 points ten times a second",
}
# The control: what a browser costs that draws as often as the page, and has no console.
DRAWING = """data:text/html,<body><script>
const pens = [...Array(16)].map(() => document.body.appendChild(
  Object.assign(document.createElement('canvas'), {width: 560, height: 180})).getContext('2d'));
setInterval(() => pens.forEach((pen) => {
  pen.clearRect(0, 0, 560, 180);
  pen.beginPath();
  for (let x = 0; x < 300; x++) pen.lineTo(x * 2, Math.random() * 180);
  pen.stroke();
}), 100);
</script>"""
# Of pings, and of a bulk transfer.
EACH_S = 3
REQUESTS = 10_000
# The control of the flood: a server that answers 403 and does nothing else.
ELSEWHERE = """
import http.server
class Refuses(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_error(403)
    do_POST = do_GET
    def log_message(self, *said):
        pass
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Refuses)
print(server.server_port, flush=True)
server.serve_forever()
"""
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
    """Yield throughput and round trips with the console open, and beside a browser that only draws.

    They are ratios to those with the console closed and no such page.
    """
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
    if browser:
        for way in ("page", "drawing"):
            shares = [each["browser"] for each in found[way]]
            yield figure(f"CPU time of the browser {_SEEN_BY[way]}", "of a core", shares, None)
    for way in ways[1:]:
        for name in ("throughput", "round trip p50", "round trip p99"):
            closed = [each[name] for each in found["closed"]]
            ratios = [each[name] / before for each, before in zip(found[way], closed, strict=True)]
            wanted = "at least 0.95" if name == "throughput" else None
            label = f"{name} {_SEEN_BY[way]}"
            yield figure(
                label, "of that with it closed", ratios, wanted, closed=[round(each, 3) for each in closed]
            )
    if not browser:
        yield skipped(
            "throughput with the console open to a browser", "no chromium here: apt-get install chromium"
        )


def refused(rounds: int) -> Iterator[Figure]:
    """Yield the P99 of lateness while the console refuses 10,000 requests, and while another server does."""
    late_us: dict[str, list[float]] = {"none": [], "refused": [], "elsewhere": []}
    took_s: dict[str, list[float]] = {"refused": [], "elsewhere": []}
    with (
        subprocess.Popen([sys.executable, "-c", ELSEWHERE], stdout=subprocess.PIPE, text=True) as elsewhere,
        contextlib.ExitStack() as stack,
        crosswind.Fabric(_topology("1ms")) as net,
        Console(net) as open_one,
    ):
        stack.callback(elsewhere.terminate)
        assert elsewhere.stdout is not None
        addresses = {
            "refused": urlsplit(open_one.url).netloc,
            "elsewhere": f"127.0.0.1:{elsewhere.stdout.readline().strip()}",
        }
        net.popen("b", [sys.executable, "-c", ECHO, "answer"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        net.popen("a", [sys.executable, "-c", ECHO, "ask"], stdout=subprocess.DEVNULL)
        for number in range(rounds):
            first = number % len(late_us)
            for way in ([*late_us] * 2)[first : first + len(late_us)]:
                net.measure()
                began_s = time.monotonic()
                if way in addresses:
                    words = [sys.executable, "-c", REFUSED, addresses[way], str(REQUESTS)]
                    subprocess.run(words, check=True)
                    took_s[way].append(time.monotonic() - began_s)
                else:
                    time.sleep(5)
                found_ns = net.read().error_ns["p99"]
                assert found_ns is not None
                late_us[way].append(found_ns / 1000)
    yield figure(f"{REQUESTS} requests that are refused", "s", took_s["refused"], None)
    yield figure(f"{REQUESTS} requests that a server of http.server refuses", "s", took_s["elsewhere"], None)
    whats = {
        "none": "without requests",
        "refused": f"while {REQUESTS} requests are refused",
        "elsewhere": f"while a server of http.server refuses {REQUESTS} requests",
    }
    for way, what in whats.items():
        yield figure(f"p99 of lateness {what}", "us", late_us[way], None)


def _measured(way: str, page: Chromium | None) -> dict[str, float]:
    """Bring a network up; return the throughput of a transfer in Mbit/s, and round trips of pings in ms."""
    with (
        crosswind.Fabric(_topology("0us"), conditions=["none", {"far": FAR}]) as net,
        contextlib.ExitStack() as stack,
    ):
        if way == "drawing":
            assert page is not None
            page.open(DRAWING)
            stack.callback(page.open, "data:text/html,")
        elif way != "closed":
            _watch(stack.enter_context(Console(net)).url, page if way == "page" else None)
        began_s, before_s = time.monotonic(), page.cpu_s() if page is not None else {}
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
        taken_s = page.cpu_s() if page is not None else {}
        taken = sum(each_s - before_s.get(process, 0.0) for process, each_s in taken_s.items())
        share = taken / (time.monotonic() - began_s)
    return {
        "throughput": mbps,
        "browser": share,
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
