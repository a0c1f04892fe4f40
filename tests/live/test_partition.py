"""A partition as ping, iperf3 and tcpdump see it: nothing crosses one way, and everything the other way."""

from __future__ import annotations

import re
import signal
import sys
import time
from collections.abc import Sequence
from typing import TYPE_CHECKING

import pytest
from networks import CUT_CLIENT, ECHO_SERVER, TWO_NODES

import crosswind
from bench.partition import Partition, impossible, partition
from crosswind.errors import CrosswindError
from crosswind.spec import FabricCondition
from crosswind.spec.resolved import Answer, ResolvedCut, ResolvedStep

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.usefixtures("live")  # Skips where no agent can work.

REPETITIONS = 10
PAIR = {"hosts": 2, "uplink": {"rate": "1Gbit/s", "delay": "0us"}, "nodes": {"a": "h0", "b": "h1"}}


def undisturbed() -> Partition:
    """Return a partition in which the machine did not lose packets before the network saw them."""
    for _ in range(5):
        measured = partition()
        if not measured.disturbed:
            return measured
    pytest.skip(f"the machine is too busy: {measured.disturbed}")


def is_clean(measured: Partition) -> bool:
    """Return whether no packet crossed in the direction of the cut, and each one in the other."""
    cut, other = measured.cut, measured.other
    # Of 3000 packets a second for 1 s; 10 ms of these were under way. A busy machine sends fewer.
    assert min(cut.sent, other.sent) > 500
    assert cut.under_way > 0
    assert measured.dropped >= cut.sent
    return cut.arrived == 0 and other.arrived == other.sent


@pytest.mark.parametrize(
    "repetitions", [1, pytest.param(REPETITIONS, marks=pytest.mark.long)], ids=["once", "often"]
)
def test_no_packet_crosses_in_the_direction_of_a_cut_and_all_in_the_other(repetitions: int) -> None:
    if reason := impossible():
        pytest.skip(reason)
    assert all(is_clean(undisturbed()) for _ in range(repetitions))


def condition(cuts: Sequence[ResolvedCut]) -> FabricCondition:
    return FabricCondition(name="cut", timeline=[ResolvedStep(at_ns=1, places={}, cuts=list(cuts))])


def cut(source: str, target: str, answer: Answer = "silence") -> ResolvedCut:
    return ResolvedCut(sources=[source], targets=[target], answer=answer)


ECHO = """
import socket
connection = socket.create_connection(("b", 7000), 1)
connection.sendall(b"x")
print(connection.recv(1))
"""


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ("reset", ["ConnectionResetError", "ConnectionRefusedError"]),
        ("silence", ["TimeoutError", "TimeoutError"]),
    ],
)
def test_a_cut_that_answers_resets_connections_at_once_and_a_silent_one_does_not(
    answer: Answer, expected: list[str]
) -> None:
    with crosswind.Fabric(PAIR) as net:
        server = net.popen("b", [sys.executable, "-c", ECHO_SERVER])
        net.await_port("b", 7000)
        client = net.popen("a", [sys.executable, "-c", CUT_CLIENT, "b"], stdin=-1, stdout=-1)
        assert client.stdin is not None
        assert client.stdout is not None
        assert client.stdout.readline() == "connected\n"
        net.apply(condition([cut("a", "b", answer)]))
        print(file=client.stdin, flush=True)
        lines = [client.stdout.readline().split() for _ in expected]
        assert server.poll() is None
    assert [what for what, _ in lines] == expected
    if answer == "reset":
        # A second of silence is what the sockets would have waited for.
        assert max(float(took) for _, took in lines) < 0.5


def reaches(net: crosswind.Fabric, source: str, target: str) -> bool:
    done = net.exec(source, ["ping", "-c", "3", "-i", "0.1", "-W", "1", net.address(target)])
    return done.returncode == 0


def test_cuts_add_up_until_they_heal() -> None:
    with crosswind.Fabric(PAIR | {"hosts": 3, "nodes": {"a": "h0", "b": "h1", "c": "h2"}}) as net:
        with pytest.raises(CrosswindError, match="heal: no cut by hand is active"):
            net.heal()
        assert net.partition("a b | c") > 0
        assert (reaches(net, "a", "b"), reaches(net, "a", "c")) == (True, False)
        net.cut("b -> a")
        net.set("none")
        assert (reaches(net, "a", "b"), reaches(net, "c", "b")) == (False, False)
        net.heal()
        net.isolate("c", answer="reset")
        assert (reaches(net, "a", "b"), reaches(net, "c", "b")) == (True, False)
        with pytest.raises(CrosswindError, match='isolate names "nobody"'):
            net.isolate("nobody")


def test_the_command_line_cuts_a_network_that_is_up(live: Live) -> None:
    with live.up(TWO_NODES):
        status, said = live.run("fault", "cut", "a -> b")
        assert status == 0
        assert re.fullmatch(r"cut a -> b effective_ns \d+\n", said)
        assert live.run("exec", "b", "--", "ping", "-c", "2", "-W", "1", "a")[0] == 1
        assert live.run("fault", "heal")[0] == 0
        assert live.run("exec", "b", "--", "ping", "-c", "2", "-W", "1", "a")[0] == 0
        status, said = live.run("fault", "heal")
        assert (status, said.startswith("error: heal: no cut by hand is active")) == (2, True)


def test_cuts_by_hand_stay_when_conditions_change_and_are_among_the_changes() -> None:
    """Also what the agent says of cuts that it cannot make."""
    from crosswind.testbed import Agent, RunningFabric, TestbedError, WorkFolder
    from crosswind.testbed.plain import plain_fabric

    spec = plain_fabric().with_changes(faults=True)
    a, b = (node.name for node in spec.nodes)
    with WorkFolder() as work, Agent() as agent, RunningFabric(agent, spec, work.path) as fabric:
        before_ns = time.monotonic_ns()
        effective_ns = fabric.cut([cut(a, b)])
        assert effective_ns >= before_ns
        fabric.set(FabricCondition(name="other"))
        fabric.measure()
        fabric.cut([])
        changes = [(change.by, change.cuts) for change in fabric.read().changes]
        assert changes == [("cut", [cut(a, b)]), ("set", None), ("cut", [])]
        for cuts, words in (
            ([cut(a, "nobody")], "there is no node nobody"),
            ([ResolvedCut(sources=[a, a], targets=[b])], f"{a} is there twice"),
            ([ResolvedCut(sources=[], targets=[b])], "names no node"),
        ):
            with pytest.raises(TestbedError, match=words):
                fabric.cut(cuts)
    without = plain_fabric()
    with (
        WorkFolder() as work,
        Agent() as agent,
        RunningFabric(agent, without, work.path) as fabric,
        pytest.raises(TestbedError, match="faults: true"),
    ):
        fabric.cut([cut(a, b)])


def test_a_paused_node_stands_still_and_a_killed_one_has_no_process_left() -> None:
    with crosswind.Fabric(PAIR) as net:
        server = net.popen("b", [sys.executable, "-c", ECHO_SERVER])
        net.await_port("b", 7000)
        echo = [sys.executable, "-c", ECHO]
        assert net.exec("a", echo).stdout == "b'x'\n"
        net.pause("b")
        assert "timed out" in net.exec("a", echo).stderr
        with pytest.raises(CrosswindError, match='resume names "a", which is not paused'):
            net.resume("a")
        net.resume("b")
        assert net.exec("a", echo).stdout == "b'x'\n"
        net.kill("b")
        assert server.wait(5) == 128 + signal.SIGKILL
