"""Machines exchange packets in Ethernet frames without IP, and `doctor` lets them meet so."""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest
from machine_runs import ROUND_TRIP_NS, Place, experiment, measured, rig_of, rows


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with rig_of(3) as (rig, folder):
        (folder / "live.yaml").write_text(experiment({"server": "left", "client": "right", "idle": "far"}))
        (folder / "two.yaml").write_text("ssh: {hosts: [m0, m1]}\nnetwork: native\n")
        yield Place(rig, folder)


@pytest.mark.long
def test_a_round_trip_over_raw_ethernet_takes_as_long_as_declared_and_loses_nothing(place: Place) -> None:
    status, said = place.run("run", "live.yaml", "--testbed", "two.yaml", "--only", "none")
    assert status == 0, said
    assert "2 machines over raw Ethernet: measurements began within" in said
    folder = place.run_folder
    ((trial, status_of_trial),) = rows(folder, "SELECT trial, status FROM TRIALS")
    assert status_of_trial == "done"
    ((shortest_ns,),) = rows(
        folder, "SELECT min(finished_ns - started_ns) FROM SAMPLES WHERE measured AND ok"
    )
    print(f"round trip {shortest_ns} ns, declared {ROUND_TRIP_NS} ns")
    # A host and the emulator add something; a machine of two cores has as many emulators as agents.
    assert ROUND_TRIP_NS <= shortest_ns < ROUND_TRIP_NS + 1_000_000
    stored = measured(folder, trial)
    assert stored.conservation.holds
    assert [machine.tunnel.network for machine in stored.machines] == ["native", "native"]
    for machine in stored.machines:
        for _, peer in machine.peers(stored.machines):
            assert peer.received_datagrams > 100
            assert peer.lost_datagrams == peer.refused_records == peer.duplicate_datagrams == 0
    place.await_nothing_left()


@contextmanager
def stranger(place: Place, to: str) -> Iterator[subprocess.Popen[str]]:
    """Let somebody without the key hear what m0 sends to an address, and send forged frames there."""
    space = f"--net=/proc/{place.rig.client_pid}/ns/net"
    program = [sys.executable, str(Path(__file__).with_name("stranger.py")), "m0", "br0", to]
    pipe = subprocess.PIPE
    process = subprocess.Popen(["nsenter", space, "--", *program], stdin=pipe, stdout=pipe, text=True)
    try:
        assert process.stdout is not None
        assert process.stdout.readline() == "ready\n"
        yield process
    finally:
        process.kill()
        process.wait()


@pytest.mark.long
def test_frames_forged_on_the_wire_are_dropped_and_counted_and_the_trial_goes_on(place: Place) -> None:
    (link,) = json.loads(place.rig.machines[1].run("ip", "-j", "link", "show", "eth0"))
    with stranger(place, link["address"]) as process:
        status, said = place.run("run", "live.yaml", "--testbed", "two.yaml", "--only", "none")
        told, _ = process.communicate("", timeout=20)
    sent = json.loads(told)
    print(f"forged frames: {sent}")
    assert all(count > 100 for count in sent.values())
    assert status == 0, said
    assert "Datagrams that no machine has made." in said
    folder = place.run_folder
    ((trial, status_of_trial),) = rows(folder, "SELECT trial, status FROM TRIALS")
    assert status_of_trial == "done"
    assert rows(folder, "SELECT count(*) FROM SAMPLES WHERE measured AND NOT ok") == [(0,)]
    stored = measured(folder, trial)
    # What comes out had entered, so nothing of theirs was delivered.
    assert stored.conservation.holds
    for machine in stored.machines:
        ((_, peer),) = machine.peers(stored.machines)
        assert peer.received_datagrams > 100
        assert peer.lost_datagrams == peer.refused_records == 0
        suffers = machine.machine == "m1"
        assert (machine.tunnel.forged_datagrams > 100) == (peer.duplicate_datagrams > 100) == suffers
    place.await_nothing_left()


def doctor(place: Place, testbed: str) -> tuple[int, str]:
    (place.folder / "asked.yaml").write_text(testbed)
    status, said = place.run("doctor", "--testbed", "asked.yaml")
    return status, re.sub(r"\s+", " ", said)


def test_doctor_lets_machines_meet_over_raw_ethernet(place: Place) -> None:
    status, said = doctor(place, "ssh: {hosts: [m0, m1, m2]}\nnetwork: native\ninterface: eth0\n")
    assert status == 0, said
    assert "All 3 machines are ready." in said
    place.await_nothing_left()


@pytest.mark.long
def test_doctor_says_what_raw_ethernet_lacks(place: Place) -> None:
    hosts = "[m0, {name: m1, interface: eth9}, {name: m2, interface: lo}]"
    status, said = doctor(place, f"ssh: {{hosts: {hosts}}}\nnetwork: native\n")
    assert status == 3, said
    assert "m1, network: native: interface eth9: No such device" in said
    assert "m2, network: native: interface lo: it is not an Ethernet interface" in said
    # A switch that carries less than its machines send.
    port = ["nsenter", f"--net=/proc/{place.rig.client_pid}/ns/net", "--", "ip", "link", "set", "m1", "mtu"]
    subprocess.run([*port, "1400"], check=True)
    try:
        status, said = doctor(place, "ssh: {hosts: [m0, m1]}\nnetwork: native\n")
    finally:
        subprocess.run([*port, "1500"], check=True)
    assert status == 3, said
    assert "m1, way to m0: frames with 1500 bytes do not come from there, short ones do" in said
    place.await_nothing_left()
