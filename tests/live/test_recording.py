"""What really happened on a network that was up, recorded, is what the simulator makes of it again."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Callable
from typing import TYPE_CHECKING

from pcapng import read_capture

if TYPE_CHECKING:
    from conftest import Live

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 100us, buffer: 64KiB}
  nodes: {a: h0, b: h1, c: h1}
condition:
  limited:
    switch.ingress: [{police: {rate: 40Mbit/s, burst: 20kB}}]
    link: [{delay: {time: 300us}}]
    interference: {between: [h0-h1], rate: {normal: {mean: 30%, sd: 20%}}, hold: 50ms, pacing: 1ms, by: ghost}
    at: {300ms: {link: []}}
"""
# Bulk TCP, so that super-packets are cut, queued and dropped.
BULK = """
import socket, sys, time
if sys.argv[1] == "receive":
    listener = socket.create_server(("0.0.0.0", 4000))
    print("listening", flush=True)
    connection = listener.accept()[0]
    while connection.recv(1 << 20):
        pass
else:
    connection = socket.create_connection(("b", 4000))
    until = time.monotonic() + 1
    while time.monotonic() < until:
        connection.sendall(bytes(100_000))
"""


def test_a_recorded_live_run_is_decided_again_to_the_nanosecond(live: Live) -> None:
    (live.folder / "network.yaml").write_text(NETWORK)
    (live.folder / "bulk.py").write_text(BULK)
    up = live.start("up", "network.yaml", "--record", "run.cwr", stdin=subprocess.PIPE)
    assert up.stdout is not None
    while up.stdout.readline() != "ready\n":
        assert up.poll() is None
    receiver = live.start("exec", "b", "--", "python3", "bulk.py", "receive")
    assert receiver.stdout is not None
    assert receiver.stdout.readline() == "listening\n"
    assert live.run("exec", "a", "--", "python3", "bulk.py", "send")[0] == 0
    receiver.communicate(timeout=10)
    assert live.run("set", "none")[0] == 0
    said, _ = up.communicate(timeout=20)
    assert up.returncode == 0, said
    assert "run.cwr: " in said

    status, said = live.run("simulate", "run.cwr", "--json")
    assert status == 0, said
    replayed = json.loads(said)
    assert replayed["comparison"]["identical"] is True
    # A policed TCP gets a fraction of 40 Mbit/s, or of 3,000 packets a second, however busy the machine is.
    assert replayed["comparison"]["decisions"] > 200
    (bulk,) = [pair for pair in replayed["summary"]["pairs"] if (pair["from"], pair["to"]) == ("a", "b")]
    assert bulk["dropped"]["h0/switch.ingress/0:police no-tokens"]["packets"] > 0

    # The same packets under no condition at all: nothing but the links is in their way.
    status, said = live.run("simulate", "run.cwr", "--condition", "none", "--json")
    assert status == 0, said
    other = json.loads(said)
    assert other["comparison"] is None
    assert all("police" not in reason for pair in other["summary"]["pairs"] for reason in pair["dropped"])


def test_a_recording_that_was_cut_off_is_refused(live: Live) -> None:
    (live.folder / "network.yaml").write_text(NETWORK)
    up = live.start("up", "network.yaml", "--record", "run.cwr", stdin=subprocess.PIPE)
    assert up.stdout is not None
    while up.stdout.readline() != "ready\n":
        assert up.poll() is None
    up.communicate(timeout=20)
    whole = (live.folder / "run.cwr").read_bytes()
    (live.folder / "cut.cwr").write_bytes(whole[:-3])
    status, said = live.run("simulate", "cut.cwr")
    assert status == 2
    assert "cut off" in said


def test_a_recording_is_never_overwritten(live: Live) -> None:
    (live.folder / "network.yaml").write_text(NETWORK)
    (live.folder / "kept.cwr").write_text("something")
    status, said = live.run("up", "network.yaml", "--record", "kept.cwr")
    assert status == 4
    assert "kept.cwr" in said
    assert (live.folder / "kept.cwr").read_text() == "something"


def test_a_trial_leaves_its_recording_its_capture_and_what_came_into_force(
    live: Live, experiment: Callable[..., str]
) -> None:
    name = experiment(repeat=1, extra=", record: true, capture: {snap: 64B}")
    status, said = live.run("run", name)
    assert status == 0, said
    for recording in (live.run_folder / "recordings").iterdir():
        status, said = live.run("simulate", str(recording), "--json")
        assert status == 0, said
        assert json.loads(said)["comparison"]["identical"] is True
        # Conditions of the experiment are known by name, because the recording lies in its folder.
        assert live.run("simulate", str(recording), "--condition", "slow")[0] == 0
        capture = read_capture((live.run_folder / "captures" / f"{recording.stem}.pcapng").read_bytes())
        assert {packet.interface for packet in capture.packets} >= {"server receives", "server sends"}
        measured = json.loads((live.run_folder / "monitors" / f"{recording.stem}.json").read_text())
        assert measured["recording"]["lost_records"] == 0
        assert measured["capture"]["left_out_packets"] == 0
        (change,) = measured["changes"]
        assert change["by"] == "set"
        assert recording.stem.endswith(change["condition"])
        assert change["asked_ns"] <= change["at_ns"] <= measured["window"]["started_ns"]
    assert len(list((live.run_folder / "recordings").iterdir())) == 2
