"""A fault by hand is read as one of a file, and refused in words for the command line."""

from __future__ import annotations

import pytest
from pydantic import JsonValue

from crosswind.spec.document import document_of
from crosswind.spec.faults.by_hand import FaultRefused, fault_by_hand
from crosswind.spec.resolved import ResolvedCut
from crosswind.spec.setup import Setup, setup_of

TOPOLOGY = {
    "hosts": 3,
    "uplink": {"rate": "1Gbit/s", "delay": "0us"},
    "nodes": {"db0": "h0", "db1": "h1", "db2": "h2"},
}


@pytest.fixture
def setup() -> Setup:
    return setup_of(document_of({"topology": TOPOLOGY}, "net"))


def cut(sources: list[str], targets: list[str]) -> ResolvedCut:
    return ResolvedCut(sources=sources, targets=targets)


@pytest.mark.parametrize(
    ("key", "value", "cuts", "words"),
    [
        (
            "partition",
            "db0 h1 | db2",
            [cut(["db0", "db1"], ["db2"]), cut(["db2"], ["db0", "db1"])],
            "partition db0 h1 | db2",
        ),
        ("isolate", ["db1"], [cut(["db1"], ["db0", "db2"]), cut(["db0", "db2"], ["db1"])], "isolate db1"),
        ("cut", "db0 -> db1", [cut(["db0"], ["db1"])], "cut db0 -> db1"),
    ],
)
def test_names_become_nodes(
    setup: Setup, key: str, value: JsonValue, cuts: list[ResolvedCut], words: str
) -> None:
    step = fault_by_hand(setup, key, value)
    assert (step.cuts, step.faults) == (cuts, [words])


@pytest.mark.parametrize("key", ["pause", "resume", "kill", "restart"])
def test_what_happens_to_nodes_needs_no_application(setup: Setup, key: str) -> None:
    step = fault_by_hand(setup, key, ["db0", "h1"])
    assert [(fault.do, fault.node) for fault in step.nodes] == [(key, "db0"), (key, "db1")]
    assert step.faults == [f"{key} db0 h1"]
    with pytest.raises(FaultRefused, match=f'^{key} names "nobody", which is not a node or host; [^;]*$'):
        fault_by_hand(setup, key, "nobody")


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("partition", "db0 | nobody", 'partition names "nobody", which is not a node or host'),
        ("partition", "db0 | db0", 'partition names "db0" twice'),
        ("partition", "db0", "partition has 1 group, and cuts nothing; write two"),
        ("partition", "", "partition .* has an empty group"),
        ("isolate", ["db0", "h0"], 'isolate names "db0" twice'),
        ("cut", "db0 <-> db1", 'cut "db0 <-> db1" is not one way'),
        ("cut", "db0 -> db0", 'cut names "db0" on both sides'),
        ("restart", ["db0", "h0"], 'restart: item 2 names "db0" twice'),
    ],
)
def test_what_cuts_nothing_is_refused_without_a_place_in_a_file(
    setup: Setup, key: str, value: JsonValue, message: str
) -> None:
    with pytest.raises(FaultRefused, match=f"^{message}"):
        fault_by_hand(setup, key, value)
