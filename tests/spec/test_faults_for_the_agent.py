"""The fabric gets the cuts of a timeline; faults of nodes stay with the runner."""

from crosswind.spec import condition_for_agent, fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.resolved import (
    Resolved,
    ResolvedClock,
    ResolvedCut,
    ResolvedNodeFault,
    ResolvedStep,
)

TEXT = """\
name: small
topology: {hosts: 2, uplink: {rate: 1Gbit/s, delay: 2us}, nodes: {server: h0, client: h1}}
conditions: [{whole: {}}, {broken: {at: {1s: {link: [{delay: 1ms}]}}}}]
application: {rpc: {duration: 5s}}
trials: {repeat: 1, rest: 0s}
"""
CUT = ResolvedCut(sources=["server"], targets=["client"], answer="reset")
KILL = ResolvedNodeFault(do="kill", node="server")
RESTART = ResolvedNodeFault(do="restart", node="server", clock=ResolvedClock(offset_ns=5))


def resolved(*steps: ResolvedStep) -> Resolved:
    """Return an experiment with a whole and a broken condition, the latter with these steps besides."""
    found = resolve(parse_experiment(TEXT.encode(), "small.yaml"))
    whole, broken = found.conditions
    broken = broken.model_copy(update={"timeline": [*broken.timeline, *steps]})
    return found.model_copy(update={"conditions": [whole, broken]})


def test_the_agent_gets_places_and_cuts_and_no_faults_of_nodes() -> None:
    found = resolved(
        ResolvedStep(at_ns=2, places={}, cuts=[CUT], nodes=[KILL], faults=["cut server -> client", "kill"]),
        ResolvedStep(at_ns=3, places={}, nodes=[RESTART], faults=["restart server"]),
        ResolvedStep(at_ns=4, places={}, cuts=[], faults=["heal"]),
    )
    first, *later = condition_for_agent(found.conditions[1]).timeline
    assert first.places["link"]
    assert [step.as_json() for step in later] == [
        {"at_ns": 2, "places": {}, "cuts": [{"from": ["server"], "to": ["client"], "answer": "reset"}]},
        {"at_ns": 4, "places": {}, "cuts": []},
    ]


def test_a_fabric_has_gates_under_every_condition_where_one_cuts() -> None:
    cuts = resolved(ResolvedStep(at_ns=2, places={}, cuts=[CUT]))
    kills = resolved(ResolvedStep(at_ns=2, places={}, nodes=[KILL]))
    assert [fabric_of(cuts, name).faults for name in ("whole", "broken")] == [True, True]
    assert fabric_of(cuts, "whole").as_json()["faults"] is True
    assert "faults" not in fabric_of(kills, "broken").as_json()


def test_a_machine_is_asked_for_clocks_under_every_condition_where_one_has_them() -> None:
    wrong = resolved(ResolvedStep(at_ns=2, places={}, nodes=[RESTART]))
    kills = resolved(ResolvedStep(at_ns=2, places={}, nodes=[KILL]))
    assert [fabric_of(wrong, name).clocks for name in ("whole", "broken")] == [True, True]
    assert not fabric_of(kills, "broken").clocks
    # It is no part of the fabric, and sent beside it.
    assert "clocks" not in fabric_of(wrong, "whole").as_json()


def test_faults_are_read_back_as_they_were_written() -> None:
    step = ResolvedStep(at_ns=2, places={}, cuts=[], nodes=[KILL, RESTART], faults=["heal", "kill server"])
    assert ResolvedStep.model_validate(step.as_json()) == step
    assert step.as_json()["nodes"] == [
        {"do": "kill", "node": "server"},
        {"do": "restart", "node": "server", "clock": {"offset_ns": 5}},
    ]


def test_a_cut_has_a_pair_for_every_source_and_other_target() -> None:
    cut = ResolvedCut(sources=["a", "b"], targets=["b", "c"])
    assert list(cut.pairs()) == [("a", "b"), ("a", "c"), ("b", "c")]
    assert cut.as_json() == {"from": ["a", "b"], "to": ["b", "c"]}
