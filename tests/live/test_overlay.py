"""`overlay: vxlan`: 50 bytes more in each packet on the wire, and an MTU of 1450 inside."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import duckdb
import pytest
from networks import CUT_CLIENT, ECHO_SERVER

from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.resolved import ResolvedCut
from crosswind.testbed import Agent, Node, RunningFabric, TestbedError
from crosswind.testbed.enter import words_to_enter

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {rate: 20Mbit/s, delay: 0us, buffer: 64KiB}
  nodes: {server: h0, client: h1}
OVERLAY
conditions: [none]
application: {rpc: {duration: 500ms, warm_up: 100ms}}
trials: {repeat: 2, rest: 0s, seed: 7, limits: {void: accept}}
"""
# As `ping -M do -s SIZE`: 28 bytes of headers before the payload, and no fragments.
SEND = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    end.setsockopt(socket.IPPROTO_IP, 10, 2)  # IP_MTU_DISCOVER, IP_PMTUDISC_DO
    end.sendto(b"x" * int(sys.argv[2]), (sys.argv[1], 5005))
"""
RECEIVE = """
import socket, sys
with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as end:
    end.bind((sys.argv[1], 5005)); end.settimeout(5); print("listening", flush=True)
    print(len(end.recv(2000)))
"""


def spec_of(overlay: str):
    resolved = resolve(parse_experiment(EXPERIMENT.replace("OVERLAY", overlay).encode(), "live.yaml"))
    return fabric_of(resolved, "none").with_changes(faults=True)


def within(node: Node, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run([*words_to_enter(node.pid), *words], capture_output=True, text=True, check=False)


def received(sender: Node, receiver: Node, payload: int) -> int:
    """Send one datagram without fragments; return its length at the receiver."""
    there = [*words_to_enter(receiver.pid), sys.executable, "-c", RECEIVE, receiver.address]
    with subprocess.Popen(there, stdout=subprocess.PIPE, text=True) as listening:
        assert listening.stdout is not None
        listening.stdout.readline()
        sent = within(sender, sys.executable, "-c", SEND, receiver.address, str(payload))
        if sent.returncode:
            listening.kill()
            assert "Message too long" in sent.stderr, sent.stderr
            return 0
        return int(listening.stdout.read())


@pytest.fixture
def overlaid(live: Live):
    with Agent() as agent:
        try:
            with RunningFabric(agent, spec_of("overlay: vxlan"), live.folder / "logs") as fabric:
                yield fabric
        except TestbedError as why:
            if "CONFIG_VXLAN" in str(why):
                pytest.skip(f"SKIPPED: {why}")
            raise


def bytes_of_one_datagram(fabric: RunningFabric, payload: int) -> int:
    """Return the IP bytes that one datagram from client to server has on the uplink."""
    fabric.measure()
    assert received(fabric.nodes["client"], fabric.nodes["server"], payload) == payload
    uplink = next(each for each in fabric.read().elements if each.element == "h1/uplink")
    assert uplink.real.departed_packets == 1
    return uplink.real.departed_bytes


def test_packets_are_fifty_bytes_longer_and_the_mtu_is_as_much_smaller(
    overlaid: RunningFabric, live: Live
) -> None:
    assert overlaid.nodes["client"].address.startswith("10.78.")
    assert "mtu 1450" in within(overlaid.nodes["client"], "ip", "link", "show", "vxlan0").stdout
    assert bytes_of_one_datagram(overlaid, 1000) == 1028 + 50
    # 1422 and 28 bytes of headers are the MTU inside.
    assert received(overlaid.nodes["client"], overlaid.nodes["server"], 1422) == 1422
    assert received(overlaid.nodes["client"], overlaid.nodes["server"], 1423) == 0


def test_a_cut_that_answers_resets_connections_through_the_overlay(overlaid: RunningFabric) -> None:
    server, client = overlaid.nodes["server"], overlaid.nodes["client"]
    pipe = subprocess.PIPE
    serves = [*words_to_enter(server.pid), sys.executable, "-c", ECHO_SERVER]
    connects = [*words_to_enter(client.pid), sys.executable, "-c", CUT_CLIENT, server.address]
    with (
        subprocess.Popen(serves, stdout=pipe, text=True) as serving,
        subprocess.Popen(connects, stdin=pipe, stdout=pipe, text=True) as connecting,
    ):
        try:
            assert serving.stdout is not None
            assert connecting.stdout is not None
            assert connecting.stdin is not None
            assert serving.stdout.readline() == "listening\n"
            assert connecting.stdout.readline() == "connected\n"
            overlaid.cut([ResolvedCut(sources=["client"], targets=["server"], answer="reset")])
            print(file=connecting.stdin, flush=True)
            lines = [connecting.stdout.readline().split() for _ in range(2)]
        finally:
            serving.kill()
            connecting.kill()
    assert [what for what, _ in lines] == ["ConnectionResetError", "ConnectionRefusedError"]
    # A second of silence is what the sockets would have waited for.
    assert max(float(took) for _, took in lines) < 0.5


def test_without_an_overlay_packets_are_as_sent(live: Live) -> None:
    with Agent() as agent, RunningFabric(agent, spec_of(""), live.folder / "logs") as fabric:
        assert bytes_of_one_datagram(fabric, 1000) == 1028


@pytest.mark.parametrize("backend", ["crosswind", "ovs", pytest.param("tc", marks=pytest.mark.long)])
def test_an_experiment_runs_in_an_overlay_on_any_backend(live: Live, backend: str) -> None:
    (live.folder / "live.yaml").write_text(
        EXPERIMENT.replace("OVERLAY", f"overlay: vxlan\nbackend: {backend}")
    )
    status, said = live.run("run", "live.yaml")
    if status == 3:
        pytest.skip(f"SKIPPED: {said.splitlines()[-1]}")
    live.check_measured(status, said)
    trials, metrics = (f"'{live.run_folder / name}.parquet'" for name in ("trials", "metrics"))
    assert duckdb.sql(f"SELECT DISTINCT status FROM {trials}").fetchall() == [("done",)]
    # Nobody reads what is inside the datagrams.
    assert duckdb.sql(f"SELECT count(*) FROM {metrics} WHERE metric = 'retransmissions'").fetchall() == [(0,)]
