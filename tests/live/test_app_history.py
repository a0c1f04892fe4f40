"""Stores that lose data under a partition are found, and stores that are configured well are not."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from crosswind.app.history import History
from crosswind.results.measurement import CheckedHistory
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live-history
topology:
  hosts: 4
  uplink: {{rate: 1Gbit/s, delay: 100us}}
  nodes: {nodes}
conditions:
  - faults: {{at: {faults}}}
application: {{history: {{{parameters}, clients: 5, duration: {duration}, warm_up: 500ms, timeout: 500ms}}}}
trials: {{repeat: 1, rest: 0s, seed: 7}}
"""
# The primary answers clients, and its replicas no longer hear from it; then one of them takes over.
FAILOVER = "failover: {at: 2500ms, to: db1}"
ONE = "{db0: h0, client: h3}"
TWO = "{db0: h0, db1: h1, client: h3}"
THREE = "{db0: h0, db1: h1, db2: h2, client: h3}"


def verdict(
    live: Live, store: str, nodes: str, faults: str, parameters: str, duration: str = "5s"
) -> CheckedHistory:
    """Run one trial; return what the check of its history found."""
    if missing := History.missing(store):
        pytest.skip("; ".join(f"{item.what}; {item.remedy}" for item in missing))
    parameters = f"store: {store}, {parameters}"
    text = EXPERIMENT.format(nodes=nodes, faults=faults, parameters=parameters, duration=duration)
    (live.folder / "history.yaml").write_text(text)
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    live.measured("history.yaml", timeout_s=300)
    folder = (live.results / "live-history" / "latest").resolve()
    (monitors,) = folder.glob("monitors/*.json")
    checked = CheckedHistory.model_validate(json.loads(monitors.read_text())["load"]["checked"])
    assert_stored(folder, checked)
    return checked


def assert_stored(folder: Path, checked: CheckedHistory) -> None:
    """Both files are there, have an event each line, and the same numbers."""
    (lines,), (edn,) = folder.glob("outputs/*.history.jsonl"), folder.glob("outputs/*.history.edn")
    events = [json.loads(line) for line in lines.read_text().splitlines()]
    assert len(edn.read_text().splitlines()) == len(events)
    ended = [event["type"] for event in events if event["process"] != "nemesis"]
    assert ended.count("ok") == checked.confirmed
    assert ended.count("fail") == checked.refused
    assert ended.count("info") == checked.unknown
    report = (folder / "report.html").read_text()
    assert ('<svg class="history"' in report) == (checked.verdict == "violation")


# With `wait=0` a primary without replicas goes on confirming writes, which the failover discards.
@pytest.mark.parametrize(
    ("store", "parameters"),
    [
        ("redis", "workload: set, durability: wait=0"),
        pytest.param("redis", "workload: register, durability: wait=0", marks=pytest.mark.long),
        pytest.param("valkey", "workload: append, durability: wait=0", marks=pytest.mark.long),
        pytest.param("postgresql", "workload: set, durability: local", marks=pytest.mark.long),
        pytest.param("postgresql", "workload: register, durability: local", marks=pytest.mark.long),
    ],
)
def test_a_store_that_confirms_before_its_replicas_have_it_loses_writes(
    live: Live, store: str, parameters: str
) -> None:
    cut = "{1s: {partition: db0 | db1}}"
    found = verdict(live, store, TWO, cut, f"{parameters}, {FAILOVER}")
    assert found.verdict == "violation"
    assert found.shown
    assert any(one.is_wrong for one in found.shown[0].operations)
    # About 40 additions a second on each of five keys, for a second and a half.
    assert "register" in parameters or found.elements.lost > 20, found.elements


@pytest.mark.long
@pytest.mark.parametrize(
    ("store", "nodes", "faults", "parameters"),
    [
        ("etcd", THREE, "{1s: {partition: db0 | db1 db2}, 3s: {heal: all}}", "workload: register"),
        ("etcd", THREE, "{1s: {isolate: db0}, 3s: {heal: all}}", "workload: append"),
        ("etcd", THREE, "{1s: {partition: db0 | db1 db2}, 3s: {heal: all}}", "workload: set"),
        (
            "postgresql",
            TWO,
            "{1s: {partition: db0 | db1}}",
            f"workload: register, durability: on, {FAILOVER}",
        ),
        ("postgresql", TWO, "{1s: {partition: db0 | db1}}", f"workload: set, durability: on, {FAILOVER}"),
        ("redis", ONE, "{1s: {partition: db0 | client}, 2s: {heal: all}}", "workload: register"),
    ],
)
def test_a_store_that_is_configured_well_is_right_under_the_same_faults(
    live: Live, store: str, nodes: str, faults: str, parameters: str
) -> None:
    found = verdict(live, store, nodes, faults, parameters)
    assert found.verdict == "ok", found.shown or found.undecided_because
    # The faults were felt: some operations have no known outcome.
    assert found.confirmed > 200
    assert found.unknown > 0


@pytest.mark.long
def test_a_replica_that_is_cut_off_gives_stale_answers(live: Live) -> None:
    cut = "{1s: {partition: db0 | db1}}"
    found = verdict(live, "redis", TWO, cut, "workload: register, reads: any")
    assert found.verdict == "violation"
    assert "can only have held" in found.shown[0].why


@pytest.mark.long
def test_serializable_reads_of_a_member_that_is_cut_off_are_stale(live: Live) -> None:
    cut = "{1s: {partition: db0 | db1 db2}}"
    found = verdict(live, "etcd", THREE, cut, "workload: register, durability: serializable")
    assert found.verdict == "violation"


# The primary goes on for ten seconds, until it notices that it has no majority, and another one is elected.
ELECTION = {"faults": "{1s: {partition: db0 | db1 db2}}", "duration": "18s"}


@pytest.mark.long
@pytest.mark.parametrize("workload", ["register", "set", "append"])
def test_mongodb_loses_what_only_a_primary_without_a_majority_confirmed(live: Live, workload: str) -> None:
    asked = f"workload: {workload}, durability: w=1, read_concern: local"
    found = verdict(live, "mongodb", THREE, parameters=asked, **ELECTION)
    assert found.verdict == "violation"
    # At least 140 writes a second for ten seconds; a set counts the lost ones.
    assert workload != "set" or found.elements.lost > 200, found.elements


@pytest.mark.long
def test_mongodb_shows_what_a_majority_never_confirms(live: Live) -> None:
    asked = "workload: register, durability: majority, read_concern: local"
    assert verdict(live, "mongodb", THREE, parameters=asked, **ELECTION).verdict == "violation"


@pytest.mark.long
def test_a_secondary_that_is_cut_off_shows_what_a_majority_confirmed_long_ago(live: Live) -> None:
    cut = "{1s: {isolate: db2}}"
    asked = "workload: register, durability: majority, read_concern: majority, reads: any"
    assert verdict(live, "mongodb", THREE, cut, asked).verdict == "violation"


@pytest.mark.long
@pytest.mark.parametrize("workload", ["register", "set", "append"])
def test_mongodb_with_majorities_for_writes_and_reads_is_right(live: Live, workload: str) -> None:
    asked = f"workload: {workload}, durability: majority, read_concern: linearizable"
    found = verdict(live, "mongodb", THREE, parameters=asked, **ELECTION)
    assert found.verdict == "ok", found.shown or found.undecided_because
    assert found.confirmed > 200
    assert found.unknown > 0
