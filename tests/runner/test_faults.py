"""What the timeline cut and did to nodes is noted with the instants that the fabric says."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from crosswind.app import Stage
from crosswind.results import Measurement
from crosswind.results.measurement import Fault
from crosswind.runner.faults import NodeFaults, check_faults, has_faults, with_faults
from crosswind.spec.resolved import REAL_TIME, ResolvedCondition
from crosswind.stream import Event, NodeFault, Stream
from crosswind.testbed import RunningFabric, TestbedError

S = 10**9
STARTED_NS = 100 * S

CONDITION = ResolvedCondition.model_validate(
    {
        "name": "broken",
        "timeline": [
            {
                "at_ns": S,
                "places": {},
                "cuts": [{"from": ["db0"], "to": ["db1"]}],
                "nodes": [{"do": "kill", "node": "db1"}],
                "faults": ["cut db0 -> db1", "kill db1"],
            },
            {"at_ns": 2 * S, "places": {}, "cuts": [], "faults": ["heal"]},
            {
                "at_ns": 9 * S,
                "places": {},
                "cuts": [{"from": ["db0"], "to": ["db1"]}],
                "faults": ["cut db0 -> db1"],
            },
        ],
    }
)


def measured(changes: list[dict[str, object]]) -> Measurement:
    return Measurement.model_validate(
        {
            "window": {
                "started_ns": STARTED_NS,
                "ended_ns": STARTED_NS + 5 * S,
                "realtime_minus_monotonic_ns": 0,
            },
            "wait_mode": "spin",
            "domains": 1,
            "ledger": {"packets": 0, "early": 0, "missed": 0, "bound_ns": 0},
            "conservation": {"holds": True},
            "host": {},
            "changes": changes,
        }
    )


def change(asked_s: int, late_ns: int) -> dict[str, object]:
    asked_ns = STARTED_NS + asked_s * S
    by = {"by": "timeline", "condition": "broken", "places": {}}
    return {"at_ns": asked_ns + late_ns, "asked_ns": asked_ns, **by}


KILLED = Fault(due_ns=101 * S, done_ns=101 * S + 5, words="kill db1", kind="kill", nodes=["db1"])


def test_faults_are_in_the_order_in_which_they_were_due_with_the_instants_of_the_network() -> None:
    found = with_faults(measured([change(1, 70), change(2, 80)]), CONDITION, [KILLED]).faults
    assert [(fault.words, fault.done_ns - fault.due_ns, fault.nodes) for fault in found] == [
        ("kill db1", 5, ["db1"]),
        ("cut db0 -> db1", 70, ["db0", "db1"]),
        ("heal", 80, []),
    ]
    check_faults(found)
    assert has_faults(CONDITION)
    assert not has_faults(ResolvedCondition(name="none"))


def test_a_cut_that_the_network_did_not_make_fails_the_trial() -> None:
    found = with_faults(measured([change(2, 80)]), CONDITION, []).faults
    with pytest.raises(TestbedError, match="fault cut db0 -> db1: not carried out: the network"):
        check_faults(found)


def test_what_failed_after_a_fault_that_was_not_carried_out_is_named_behind_it() -> None:
    failed = KILLED.model_copy(update={"error": "no"})
    with pytest.raises(TestbedError, match="fault kill db1: not carried out: no; then load: gone"):
        check_faults([failed], TestbedError("load: gone"))


class Struck(RunningFabric):
    """A network in which everything is due, and which answers when it did it."""

    time = REAL_TIME

    def __init__(self) -> None:
        """Nothing is up."""

    def strike(self, strike: str, nodes: Sequence[str], at_ns: int | None = None) -> int:
        if "nobody" in nodes:
            raise TestbedError("nobody: there is no such node")
        return (at_ns or 0) + 7

    def now_ns(self) -> int:
        return 1000 * S


def test_what_was_done_to_nodes_is_in_the_stream_and_what_was_not_is_no_event() -> None:
    nodes = [{"do": "pause", "node": "a"}, {"do": "pause", "node": "b"}, {"do": "kill", "node": "nobody"}]
    step = {"at_ns": S, "places": {}, "nodes": nodes, "faults": ["pause a b", "kill nobody"]}
    condition = ResolvedCondition.model_validate({"name": "broken", "timeline": [step]})
    stream = Stream[Event]()
    events = stream.subscribe()
    # Only a restart needs the application.
    with NodeFaults(condition, None, {}, stream) as faults:
        faults.begin(Stage(Struck(), Path(), 1, {}), STARTED_NS)
        first = events.take(timeout_s=30)
        faults._thread.join()
    assert first == NodeFault(
        at_ns=101 * S + 7, due_ns=101 * S, kind="pause", nodes=("a", "b"), words="pause a b", by="timeline"
    )
    stream.end()
    assert list(events) == []
    assert [fault.error for fault in faults.done] == [None, "nobody: there is no such node"]
