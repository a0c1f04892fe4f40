"""Every application on two machines that ssh reaches, whose clocks differ by a thousand seconds."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
from machine_runs import Place, rig_of, rows

from crosswind.app import find
from crosswind.results import Measurement

ONE_WAY_MS = 5
# A round trip crosses the link between the zones and the links of two hosts, each way.
ROUND_TRIP_NS = 2 * (ONE_WAY_MS * 1_000_000 + 2 * 100_000)
RATE_BPS = 100e6
EXPERIMENT = """
name: live
topology:
  zones: {{delay: {{left: {{right: {delay}ms}}, right: {{left: {delay}ms}}}}}}
  uplink: {{rate: 100Mbit/s, delay: 100us, buffer: 256KiB}}
  nodes: {{{nodes}}}
  wait: sleep
conditions: [none]
application: {application}
trials: {{repeat: {repeat}, rest: 0s, seed: 7, limits: {{void: accept}}}}
"""
PAIR = "server: left, client: right"
WORKERS = "worker0: left, worker1: right"
# A server that is slow to listen, and a load that meets it only afterwards.
COMMAND = """
  command:
    roles:
      server:
        command: "sleep 0.3; exec /usr/bin/python3 -m http.server --bind 0.0.0.0 8080"
        ready: {port: 8080}
      client: {command: [/usr/bin/python3, -c, "import time, urllib.request as web; began = time.time();
        web.urlopen('http://{address:server}:8080').read(); print('took', time.time() - began, 's')"]}
    load: client
    metrics: {answer: {regex: 'took (?P<value>[0-9.]+) (?P<unit>s)', unit: s, better: lower}}
"""
COMPOSE = """
services:
  server: {command: [/usr/bin/python3, -m, http.server, --bind, 0.0.0.0, "8080"]}
  client:
    command: [/usr/bin/python3, -c, "import time, urllib.request as web; began = time.time();
      web.urlopen('http://server:8080').read(); print('took', time.time() - began, 's')"]
"""
COMPOSED = """
  compose:
    file: compose.yaml
    load: client
    metrics: {answer: {regex: 'took (?P<value>[0-9.]+) (?P<unit>s)', unit: s, better: lower}}
"""


class Machines(Place):
    """Two machines for experiments of one condition."""

    def measure(self, application: str, nodes: str = PAIR, repeat: int = 1) -> None:
        """Run an experiment to its good end; nothing of it is left on the machines."""
        text = EXPERIMENT.format(delay=ONE_WAY_MS, nodes=nodes, application=application, repeat=repeat)
        (self.folder / "live.yaml").write_text(text)
        status, said = self.run("run", "live.yaml", "--testbed", "testbed.yaml")
        assert status == 0, said
        assert not self.rows("SELECT reason FROM TRIALS WHERE status != 'done'")
        self.await_nothing_left()

    def rows(self, select: str) -> list[tuple[Any, ...]]:
        return rows(self.run_folder, select)

    def value(self, metric: str, statistic: str) -> float:
        """Return a figure of the trial, the least of several nodes or trials."""
        select = f"SELECT min(value) FROM METRICS WHERE metric = '{metric}' AND statistic = '{statistic}'"
        ((value,),) = self.rows(select)
        assert isinstance(value, float), f"there is no {metric} ({statistic})"
        return value

    def shortest_ns(self) -> int:
        """Return the shortest round trip: a busy machine makes the others longer."""
        ((shortest_ns,),) = self.rows(
            "SELECT min(finished_ns - started_ns) FROM SAMPLES WHERE measured AND ok"
        )
        assert isinstance(shortest_ns, int)
        return shortest_ns

    def check_instants(self) -> None:
        """Check that operations are on the clock of the first machine, as the measurement window is.

        A busy machine may take a second to open the window; the clocks are a thousand apart.
        """
        (file,) = (self.run_folder / "monitors").glob("*.json")
        window = Measurement.model_validate_json(file.read_bytes()).window
        ((first_ns, last_ns),) = self.rows(
            "SELECT min(started_ns), max(finished_ns) FROM SAMPLES WHERE measured"
        )
        assert isinstance(first_ns, int)
        assert isinstance(last_ns, int)
        assert abs(first_ns - window.started_ns) < 5_000_000_000
        assert last_ns - window.ended_ns < 5_000_000_000


@pytest.fixture(scope="module")
def place() -> Iterator[Machines]:
    with rig_of(2) as (rig, folder):
        (folder / "testbed.yaml").write_text("ssh: {hosts: [m0, m1]}\n")
        yield Machines(rig, folder)


def needs(name: str, variant: str | None = None) -> None:
    """Skip where this machine lacks what an application needs."""
    if lacking := find(name).missing(variant):
        pytest.skip("; ".join(f"{missing.what}; {missing.remedy}" for missing in lacking))


def check_goodput(bps: float) -> None:
    """Check that a transfer had most of the rate of a host's link, and no more."""
    assert 0.3 * RATE_BPS < bps < RATE_BPS


@pytest.mark.parametrize(
    ("server", "client"),
    [("nginx", "vegeta"), pytest.param("apache", "crosswind", marks=pytest.mark.long)],
)
def test_web(place: Machines, server: str, client: str) -> None:
    needs("web", f"{server}-{client}" if client == "vegeta" else server)
    parameters = f"server: {server}, client: {client}, duration: 1s, warm_up: 500ms"
    place.measure(f"{{web: {{{parameters}}}}}")
    assert place.shortest_ns() >= ROUND_TRIP_NS
    place.check_instants()


def test_a_command_whose_server_is_ready_when_it_listens(place: Machines) -> None:
    place.measure(COMMAND)
    # A handshake and an answer.
    assert place.value("answer", "value") >= 2 * ROUND_TRIP_NS / 1e9


@pytest.mark.long
def test_a_compose_service_that_is_a_program_of_the_machines(place: Machines) -> None:
    (place.folder / "compose.yaml").write_text(COMPOSE)
    place.measure(COMPOSED)
    assert place.value("answer", "value") >= 2 * ROUND_TRIP_NS / 1e9


@pytest.mark.long
def test_traffic_begins_and_ends_at_one_instant_of_all_machines(place: Machines) -> None:
    load = "pattern: many-to-many, message: 10kB, duration: 1s, warm_up: 500ms"
    place.measure(f"{{traffic: {{{load}}}}}", "a: left, b: right, c: right, d: left")
    # Two nodes of one zone have the links of their hosts between them.
    assert 4 * 100_000 <= place.shortest_ns() < ROUND_TRIP_NS
    ((operations,),) = place.rows("SELECT count(DISTINCT connection) FROM SAMPLES WHERE measured AND ok")
    assert operations == 12
    place.check_instants()


@pytest.mark.long
def test_traffic_of_streams_is_counted_over_one_window(place: Machines) -> None:
    place.measure("{traffic: {pattern: pairs, duration: 2s, warm_up: 1s}}", PAIR)
    check_goodput(place.value("goodput", "mean"))


@pytest.mark.long
def test_spark(place: Machines) -> None:
    needs("spark", "hdfs")
    options = "java_options: -XX:TieredStopAtLevel=1"
    nodes = "master: left, worker0: left, worker1: right, client: right"
    place.measure(f"{{spark: {{workload: wordcount, records: 20000, storage: hdfs, {options}}}}}", nodes)
    assert place.value("tasks.failed", "total") == 0
    assert list(place.run_folder.glob("logs/*/client/events.jsonl.gz"))
    (log,) = place.run_folder.glob("logs/*/master/namenode.err")
    assert "NameNode" in log.read_text()
    for worker in ("worker0", "worker1"):
        (log,) = place.run_folder.glob(f"logs/*/{worker}/executor-*.err")
        assert "Starting executor ID" in log.read_text()


@pytest.mark.long
def test_iperf3(place: Machines) -> None:
    needs("iperf3")
    place.measure("{iperf3: {duration: 2s, warm_up: 1s}}")
    check_goodput(place.value("goodput", "mean"))
    assert place.value("rtt", "min") >= ROUND_TRIP_NS


@pytest.mark.long
def test_sockperf(place: Machines) -> None:
    needs("sockperf")
    place.measure("{sockperf: {duration: 1s}}")
    assert place.shortest_ns() >= ROUND_TRIP_NS
    place.check_instants()


@pytest.mark.long
def test_dns(place: Machines) -> None:
    needs("dns")
    place.measure("{dns: {duration: 1s, names: 100}}")
    assert place.value("latency", "p50") >= ROUND_TRIP_NS
    assert place.value("lost", "share") < 0.1


@pytest.mark.long
def test_memcached(place: Machines) -> None:
    needs("memcached")
    place.measure("{memcached: {duration: 1s, keys: 1000, memory: 64MiB}}")
    assert place.shortest_ns() >= ROUND_TRIP_NS
    place.check_instants()


@pytest.mark.long
def test_training(place: Machines) -> None:
    needs("training")
    place.measure("{training: {width: 8, steps: 10, warm_up_steps: 2}}", WORKERS)
    # In each step, gradients cross the network and come back.
    assert place.value("latency", "p50") >= ROUND_TRIP_NS
    place.check_instants()


@pytest.mark.long
def test_prepared_data_travel_once_in_a_run(place: Machines) -> None:
    needs("ycsb", "postgresql")
    nodes = "db0: left, db1: right, client: right"
    load = "{ycsb: {workload: a, records: 500, duration: 500ms, warm_up: 200ms, clients: 2}}"
    machine = place.rig.machines[0]
    arrived = []
    for repeat in (1, 2):
        before = machine.received_bytes()
        place.measure(load, nodes, repeat)
        arrived.append(machine.received_bytes() - before)
    once, twice = arrived
    print(f"one trial: {once} bytes came to {machine.name}, two: {twice}")
    # A database without a record has 40 MB.
    assert once > 20_000_000
    assert twice - once < once / 5
