"""A real Prometheus scrapes a network that is up, and a run, and answers queries about them."""

from __future__ import annotations

import json
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlencode
from urllib.request import urlopen

import pytest
from networks import TWO_NODES
from readers import PROMETHEUS

from crosswind.testbed.errors import NotHere

if TYPE_CHECKING:
    from collections.abc import Callable

    from conftest import Live

NETWORK = f"""{TWO_NODES}condition:
  slow:
    switch.ingress: [{{police: {{rate: 1Mbit/s, burst: 10kB}}}}]
    switch.egress: [{{shape: {{rate: 1Mbit/s, burst: 3kB, buffer: 20kB}}}}]
"""
# 100 packets of 1028 bytes in 2 s, which the network carries, then 100 at once, which it does not.
SEND = """
import socket, time
ends = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for number in range(200):
    ends.sendto(bytes(1000), ("b", 9))
    time.sleep(0.02 if number < 100 else 0)
"""
DOCS = Path(__file__).parents[2] / "docs"
UPLINK = 'crosswind_element_departed_bytes_total{link="h0->switch",place="uplink"}'
POLICE = '{element="h0/switch.ingress/0:police",class="real"}'
DROPPED = f"crosswind_element_dropped_packets_total{POLICE}"
# 0 for a policer, which holds nothing back.
INSIDE = " - ".join(
    f"crosswind_element_{what}_bytes_total{POLICE}" for what in ("arrived", "departed", "dropped")
)


class Prometheus:
    """A Prometheus that runs."""

    def __init__(self, port: int) -> None:
        self._port = port

    def query(self, text: str) -> list[dict[str, Any]]:
        """Return what the HTTP API answers to a query, as a vector."""
        address = f"http://127.0.0.1:{self._port}/api/v1/query?{urlencode({'query': text})}"
        with urlopen(address, timeout=10) as answer:
            found = json.load(answer)
        assert found["status"] == "success", found
        result: list[dict[str, Any]] = found["data"]["result"]
        return result

    def await_value(self, text: str, good: Callable[[float], bool], within_s: float = 30) -> float:
        """Wait until the answer to a query is one value that is good; return it."""
        deadline, found = time.monotonic() + within_s, []
        while time.monotonic() < deadline:
            found = self.query(text)
            if len(found) == 1 and good(value := float(found[0]["value"][1])):
                return value
            time.sleep(0.2)
        raise AssertionError(f"{text}: {found}")


@contextmanager
def scraping(url: str, folder: Path) -> Iterator[Prometheus]:
    """Let a Prometheus scrape an address five times a second."""
    try:
        program = PROMETHEUS.program("prometheus").path
    except NotHere:
        pytest.skip("SKIPPED: there is no Prometheus; python tests/live/readers.py installs one")
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    target = url.removeprefix("http://").removesuffix("/metrics")
    (folder / "prometheus.yml").write_text(
        "global: {scrape_interval: 200ms}\n"
        f"scrape_configs: [{{job_name: crosswind, static_configs: [{{targets: ['{target}']}}]}}]\n"
    )
    process = subprocess.Popen(
        [
            program,
            f"--config.file={folder / 'prometheus.yml'}",
            f"--storage.tsdb.path={folder / 'tsdb'}",
            f"--web.listen-address=127.0.0.1:{port}",
        ],
        stdout=subprocess.DEVNULL,
        stderr=(folder / "prometheus.log").open("w"),
    )
    try:
        prometheus = Prometheus(port)
        deadline = time.monotonic() + 30
        while True:
            try:
                prometheus.query("up")
                break
            except OSError:
                assert time.monotonic() < deadline, (folder / "prometheus.log").read_text()
                time.sleep(0.1)
        yield prometheus
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(20)


def address_of(process: subprocess.Popen[str]) -> str:
    """Return the address of the metrics that a verb prints."""
    assert process.stdout is not None
    said = []
    for line in process.stdout:
        said.append(line)
        if line.startswith("metrics: "):
            return line.split()[1]
    raise AssertionError("".join(said))


def queries_of_the_dashboard() -> list[str]:
    """Return them as Grafana sends them, for all instances."""
    board = json.loads((DOCS / "grafana" / "crosswind.json").read_text())
    queries = [target["expr"] for panel in board["panels"] for target in panel.get("targets", [])]
    return [query.replace("$instance", ".*").replace("$__rate_interval", "10s") for query in queries]


def test_prometheus_answers_with_the_counters_and_gauges_of_a_network(live: Live) -> None:
    (live.folder / "network.yaml").write_text(NETWORK)
    process = live.start("up", "network.yaml", "--metrics", "0", stdin=subprocess.PIPE)
    try:
        url = address_of(process)
        assert process.stdout is not None
        assert "ready\n" in process.stdout
        with scraping(url, live.folder) as prometheus:
            prometheus.await_value("up", lambda value: value == 1)
            before = prometheus.await_value(UPLINK, lambda value: True)
            status, said = live.run("exec", "a", "--", sys.executable, "-c", SEND)
            assert status == 0, said
            # 200 packets of 1028 bytes, and a few of ARP and ICMP.
            after = prometheus.await_value(UPLINK, lambda value: value >= before + 200 * 1028)
            assert after < before + 300 * 1028
            dropped = prometheus.await_value(DROPPED, lambda value: value > 0)
            assert 0 < dropped <= 100
            prometheus.await_value(INSIDE, lambda value: value == 0)
            bytes_of_each = f"crosswind_element_dropped_bytes_total{POLICE} / {DROPPED}"
            prometheus.await_value(bytes_of_each, lambda value: value == 1028)
            # What the command line of an operator asks.
            rate = prometheus.await_value(f"sum(increase({UPLINK}[1m]))", lambda value: value > 0)
            assert rate > 100_000
            queued = 'crosswind_element_queued_bytes{place="switch.egress",link="switch->h1"}'
            assert prometheus.await_value(queued, lambda value: value == 0) == 0
            (condition,) = prometheus.query("crosswind_condition_info")
            assert (condition["metric"]["condition"], condition["metric"]["by"]) == ("slow", "up")
            assert live.run("set", "none")[0] == 0
            prometheus.await_value('crosswind_condition_info{condition="none"}', lambda value: value == 1)
            faults = {
                query.partition("(crosswind_")[2].partition("{")[0]: query
                for query in queries_of_the_dashboard()
            }
            assert live.run("fault", "cut", "a -> b")[0] == 0
            prometheus.await_value(faults["cut"], lambda value: value == 1)
            assert live.run("fault", "pause", "b")[0] == 0
            prometheus.await_value(faults["node_fault"], lambda value: value == 1)
            assert prometheus.query("crosswind_events_lost_total")[0]["value"][1] == "0"
    finally:
        process.communicate(timeout=20)


@pytest.mark.long
def test_prometheus_follows_a_run(live: Live, experiment: Callable[..., str]) -> None:
    process = live.start("run", experiment(3, "1s"), "--metrics", "0", stdin=subprocess.DEVNULL)
    try:
        with scraping(address_of(process), live.folder) as prometheus:
            assert prometheus.await_value("crosswind_run_trials", lambda value: value > 0) == 6
            prometheus.await_value("count(crosswind_trial_info)", lambda value: value == 1)
            prometheus.await_value("crosswind_departed_packets_total", lambda value: value > 100)
            slow = 'crosswind_trial_figure_value{condition="slow",figure="P99"}'
            # Four crossings of a wire of 6 ms.
            assert prometheus.await_value(slow, lambda value: value > 0) > 0.024
            prometheus.await_value("sum(crosswind_attempts_total)", lambda value: value >= 2)
            # A rate needs two scrapes of one trial.
            prometheus.await_value(
                "sum(rate(crosswind_departed_packets_total[10s]))", lambda value: value > 0
            )
            answers = {query: prometheus.query(query) for query in queries_of_the_dashboard()}
        # Nothing is dropped or cut, no node has a fault, no bucket has credit; two trials give no interval.
        assert {query.partition("{")[0] for query, answer in answers.items() if not answer} <= {
            "sum by (element, class) (rate(crosswind_element_dropped_packets_total",
            "crosswind_element_queued_bytes", "crosswind_credit_bits",
            "max by (from, to) (crosswind_cut", "max by (node, fault) (crosswind_node_fault",
            "sum by (node) (increase(crosswind_node_faults_total",
            "crosswind_figure_low", "crosswind_figure_high",
            # Of the moment between two trials.
            "max by (condition) (crosswind_condition_info", "crosswind_trial_info",
            "crosswind_run_left_seconds",
        }  # fmt: skip
    finally:
        said, _ = process.communicate(timeout=120)
    live.check_measured(process.returncode, said)
