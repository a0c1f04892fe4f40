"""A fabric for one's own programs: up, exec, set, and its end."""

from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import time
from typing import TYPE_CHECKING

import pytest
from networks import TWO_NODES

if TYPE_CHECKING:
    from conftest import Live

SLOW = "slow: {link: [{delay: {time: 20ms}}]}\n"
# A round trip by TCP: connecting takes one.
CONNECT = """
import socket, sys, time
if sys.argv[1] == "listen":
    listener = socket.create_server(("0.0.0.0", 4000))
    print("listening", flush=True)
    while True:
        listener.accept()[0].close()
began = time.monotonic()
socket.create_connection(("b", 4000)).close()
print(time.monotonic() - began)
"""


def connect_s(live: Live) -> float:
    status, said = live.run("exec", "a", "--", "python3", "connect.py", "connect")
    assert status == 0, said
    return float(said)


def test_a_condition_set_on_a_running_network_is_felt_by_programs_in_it(live: Live) -> None:
    (live.folder / "connect.py").write_text(CONNECT)
    (live.folder / "slow.yaml").write_text(SLOW)
    with live.up(TWO_NODES):
        server = live.start("exec", "b", "--", "python3", "connect.py", "listen")
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        fast_s = connect_s(live)
        status, said = live.run("set", "slow.yaml")
        assert status == 0, said
        assert int(said.split()[-1]) <= time.monotonic_ns()
        # 20 ms in front of each of the four wires of a round trip.
        assert 0.08 <= connect_s(live) < 0.12
        assert live.run("set", "none")[0] == 0
        assert connect_s(live) < 0.08
        assert fast_s < 0.08
    # The command in the node dies with the network.
    server.communicate(timeout=5)


def test_exec_hands_on_the_exit_status_and_names_the_nodes(live: Live) -> None:
    with live.up(TWO_NODES):
        assert live.run("exec", "a", "--", "sh", "-c", "exit 7")[0] == 7
        assert live.run("exec", "a", "--", "hostname") == (0, "a\n")
        status, said = live.run("exec", "c", "--", "true")
        assert status == 2
        assert "nodes are a, b" in said


def test_a_wrong_condition_is_refused_and_the_old_one_stays(live: Live) -> None:
    (live.folder / "wrong.yaml").write_text("wrong: {link: [{delay: {time: 20}}]}\n")
    with live.up(TWO_NODES):
        status, said = live.run("set", "wrong.yaml")
        assert status == 2
        assert "has no unit" in said
        assert live.run("exec", "a", "--", "true")[0] == 0


def test_a_condition_may_be_written_out_or_come_from_standard_input(live: Live) -> None:
    (live.folder / "connect.py").write_text(CONNECT)
    (live.folder / "conditions").mkdir()
    (live.folder / "conditions" / "rtt.csv").write_text("delay_ms\n30\n30\n")
    (live.folder / "conditions" / "measured.yaml").write_text(
        "measured: {link: [{delay: {law: {samples: rtt.csv}}}]}\n"
    )
    with live.up(TWO_NODES):
        server = live.start("exec", "b", "--", "python3", "connect.py", "listen")
        assert server.stdout is not None
        assert server.stdout.readline() == "listening\n"
        status, said = live.run("set", "link: [{delay: {time: 40ms}}]")
        assert (status, said.split()[:2]) == (0, ["inline", "effective_ns"])
        # Four wires of a round trip, here and below.
        assert connect_s(live) >= 0.16
        process = live.start("set", "-", stdin=subprocess.PIPE)
        said, _ = process.communicate(SLOW, timeout=60)
        assert (process.returncode, said.split()[:2]) == (0, ["slow", "effective_ns"])
        assert connect_s(live) >= 0.08
        # A file that the condition names is found beside it, by the client.
        status, said = live.run("set", "conditions/measured.yaml")
        assert (status, said.split()[:2]) == (0, ["measured", "effective_ns"])
        assert connect_s(live) >= 0.12


def test_a_condition_that_cannot_be_read_is_refused_by_the_client(live: Live) -> None:
    os.mkfifo(live.folder / "stream")
    refused = {
        "stream": "stream: is not a regular file; write its content to one, or pass it on: crosswind set - <",
        "/dev/zero": "/dev/zero: is not a regular file",
        "link: [{delay: {time: 40}}]": 'condition:1:23: inline.link[1].delay: time "40" has no unit',
        "link: [{delay: {time: 40ms}}": "condition:1:29: is not YAML",
        "nothing:like:this": "nothing:like:this: is neither a condition nor a file",
    }
    with live.up(TWO_NODES):
        for given, message in refused.items():
            status, said = live.run("set", given, timeout_s=60)
            assert status == 2
            assert message in said
        assert live.run("exec", "a", "--", "true")[0] == 0


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_clients_that_hang_keep_up_neither_from_serving_nor_from_ending(
    live: Live, number: signal.Signals
) -> None:
    with live.up(TWO_NODES) as (process, _):
        (path,) = (live.folder / "runtime").glob("up-*.sock")
        clients = [socket.socket(socket.AF_UNIX) for _ in range(3)]
        # Nothing, half a request, and a whole one whose reply is not read.
        for client, sent in zip(clients, (b"", b'{"do": "se', b'{"do": "network"}\n'), strict=True):
            client.connect(str(path))
            client.sendall(sent)
        assert live.run("set", "none")[0] == 0
        process.send_signal(number)
        assert process.wait(timeout=10) == 0
    for client in clients:
        client.close()


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM])
def test_up_ends_with_a_signal_and_leaves_nothing(live: Live, number: signal.Signals) -> None:
    with live.up(TWO_NODES) as (process, _):
        process.send_signal(number)
        assert process.wait(timeout=10) == 0
    live.await_no_process()
    assert list((live.folder / "runtime").iterdir()) == []


def test_up_says_that_the_end_of_its_input_ended_it(live: Live) -> None:
    (live.folder / "network.yaml").write_text(TWO_NODES)
    # As a shell starts what has a `&` behind it in a script.
    status, said = live.run("up", "network.yaml")
    assert (status, said.splitlines()[-2:]) == (0, ["ready", "ended: its input ended"])


def test_a_killed_up_leaves_only_what_cleanup_removes(live: Live) -> None:
    with live.up(TWO_NODES) as (process, _):
        process.kill()
    live.await_no_process()
    status, said = live.run("exec", "a", "--", "true")
    assert status == 2
    assert "no fabric is up" in said
    status, said = live.run("cleanup")
    assert status == 0
    assert said.count("removed ") == 2
    assert live.run("cleanup") == (0, "nothing to clean up\n")


def test_cleanup_leaves_a_running_network_alone(live: Live) -> None:
    with live.up(TWO_NODES):
        assert live.run("cleanup") == (0, "nothing to clean up\n")
        assert live.run("exec", "b", "--", "true")[0] == 0


@pytest.mark.skipif(os.geteuid() == 0, reason="root may remove everything")
def test_cleanup_exits_8_when_something_remains(live: Live) -> None:
    stuck = live.folder / "work" / "run-stuck"
    (stuck / "inner").mkdir(parents=True)
    (stuck / "in-use").touch()
    stuck.chmod(0o500)
    assert live.run("cleanup")[0] == 8
    stuck.chmod(0o700)


def test_apps_says_what_is_ready(live: Live) -> None:
    status, said = live.run("apps", "--json")
    assert status == 0
    listed = {entry["name"]: entry for entry in json.loads(said)}
    assert listed["rpc"]["ready"] is True
    assert set(listed) >= {"rpc", "ycsb", "iperf3"}
