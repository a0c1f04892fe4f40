"""A nemesis is drawn by its seed: the same faults again, each with its end; nodes that measure are spared."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crosswind.spec import resolve
from crosswind.spec.faults.keys import FAULTS, FaultKeys
from crosswind.spec.faults.nemesis import Nemesis, Targets, faults_of, most_faults
from crosswind.spec.load import parse_experiment
from crosswind.spec.resolved import ResolvedCondition

KINDS = ["partition", "isolate", "cut", "pause", "kill", "squeeze"]
NODES = ["db0", "db1", "db2", "db3"]
S = 10**9


@st.composite
def nemeses(draw: st.DrawFn) -> Nemesis:
    low = draw(st.integers(2, 20))
    high = draw(st.integers(low, 30))
    written: dict[str, Any] = {
        "every": {"between": [f"{low}s", f"{high}s"]},
        "choose": draw(st.lists(st.sampled_from(KINDS), min_size=1, unique=True)),
        "for": f"{draw(st.integers(1, low - 1))}s",
        "seed": draw(st.integers(0, 10**6)),
    }
    return Nemesis.model_validate(written)


def targets(until_s: int = 300) -> Targets:
    return Targets(NODES, NODES[:2], until_s * S)


def kind_of(faults: FaultKeys) -> str:
    (kind,) = [key for key in FAULTS if getattr(faults, key) is not None]
    return kind


def named(faults: FaultKeys) -> list[str]:
    """Return the nodes that a fault names."""
    fault = getattr(faults, kind_of(faults))
    match kind_of(faults):
        case "partition":
            return [node for group in fault.groups for node in group]
        case "cut":
            return [*fault.sources, *fault.targets]
        case "isolate" | "squeeze" | "restart":
            return list(fault.nodes)
        case "heal":
            return []
    return list(fault)


@given(nemeses())
def test_the_same_seed_gives_the_same_faults_at_the_same_instants(nemesis: Nemesis) -> None:
    again = Nemesis.model_validate(nemesis.model_dump(by_alias=True, exclude_none=True) | _times(nemesis))
    assert faults_of(nemesis, targets()) == faults_of(again, targets())


def _times(nemesis: Nemesis) -> dict[str, Any]:
    low, high = nemesis.every.between
    return {"every": {"between": [f"{low}ns", f"{high}ns"]}, "for": f"{nemesis.length_ns}ns"}


@given(nemeses(), st.integers(1, 300))
def test_every_fault_ends_after_its_time_and_before_the_next(nemesis: Nemesis, until_s: int) -> None:
    found = list(faults_of(nemesis, targets(until_s)).items())
    assert [at_ns for at_ns, _ in found] == sorted(at_ns for at_ns, _ in found)
    assert len(found) <= 2 * most_faults(nemesis, until_s * S)
    ends = {"pause": "resume", "kill": "restart", "squeeze": "release"}
    before_ns = 0
    for (begin_ns, begin), (end_ns, end) in zip(found[::2], found[1::2], strict=True):
        assert end_ns - begin_ns == nemesis.length_ns
        assert nemesis.every.between[0] <= begin_ns - before_ns <= nemesis.every.between[1]
        assert kind_of(end) == ends.get(kind_of(begin), "heal")
        assert named(end) == (named(begin) if kind_of(begin) in ends else [])
        before_ns = begin_ns
    assert all(at_ns < until_s * S for at_ns, _ in found)


@given(nemeses())
def test_it_hits_the_nodes_that_it_may_hit_and_kills_those_that_start_again(nemesis: Nemesis) -> None:
    for faults in faults_of(nemesis, targets()).values():
        assert set(named(faults)) <= set(NODES)
        if faults.kill is not None:
            assert set(faults.kill) <= set(NODES[:2])
        if faults.partition is not None:
            assert len(faults.partition.groups) == 2
            assert sorted(named(faults)) == NODES


def test_all_kinds_and_nodes_are_drawn() -> None:
    nemesis = Nemesis.model_validate({"every": "2s", "choose": KINDS, "for": "1s", "seed": 7})
    found = list(faults_of(nemesis, targets(600)).values())
    assert {kind_of(faults) for faults in found} == {*KINDS, "heal", "resume", "restart", "release"}
    assert {node for faults in found if faults.isolate for node in named(faults)} == set(NODES)


def test_the_faults_of_a_seed_do_not_change_between_versions() -> None:
    # A change here changes experiments that others have published.
    nemesis = Nemesis.model_validate(
        {"every": {"between": ["5s", "15s"]}, "choose": ["isolate", "kill"], "for": "3s", "seed": 7}
    )
    found = faults_of(nemesis, targets(40))
    assert [(at_ns // 10**6, kind_of(faults), named(faults)) for at_ns, faults in found.items()] == [
        (8238, "isolate", ["db2"]),
        (11238, "heal", []),
        (13962, "kill", ["db0"]),
        (16962, "restart", ["db0"]),
        (19542, "kill", ["db0"]),
        (22542, "restart", ["db0"]),
        (28878, "isolate", ["db0"]),
        (31878, "heal", []),
    ]


def condition(faults: str, application: str = "ycsb: {store: redis, workload: a, duration: 60s}") -> str:
    return f"""\
name: small
topology:
  hosts: 4
  uplink: {{rate: 1Gbit/s, delay: 2us}}
  nodes: {{db0: h0, db1: h1, db2: h2, client: h3}}
conditions: [{{drawn: {{faults: {faults}, at: {{1s: {{link: [{{delay: 1ms}}]}}}}}}}}]
application: {{{application}}}
trials: {{repeat: 1, rest: 0s}}
"""


def resolved(text: str) -> ResolvedCondition:
    return resolve(parse_experiment(text.encode(), "small.yaml")).conditions[0]


@settings(max_examples=20)
@given(st.integers(0, 10**6))
def test_a_node_that_measures_is_never_hit(seed: int) -> None:
    found = resolved(condition(f"{{every: 2s, for: 1s, choose: {KINDS}, seed: {seed}}}"))
    assert found.timeline[0].places["link"]
    assert all("client" not in " ".join(step.faults) for step in found.timeline)
    assert all(fault.node != "client" for step in found.timeline for fault in step.nodes)
    at_ns = [step.at_ns for step in found.timeline]
    assert at_ns == sorted(set(at_ns))
    assert found.timeline[-1].at_ns < 60 * S


def test_only_named_nodes_are_hit_until_an_instant() -> None:
    found = resolved(
        condition("{every: 2s, for: 1s, choose: [isolate], nodes: [db2, client], until: 10s, answer: reset}")
    )
    faults = [(step.at_ns // S, *step.faults) for step in found.timeline if step.faults]
    assert [at for at, _ in faults] == [2, 3, 4, 5, 6, 7, 8, 9]
    assert {words for _, words in faults} == {"isolate db2 (reset)", "isolate client (reset)", "heal"}


@pytest.mark.parametrize(
    ("faults", "application", "message"),
    [
        ("{every: 2s, for: 1s, choose: [pause]}", "traffic: {pattern: ring, duration: 9s}", "no node to hit"),
        (
            "{every: 2s, for: 1s, choose: [pause]}",
            "ycsb: {store: redis, workload: a, operations: 100}",
            "needs `until`",
        ),
    ],
)
def test_a_nemesis_without_nodes_or_an_end_is_refused(faults: str, application: str, message: str) -> None:
    with pytest.raises(Exception, match=message):
        resolved(condition(faults, application))
