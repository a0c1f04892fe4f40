"""What the console costs: the emulator, the network that it shows, and packets while requests are refused."""

from __future__ import annotations

import contextlib
import statistics
import subprocess
import sys
import threading
import time
from typing import TYPE_CHECKING
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from chromium import Chromium, needs_chromium
from consoles import BULK, CHOOSE_FAR, ECHO, NETWORK, opened_console, pings, read_pings, url_of

import crosswind
from crosswind.console import Console
from crosswind.stats import Interval, PerTrial, quantile_interval

if TYPE_CHECKING:
    from conftest import Live

# No token, a foreign origin, a name that leads here (DNS rebinding), no token again.
REFUSED = """
import socket, sys
host, _, port = sys.argv[1].partition(":")
for number in range(10_000):
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
BLOCKS = 6
# Of pings and of a bulk transfer in each network.
EACH_S = 3


@needs_chromium
def test_what_the_page_needs_costs_the_packet_thread_at_most_a_hundredth_of_a_core(live: Live) -> None:
    with opened_console(live) as (_, page), pings(live):
        page.value(CHOOSE_FAR)
        page.await_true("document.querySelectorAll('#picture .in-use').length > 0")
        time.sleep(5)
        spent = page.value("document.getElementById('spent').textContent")
    assert spent.endswith(" of a core")
    share = float(spent.removeprefix("less than ").split()[0]) / 100
    assert share <= 0.01, spent


def watch(how: str, url: str, page: Chromium) -> None:
    """Watch a network until it ends: with a page, or with a client that reads the same and draws nothing."""
    if how == "page":
        page.open(url)
        page.await_true("document.getElementById('state').textContent === 'live'")
        return
    address, _, token = url.partition("#")
    request = Request(f"{address}api/stream", headers={"Authorization": f"Bearer {token}"})

    def read() -> None:
        with contextlib.suppress(OSError), urlopen(request) as stream:
            stream.read()

    threading.Thread(target=read, daemon=True).start()


def measured(live: Live, how: str, page: Chromium) -> dict[str, float]:
    """Bring the network up; return the throughput of a bulk transfer, and how long pings took."""
    for name, script in (("echo.py", ECHO), ("bulk.py", BULK)):
        (live.folder / name).write_text(script)
    with live.up(NETWORK, *([] if how == "closed" else ["--console"])) as (_, said):
        if how != "closed":
            watch(how, url_of(said), page)
        with pings(live) as file:
            time.sleep(EACH_S)
        trips_ns = [trip_ns for _, trip_ns in read_pings(file)]
        # Without the delay, so that the link alone decides how fast the transfer is.
        assert live.run("set", "none")[0] == 0
        takes = live.start("exec", "b", "--", sys.executable, "bulk.py", "take")
        assert takes.stdout is not None
        assert takes.stdout.readline() == "takes\n"
        status, said_of_sender = live.run("exec", "a", "--", sys.executable, "bulk.py", "send", str(EACH_S))
        assert status == 0, said_of_sender
        bps = float(takes.stdout.readline())
        takes.communicate(timeout=20)
    return {"bps": bps, "p50": statistics.median(trips_ns), "p99": statistics.quantiles(trips_ns, n=100)[-1]}


@needs_chromium
@pytest.mark.long
def test_an_open_console_does_not_change_what_it_shows_and_a_browser_takes_little(live: Live) -> None:
    found: dict[str, list[dict[str, float]]] = {"closed": [], "client": [], "page": []}
    with Chromium(live.folder / "profile") as page:
        for block in range(BLOCKS):
            # Each comes first as often as the others. A page whose network has ended draws nothing.
            ways = [*found]
            for how in ways[block % 3 :] + ways[: block % 3]:
                found[how].append(measured(live, how, page))
    for figure in ("bps", "p50", "p99"):
        intervals = {
            how: quantile_interval(PerTrial.of({f"{n}": each[figure] for n, each in enumerate(all_of)}), 0.5)
            for how, all_of in found.items()
        }
        print(figure, intervals)
        closed = intervals["closed"]
        assert isinstance(closed, Interval)
        client, page_open = intervals["client"], intervals["page"]
        assert isinstance(client, Interval)
        assert isinstance(page_open, Interval)
        assert max(closed.low, client.low) <= min(closed.high, client.high), figure
        # A browser on the same two cores takes time from sender and receiver.
        apart = max(closed.low, page_open.low) / min(closed.high, page_open.high)
        assert apart < 1.05, figure


@pytest.mark.long
def test_ten_thousand_refused_requests_make_no_packet_later() -> None:
    topology = {
        "hosts": 2, "uplink": {"rate": "100Mbit/s", "delay": "1ms", "buffer": "64KiB"},
        "nodes": {"a": "h0", "b": "h1"},
    }  # fmt: skip
    late_us: dict[str, list[float]] = {"none": [], "refused": []}
    with crosswind.Fabric(topology) as net, Console(net) as console:
        address = urlsplit(console.url).netloc
        net.popen("b", [sys.executable, "-c", ECHO, "answer"], stdout=subprocess.DEVNULL)
        time.sleep(1)
        net.popen("a", [sys.executable, "-c", ECHO, "ask"], stdout=subprocess.DEVNULL)
        took_s = 5.0
        for block in range(BLOCKS):
            for way in [*late_us][:: 1 if block % 2 else -1]:
                net.measure()
                began_s = time.monotonic()
                if way == "refused":
                    subprocess.run([sys.executable, "-c", REFUSED, address], check=True)
                    took_s = time.monotonic() - began_s
                else:
                    time.sleep(took_s)
                found_ns = net.read().error_ns["p99"]
                assert found_ns is not None
                late_us[way].append(found_ns / 1000)
    values = {
        way: PerTrial.of({f"{n}": each for n, each in enumerate(all_of)}) for way, all_of in late_us.items()
    }
    intervals = {way: quantile_interval(each, 0.5) for way, each in values.items()}
    print(f"{took_s:.1f} s for 10,000 requests; P99 of lateness, us: {late_us} {intervals}")
    none, refused = intervals["none"], intervals["refused"]
    assert isinstance(none, Interval)
    assert isinstance(refused, Interval)
    assert max(none.low, refused.low) <= min(none.high, refused.high)
