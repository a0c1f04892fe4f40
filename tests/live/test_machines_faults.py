"""Faults of a run on several machines: cuts between them, and a node that ends and returns on another one."""

from __future__ import annotations

from collections.abc import Iterator

import pytest
from machine_runs import Place, experiment, measured, rig_of, rows

MS = 1_000_000
FAULTS = """
  - cut-off: {at: {1s: {isolate: server}, 2s: {heal: all}}}
  - restarted: {at: {1s: {kill: server}, 1500ms: {restart: server}}}
  - paused: {at: {1s: {pause: server}, 2s: {resume: server}}}"""
EXPERIMENT = experiment({"server": "left", "client": "right"}, conditions=FAULTS).replace(
    "duration: 1s", "duration: 4s, rate: 100/s"
)


@pytest.fixture(scope="module")
def place() -> Iterator[Place]:
    with rig_of(2) as (rig, folder):
        (folder / "live.yaml").write_text(EXPERIMENT)
        (folder / "testbed.yaml").write_text("ssh: {hosts: [m0, m1]}\n")
        place = Place(rig, folder)
        status, said = place.run("run", "live.yaml", "--testbed", "testbed.yaml")
        assert status == 0, said
        yield place


@pytest.mark.long
@pytest.mark.parametrize(
    ("condition", "words"),
    [
        ("cut-off", ["isolate server", "heal"]),
        ("restarted", ["kill server", "restart server"]),
        ("paused", ["pause server", "resume server"]),
    ],
)
def test_a_fault_between_machines_is_done_and_ends(place: Place, condition: str, words: list[str]) -> None:
    folder = place.run_folder
    ((trial, status),) = rows(folder, f"SELECT trial, status FROM TRIALS WHERE condition = '{condition}'")
    assert status == "done"
    stored = measured(folder, trial)
    assert [fault.words for fault in stored.faults] == words
    assert all(fault.error is None and fault.done_ns >= fault.due_ns for fault in stored.faults)
    begins_ns, ends_ns = stored.faults[0].done_ns, stored.faults[1].done_ns
    select = f"SELECT count(*) FROM SAMPLES WHERE trial = '{trial}' AND ok AND finished_ns"
    # An answer that was past the client's gate may wait for its program, and a fault ends before its note.
    hit = f"<= {stored.faults[1].due_ns} AND started_ns >= {begins_ns + 10 * MS}"
    assert rows(folder, f"{select} {hit}") == [(0,)]
    ((before,),) = rows(folder, f"{select} < {begins_ns}")
    ((after,),) = rows(folder, f"{select} > {ends_ns}")
    print(f"{condition}: {before} operations before the fault, {after} after it")
    assert before > 50
    assert after > 50
    place.await_nothing_left()
