"""Faults of a timeline: what is resolved from each way of writing them."""

from pathlib import Path

import pytest

from crosswind.errors import CrosswindError
from crosswind.spec import SpecErrors, disk_nodes, resolve, with_disks
from crosswind.spec.document import parse_document
from crosswind.spec.load import parse_experiment
from crosswind.spec.resolved import ResolvedDisk, ResolvedStep
from crosswind.spec.setup import carried_out, load_setup, setup_of

S = 10**9
TEXT = """\
name: small
topology:
  hosts: 3
  uplink: {{rate: 1Gbit/s, delay: 2us}}
  nodes: {{db0: h0, db1: h1, db2: h1, client: h2}}
conditions: [{{broken: {{at: {steps}}}}}]
application: {{ycsb: {{store: redis, workload: a, {end}}}}}
trials: {{repeat: 1, rest: 0s}}
"""


def steps(text: str, end: str = "duration: 10s") -> list[ResolvedStep]:
    """Return the timeline of a condition, from its steps as a file has them."""
    experiment = parse_experiment(TEXT.format(steps=text, end=end).encode(), "small.yaml")
    return resolve(experiment).conditions[0].timeline


def cuts(text: str) -> list[set[tuple[str, str]]]:
    """Return the pairs that are cut after each step."""
    return [{pair for cut in step.cuts or () for pair in cut.pairs()} for step in steps(text)]


def both(*pairs: tuple[str, str]) -> set[tuple[str, str]]:
    return {way for one, other in pairs for way in ((one, other), (other, one))}


def test_a_partition_cuts_every_pair_of_two_groups_both_ways_and_no_other() -> None:
    (cut,) = cuts("{1s: {partition: db0 | db1 db2}}")
    assert cut == both(("db0", "db1"), ("db0", "db2"))
    assert cuts("{1s: {partition: {groups: [db0, [db1, db2]]}}}") == [cut]
    (three,) = cuts("{1s: {partition: db0 | db1 | db2}}")
    assert three == cut | both(("db1", "db2"))


def test_a_host_is_all_its_nodes() -> None:
    assert cuts("{1s: {partition: h0 | h1}}") == cuts("{1s: {partition: db0 | db1 db2}}")
    assert [fault.node for fault in steps("{1s: {pause: h1}}")[0].nodes] == ["db1", "db2"]


def test_each_isolated_node_is_alone() -> None:
    (one,) = cuts("{1s: {isolate: db0}}")
    assert one == both(*(("db0", other) for other in ("db1", "db2", "client")))
    (two,) = cuts("{1s: {isolate: [db0, db1]}}")
    assert two == one | both(*(("db1", other) for other in ("db2", "client")))


def test_a_cut_is_one_way() -> None:
    assert cuts("{1s: {cut: db0 client -> db1}}") == [{("db0", "db1"), ("client", "db1")}]
    assert cuts("{1s: {cut: {from: db0, to: [db1]}}}") == [{("db0", "db1")}]


def test_cuts_add_up_until_they_are_healed() -> None:
    found = steps(
        "{1s: {cut: db0 -> db1}, 2s: {cut: db1 -> db0}, 3s: {pause: db0}, "
        "4s: {heal: all, cut: db2 -> db0}, 5s: {heal: all}}"
    )
    assert [None if step.cuts is None else len(step.cuts) for step in found] == [1, 2, None, 1, 0]


def test_the_answer_is_silence_unless_it_is_a_reset() -> None:
    (step,) = steps("{1s: {isolate: {nodes: db0, answer: reset}}}")
    assert [cut.answer for cut in step.cuts or ()] == ["reset", "reset"]
    assert step.faults == ["isolate db0 (reset)"]
    (step,) = steps("{1s: {isolate: db0}}")
    assert all("answer" not in cut.as_json() for cut in step.cuts or ())


def test_faults_of_nodes_are_done_in_their_order_and_shown_in_words() -> None:
    first, second = steps(
        "{1s: {pause: db0, squeeze: {nodes: h1, cpus: 0.1, memory: 64MiB}, kill: db2},"
        " 2s: {release: [db1, db2], restart: db2, resume: db0}}"
    )
    assert [(fault.do, fault.node) for fault in first.nodes] == [
        ("kill", "db2"),
        ("pause", "db0"),
        ("squeeze", "db1"),
        ("squeeze", "db2"),
    ]
    assert first.nodes[-1].limits == {"memory_bytes": 64 << 20, "cpus_ppm": 100_000}
    assert first.faults == ["kill db2", "pause db0", "squeeze h1 (cpus 0.1, memory 64MiB)"]
    assert second.faults == ["resume db0", "restart db2", "release db1 db2"]


def test_a_disk_is_resolved_to_what_is_left_of_it() -> None:
    first, second, third = steps(
        "{1s: {disk: {nodes: db0 db1, free: 0B}}, 2s: {disk: {nodes: h0, rate: 1MiB/s, free: 1GB}},"
        " 3s: {release: [db0, db1]}}"
    )
    assert first.faults == ["disk db0 db1 (free 0B)"]
    assert [(fault.do, fault.node) for fault in first.nodes] == [("disk", "db0"), ("disk", "db1")]
    assert [fault.disk and fault.disk.as_json() for fault in first.nodes] == [{"free_bytes": 0}] * 2
    assert second.faults == ["disk h0 (free 1GB, rate 1MiB/s)"]
    assert second.nodes[0].disk == ResolvedDisk(free_bytes=10**9, bytes_per_s=1 << 20)
    assert third.faults == ["release db0 db1"]


def test_nodes_have_their_disks_under_every_condition() -> None:
    at = "{1s: {disk: {nodes: db0 db1, free: 0B}}, 2s: {disk: {nodes: db0, rate: 1MiB/s}}}"
    text = TEXT.format(steps=at, end="duration: 10s").replace("conditions: [", "conditions: [none, ")
    resolved = resolve(parse_experiment(text.encode(), "small.yaml"))
    assert disk_nodes(resolved) == {"db0": True, "db1": False}
    assert with_disks({"db1": {"cpus_ppm": 1}}, resolved) == {
        "db0": {"disk": True, "disk_rate": True},
        "db1": {"cpus_ppm": 1, "disk": True, "disk_rate": False},
    }


def test_a_disk_is_of_a_node_whose_data_are_in_a_folder() -> None:
    rpc = "{rpc: {connections: 1, rate: 10/s, duration: 10s}}"
    text = TEXT.format(steps="{1s: {disk: {nodes: server, free: 0B}}}", end="duration: 10s")
    text = text.replace("{ycsb: {store: redis, workload: a, duration: 10s}}", rpc).replace("db0:", "server:")
    with pytest.raises(
        SpecErrors, match='names "server", and rpc has no folder with data of it; leave disk out'
    ):
        resolve(parse_experiment(text.encode(), "small.yaml"))


def test_a_clock_is_resolved_to_its_offset_and_rate() -> None:
    (step,) = steps("{1s: {restart: {nodes: db0, clock: {offset: -5s, rate: 1.0001}}}}")
    assert step.faults == ["restart db0 (clock -5s, rate 1.0001)"]
    clock = step.nodes[0].clock
    assert clock is not None
    assert clock.as_json() == {"offset_ns": -5 * 10**9, "rate_ppb": 1_000_100_000}


def test_a_step_may_change_places_and_have_faults() -> None:
    (step,) = steps("{1s: {link: [{delay: 1ms}], isolate: db0}}")
    assert step.places["link"]
    assert step.cuts


@pytest.mark.parametrize("end", ["operations: 1000", "duration: 10s"])
def test_a_killed_node_may_stay_dead_and_a_restart_needs_no_kill(end: str) -> None:
    assert len(steps("{1s: {kill: db0}, 2s: {restart: db1}, 3s: {restart: db0}, 4s: {kill: db0}}", end)) == 4


def test_a_network_without_an_application_cuts_and_leaves_nodes_alone(tmp_path: Path) -> None:
    text = "topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n"
    file = tmp_path / "setup.yaml"
    file.write_text(text + "condition: {x: {at: {1s: {isolate: a}}}}\n")
    condition = load_setup(file).resolved(1).conditions[0]
    assert carried_out(condition).has_cuts
    document = parse_document((text + "condition: {x: {at: {1s: {kill: a}}}}\n").encode(), "setup.yaml")
    with pytest.raises(CrosswindError, match=r"x: kill a at 1s .* `crosswind fault kill a`"):
        carried_out(setup_of(document).resolved(1).conditions[0])


def test_a_network_without_an_end_needs_until(tmp_path: Path) -> None:
    text = """\
topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}
condition: {x: {faults: {every: 2s, for: 1s, choose: [isolate]}}}
"""
    with pytest.raises(CrosswindError, match="x: faults needs `until`"):
        setup_of(parse_document(text.encode(), "setup.yaml")).resolved(1)
    ended = text.replace("[isolate]", "[isolate], until: 10s")
    (condition,) = setup_of(parse_document(ended.encode(), "setup.yaml")).resolved(1).conditions
    assert len(condition.timeline) == 8


def test_a_condition_of_the_catalogue_is_checked_against_the_application(tmp_path: Path) -> None:
    text = TEXT.format(steps="{1s: {pause: client}}", end="duration: 10s")
    with pytest.raises(SpecErrors, match=r"pause names \"client\", which measures"):
        parse_experiment(text.encode(), "small.yaml")
