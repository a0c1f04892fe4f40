"""Networks for programs and tests: `crosswind.Fabric`, the fixture of pytest, `crosswind.run`."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Live

# A round trip by TCP takes four wires; 20 ms are added in front of each.
WITH_THE_FIXTURE = """
import signal, subprocess, sys
import pytest
from crosswind import CrosswindError

TOPOLOGY = {
    "hosts": 2,
    "uplink": {"rate": "100Mbit/s", "delay": "0us", "buffer": "64KiB"},
    "nodes": {"server": "h0", "client": "h1"},
}
SLOW = {"link": [{"delay": {"time": "20ms"}}]}
CONNECT = '''
import socket, time
began = time.monotonic()
socket.create_connection(("server", 8000)).close()
print(time.monotonic() - began)
'''


def test_a_condition_is_felt(crosswind):
    net = crosswind(TOPOLOGY, conditions=["none", {"slow": SLOW}])
    server = net.popen(
        "server", [sys.executable, "-m", "http.server", "8000"],
        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
    )
    net.await_port("server", 8000, timeout=30)
    for condition in ("slow", SLOW):
        net.set(condition)
        taken_s = float(net.exec("client", [sys.executable, "-c", CONNECT], check=True).stdout)
        assert taken_s >= 0.08
        reading = net.read()
        assert reading.packets > 0
        assert reading.dropped_packets == 0
        assert sum(element.departed_packets for element in reading.elements) > 0
        assert reading.duration_s > 0.08
    assert server.poll() is None
    SERVERS.append(server)


SERVERS = []


def test_the_network_ended_with_its_test():
    (server,) = SERVERS
    assert server.returncode == 128 + signal.SIGTERM


def test_commands_are_as_those_of_subprocess(crosswind):
    net = crosswind(TOPOLOGY)
    assert net.exec("client", ["cat"], input="echo").stdout == "echo"
    assert net.exec("client", ["no-such-program"]).returncode == 127
    with pytest.raises(subprocess.CalledProcessError):
        net.exec("client", ["false"], check=True)
    with pytest.raises(subprocess.TimeoutExpired):
        net.exec("client", ["sleep", "60"], timeout=0.2)
    with pytest.raises(CrosswindError, match='did you mean "client"'):
        net.address("clint")
    net.popen("client", ["true"]).wait(30)
    with pytest.raises(CrosswindError, match="what was started there has ended"):
        net.await_port("client", 9)
"""
WITH_A_RUN = """
import crosswind

experiment = {
    "name": "from-python",
    "topology": {
        "hosts": 2,
        "uplink": {"rate": "100Mbit/s", "delay": "1ms", "buffer": "64KiB"},
        "nodes": {"server": "h0", "client": "h1"},
    },
    "conditions": ["none", {"slow": {"link": [{"delay": {"time": "5ms"}}]}}],
    "application": {"rpc": {"duration": "300ms", "warm_up": "100ms"}},
    "trials": {"repeat": 2, "rest": "0s", "limits": {"void": "accept"}},
}
run = crosswind.run(experiment, "results", once=True)
assert (run.folder / "report.html").is_file()
assert run.folder == crosswind.load("results/from-python").folder.resolve()
done = run.trials.filter("status = 'done'")
# A void attempt is repeated.
assert sorted(done.project("condition").distinct().fetchall()) == [("none",), ("slow",)], done.fetchall()
assert len(run.operations()) > 0
assert len(run.journal.filter("step = 'stored'")) == len(done)
failing = {
    "command": {
        "roles": {
            "server": {"command": "echo up; sleep 60", "ready": {"regex": "up"}},
            "client": {"command": "exit 7"},
        },
        "load": "client",
        "metrics": {"took": {"elapsed": True, "better": "lower"}},
    }
}
try:
    crosswind.run(experiment | {"application": failing}, "results", once=True, quiet=True)
except crosswind.RunNotWhole as error:
    assert "failed" in error.remarks[0]
    assert crosswind.load(error.folder).trials.filter("status = 'failed'").fetchall()
else:
    raise AssertionError("a run that was stopped is no whole one")
"""


def test_the_fixture_brings_networks_up_that_end_with_their_tests(live: Live) -> None:
    (live.folder / "test_mine.py").write_text(WITH_THE_FIXTURE)
    command = [sys.executable, "-m", "pytest", "-q", "-p", "crosswind.api.pytest_plugin", "test_mine.py"]
    env = live.env | {"PYTEST_DISABLE_PLUGIN_AUTOLOAD": "1"}
    done = subprocess.run(
        command, cwd=live.folder, env=env, capture_output=True, text=True, timeout=120, check=False
    )
    assert "3 passed" in done.stdout, done.stdout + done.stderr


def test_a_run_gives_its_results_or_says_what_it_lacks(live: Live) -> None:
    done = subprocess.run(
        [sys.executable, "-c", WITH_A_RUN],
        cwd=live.folder,
        env=live.env,
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert "slow" in done.stderr  # Progress is shown unless it is to be quiet.


WATCHED = """
import sys
import crosswind

TOPOLOGY = {
    "hosts": 2,
    "uplink": {"rate": "100Mbit/s", "delay": "0us", "buffer": "64KiB"},
    "nodes": {"server": "h0", "client": "h1"},
}
SEND = "import socket; socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b'x', ('server', 9))"

with crosswind.Fabric(TOPOLOGY) as net, net.watch() as steps, net.watch() as others:
    assert steps.take(10).changes[0].condition == "none"
    net.set({"link": [{"delay": {"time": "1ms"}}]}, "slow")
    net.exec("client", [sys.executable, "-c", SEND], check=True)
    seen, names = set(), []
    while not ("slow" in names and {"h1/uplink", "h0/downlink"} <= seen):
        step = steps.take(10)
        assert step is not None
        names += [change.condition for change in step.changes]
        seen |= {row.element for row in step.rows}
    assert others.take(10).changes[0].condition == "none"
assert steps.ended and others.ended
print("watched")
"""


def test_a_program_watches_a_network(live: Live) -> None:
    (live.folder / "watched.py").write_text(WATCHED)
    done = subprocess.run(
        [sys.executable, "watched.py"],
        cwd=live.folder, env=live.env, capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.stdout == "watched\n", done.stderr
