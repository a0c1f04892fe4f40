"""Recordings, the capture and the causes of a run on machines whose clocks are thousands of seconds apart."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine_runs import ZONES, Place, experiment, measured, rig_of, rows
from pcapng import read_capture
from readers import TSHARK

from crosswind.analysis.summarise import summarise

MACHINES = ("m0", "m1", "m2")
# Answers of the server, which is on the first machine, are lost where the client is, on the second.
LOSSY = """
  - lossy:
      interference: {between: [h0-h1], rate: 2Mbit/s, hold: 200ms, by: ghost}
      link: [{delay: {time: 1ms}}]
      host.ingress: [{lose: {bernoulli: 10%, on: [client]}}]
      at: {600ms: {host.egress: [{delay: {time: 1ms}}]}}
"""


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with rig_of(3) as (rig, folder):
        nodes = dict(zip(("server", "client", "idle"), ZONES, strict=True))
        text = experiment(nodes, conditions=LOSSY, trials=", record: true, capture: {snap: 96B}")
        (folder / "live.yaml").write_text(text)
        (folder / "testbed.yaml").write_text("ssh: {hosts: [m0, m1, m2]}\n")
        (folder / "one.yaml").write_text("ssh: {hosts: [m1]}\n")
        yield Place(rig, folder)


@pytest.fixture(scope="module")
def run(place: Place) -> tuple[Path, str]:
    """Return the folder of a run under loss on three machines, and its trial."""
    status, said = place.run("run", "live.yaml", "--testbed", "testbed.yaml", "--only", "lossy")
    assert status == 0, said
    ((trial, reason),) = rows(place.run_folder, "SELECT trial, reason FROM TRIALS")
    assert reason is None
    place.await_nothing_left()
    return place.run_folder, trial


def test_the_recording_of_each_machine_is_decided_again_to_the_nanosecond(
    place: Place, run: tuple[Path, str]
) -> None:
    folder, trial = run
    found = sorted(path.name for path in (folder / "recordings").iterdir())
    assert found == [f"{trial}.{machine}.cwr" for machine in MACHINES]
    assert measured(folder, trial).recording.lost_records == 0  # type: ignore[union-attr]
    crossed = []
    for name in found:
        status, said = place.run("simulate", str(folder / "recordings" / name), "--json")
        assert status == 0, said
        replayed = json.loads(said)
        assert replayed["comparison"]["identical"] is True, replayed["comparison"]
        print(f"{name}: {replayed['comparison']['decisions']} decisions are identical")
        pairs = {(pair["from"], pair["to"]): pair for pair in replayed["summary"]["pairs"]}
        crossed.append(pairs.get(("server", "client"), {}).get("crossed", {}).get("packets", 0))
        if name.endswith(".m1.cwr"):
            answers = pairs["server", "client"]
            assert answers["delivered"]["packets"] > 20
            assert any(by.endswith(":lose lost") for by in answers["dropped"])
    assert crossed[0] > 20
    assert crossed[1:] == [0, 0]
    status, said = place.run("simulate", str(folder / "recordings" / found[0]), "--condition", "none")
    assert status == 2
    assert "it is the recording of one of several machines" in said


def test_the_capture_has_the_packets_of_all_machines_on_one_clock(run: tuple[Path, str]) -> None:
    folder, trial = run
    (path,) = (folder / "captures").iterdir()
    assert path.name == f"{trial}.pcapng"
    capture = read_capture(path.read_bytes())
    names = [
        f"{node} {what}" for node in ("server", "client", "idle") for what in ("sends", "receives", "loses")
    ]
    assert [interface.name for interface in capture.interfaces] == names
    stored = measured(folder, trial)
    assert stored.capture is not None
    assert stored.capture.packets == len(capture.packets)
    # From one machine to another: 5 ms between the zones, and 1.1 ms on the link of each host.
    sent = {
        packet.data[34:]: packet.at_ns for packet in capture.packets if packet.interface == "server sends"
    }
    ways_ns = [
        packet.at_ns - sent[packet.data[34:]]
        for packet in capture.packets
        if packet.interface == "client receives" and packet.data[34:] in sent
    ]
    bound_ns = max(machine.clock.bound_ns for machine in stored.machines)
    assert len(ways_ns) > 20
    assert 7_200_000 - bound_ns <= min(ways_ns) < 9_200_000 + bound_ns
    lost = [packet for packet in capture.packets if packet.interface == "server loses"]
    assert lost
    assert all(packet.comment is not None and packet.comment.endswith(":lose lost") for packet in lost)
    window = stored.window
    at_ns = [packet.at_ns - window.realtime_minus_monotonic_ns for packet in capture.packets]
    assert any(window.started_ns < it < window.ended_ns for it in at_ns)


def test_wireshark_reads_it_with_the_bound_of_the_clocks(run: tuple[Path, str]) -> None:
    if TSHARK.missing():
        pytest.skip("SKIPPED: no tshark; python tests/live/readers.py installs it")
    folder, trial = run
    path = folder / "captures" / f"{trial}.pcapng"
    fields = ("-T", "fields", "-e", "frame.interface_name", "-e", "frame.time_epoch")
    tshark = TSHARK.program("tshark")
    command = [tshark.path, "-r", path, *fields]
    env = os.environ | tshark.env
    said = subprocess.run(command, env=env, capture_output=True, text=True, check=True).stdout
    capture = read_capture(path.read_bytes())
    found = [line.split("\t") for line in said.splitlines()]
    assert [name for name, _ in found] == [packet.interface for packet in capture.packets]
    epochs = [f"{packet.at_ns // 10**9}.{packet.at_ns % 10**9:09}" for packet in capture.packets]
    assert [at for _, at in found] == epochs


def test_causes_name_the_loss_on_another_machine(run: tuple[Path, str]) -> None:
    folder, _ = run
    (trial,) = summarise(folder).trials
    causes = list(trial.slow.by_cause + trial.tail.by_cause)
    assert any("after a drop at client/host.ingress/0:lose (lost)" in cause for cause in causes), causes


def test_a_machine_that_is_alone_makes_the_files_of_a_local_run(place: Place) -> None:
    status, said = place.run("run", "live.yaml", "--testbed", "one.yaml", "--only", "none")
    assert status == 0, said
    folder = place.run_folder
    ((trial,),) = rows(folder, "SELECT trial FROM TRIALS")
    recording = folder / "recordings" / f"{trial}.cwr"
    assert [recording] == list((folder / "recordings").iterdir())
    status, said = place.run("simulate", str(recording), "--json")
    assert json.loads(said)["comparison"]["identical"] is True
    assert read_capture((folder / "captures" / f"{trial}.pcapng").read_bytes()).packets
    shutil.rmtree(folder)
    place.await_nothing_left()
