"""`crosswind run` on machines that ssh reaches, whose clocks differ by thousands of seconds, and locally."""

from __future__ import annotations

import json
import re
import shutil
import signal
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest
from machine_runs import ROUND_TRIP_NS, Place, check_within, experiment, measured, rig_of, rows

from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.results import Measurement
from crosswind.testbed.folders import cache_folder

EXPERIMENT = experiment({"server": "left", "client": "right", "idle": "far"})


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with rig_of(3) as (rig, folder):
        (folder / "live.yaml").write_text(EXPERIMENT)
        (folder / "testbed.yaml").write_text("ssh: {hosts: [m0, m1, m2]}\n")
        (folder / "one.yaml").write_text("ssh: {hosts: [m1]}\n")
        (folder / "two.yaml").write_text("ssh: {hosts: [{name: m0, address: 10.99.0.1, port: 7000}, m2]}\n")
        yield Place(rig, folder)


def shortest(folder: Path) -> dict[str, int]:
    """Return the shortest round trip of each condition: a busy machine makes the others longer."""
    failed = rows(folder, "SELECT condition, reason FROM TRIALS WHERE status != 'done'")
    assert not failed
    select = (
        "SELECT condition, min(finished_ns - started_ns) FROM SAMPLES JOIN TRIALS USING (trial) "
        "WHERE measured AND ok GROUP BY condition"
    )
    return dict(rows(folder, select))


def test_a_run_on_three_machines_measures_what_a_local_one_does(place: Place) -> None:
    status, said = place.run("run", "live.yaml")
    assert status == 0, said
    alone = shortest(place.run_folder)
    status, said = place.run("run", "live.yaml", "--testbed", "testbed.yaml")
    assert status == 0, said
    folder = place.run_folder
    together = shortest(folder)
    print(f"three machines: {together}, one: {alone}")
    for condition, added_ns in (("none", 0), ("slow", 4 * 5_000_000)):
        assert ROUND_TRIP_NS + added_ns <= together[condition]
        # What a host and the emulator add; a machine of two cores has as many emulators as agents.
        assert abs(together[condition] - alone[condition]) < 500_000
    for (trial,) in rows(folder, "SELECT trial FROM TRIALS"):
        stored = measured(folder, trial)
        assert stored.conservation.holds
        assert stored.conservation.entered.real > 100
        check_clocks(stored)
        check_within(folder, trial, stored)
        [printed] = (folder / "logs" / trial / "server").glob("*.out")
        assert "listening" in printed.read_text()
    before = json.loads((folder / "provenance.json").read_text())["before"]
    assert [machine["name"] for machine in before["machines"]] == ["m0", "m1", "m2"]
    assert all(machine["kernel"] and machine["agent"] for machine in before["machines"])
    place.await_nothing_left()


def test_one_other_machine_carries_a_network_alone(place: Place) -> None:
    status, said = place.run("run", "live.yaml", "--testbed", "one.yaml", "--only", "none")
    assert status == 0, said
    (shortest_ns,) = shortest(place.run_folder).values()
    assert ROUND_TRIP_NS <= shortest_ns < ROUND_TRIP_NS + 1_000_000
    place.await_nothing_left()


def test_a_machine_carries_a_switch_and_no_node(place: Place) -> None:
    (place.folder / "star.yaml").write_text(
        "name: live\n"
        "topology:\n"
        "  {hosts: 2, uplink: {rate: 100Mbit/s, delay: 2ms}, nodes: {server: h0, client: h1}, wait: sleep}\n"
        "conditions: [none]\n"
        "application: {rpc: {duration: 1s, warm_up: 500ms}}\n"
        "trials: {repeat: 1, rest: 0s, seed: 7, limits: {void: accept}}\n"
    )
    (place.folder / "placed.yaml").write_text(
        "ssh: {hosts: [m0, m1, m2], place: {switch: m0, h0: m1, h1: m2}}\n"
    )
    status, said = place.run("run", "star.yaml", "--testbed", "placed.yaml")
    assert status == 0, said
    (shortest_ns,) = shortest(place.run_folder).values()
    assert 8_000_000 <= shortest_ns < 9_000_000
    place.await_nothing_left()


def test_private_programs_are_copied_to_machines_that_lack_them(place: Place) -> None:
    if IPERF3.missing() or not IPERF3.places()[0].is_dir():
        pytest.skip("SKIPPED: iperf3 is not among the private packages")
    # The machines have another /var/tmp, so they lack what is in this cache.
    cache = place.folder / "cache"
    cache.mkdir()
    (cache / "requirements").symlink_to(cache_folder() / "requirements")
    application = "application: {iperf3: {duration: 1s, warm_up: 1s}}"
    text = EXPERIMENT.replace("application: {rpc: {duration: 1s, warm_up: 500ms}}", application)
    (place.folder / "live.yaml").write_text(text)
    place.rig.env["CROSSWIND_CACHE_DIR"] = str(cache)
    try:
        status, said = place.run("run", "live.yaml", "--testbed", "two.yaml", "--only", "none")
    finally:
        del place.rig.env["CROSSWIND_CACHE_DIR"]
        (place.folder / "live.yaml").write_text(EXPERIMENT)
    assert status == 0, said
    assert "programs that machines lack are copied to them for this run: iperf3-" in said
    ((goodput_bps,),) = rows(place.run_folder, "SELECT value FROM METRICS WHERE metric = 'goodput'")
    assert goodput_bps > 1e6
    place.await_nothing_left()


@pytest.mark.long
def test_with_keep_the_files_of_the_last_trial_stay_here_and_there(place: Place) -> None:
    status, said = place.run("run", "live.yaml", "--testbed", "one.yaml", "--only", "none", "--keep")
    assert status == 0, said
    (folder,) = (place.folder / "work").iterdir()
    assert f"the files of the last trial stay in {folder}" in said
    machine = place.rig.machines[1]
    machine.await_no_process(10)
    there = machine.run("ls", str(folder)).split()
    assert sorted(there) == ["logs", "programs", "trial"]
    assert "samples.csv" in machine.run("ls", f"{folder}/trial")
    # The next run does not take them for those of a killed one, and nothing else is left.
    status, said = place.run("run", "live.yaml", "--testbed", "one.yaml", "--only", "none")
    assert status == 0, said
    assert machine.run("ls", str(folder.parent)).split() == [folder.name]
    machine.run("rm", "-r", str(folder))
    shutil.rmtree(folder)


@pytest.mark.long
def test_a_run_that_was_interrupted_is_continued_on_its_machines(place: Place) -> None:
    process = place.start("run", "live.yaml", "--testbed", "two.yaml")
    assert process.stdout is not None
    for line in process.stdout:
        if line.startswith("1/2"):
            break
    process.send_signal(signal.SIGINT)
    said, _ = process.communicate(timeout=60)
    assert "interrupted by SIGINT" in said
    place.await_nothing_left()
    status, said = place.run("resume", str(place.run_folder))
    assert status == 0, said
    assert set(shortest(place.run_folder)) == {"none", "slow"}
    place.await_nothing_left()


@pytest.mark.long
def test_a_machine_that_cannot_be_reached_is_named_before_anything_starts(place: Place) -> None:
    gone = place.rig.machines[2]
    gone.cut()
    try:
        status, said = place.run("run", "live.yaml", "--testbed", "testbed.yaml")
    finally:
        gone.mend()
    assert status == 3, said
    assert "m2: ssh: " in said
    place.await_nothing_left()


def test_traffic_of_any_machine_above_the_bound_refuses_the_run(place: Place) -> None:
    echoes = ["ping", "-q", "-i", "0.01", "-s", "1000", place.rig.machines[2].address]
    with subprocess.Popen(place.rig.machines[1].words(*echoes), stdout=subprocess.DEVNULL) as busy:
        try:
            bound = ("--traffic-at-most", "100kbit/s")
            status, said = place.run("run", "live.yaml", "--testbed", "testbed.yaml", *bound)
        finally:
            busy.terminate()
    assert status == 3, said
    # Each echo and its answer have 1042 bytes on the wire.
    for name in ("m1", "m2"):
        assert re.search(rf"{name}: [0-9.]+ kbit/s through eth0, above 100 kbit/s", said), said
    assert "m0:" not in said
    place.await_nothing_left()


def check_clocks(stored: Measurement) -> None:
    """Check that the estimates of clocks are as far apart as the clocks are."""
    started_ns = stored.window.started_ns
    shifts_s = [0, 1000, 2000]
    for machine, shift_s in zip(stored.machines, shifts_s, strict=True):
        assert abs(machine.clock.there(started_ns) - started_ns - shift_s * 10**9) < 500_000
        # A busy machine may take longer to begin its window.
        assert abs(machine.started_ns - started_ns) < 500_000_000
        for _, peer in machine.peers(stored.machines):
            assert peer.received_datagrams > 0
            assert peer.lost_datagrams == peer.refused_records == 0
