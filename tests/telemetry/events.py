"""A network, and events of it and of a run, for the tests of this folder."""

from __future__ import annotations

from typing import Any

from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import ResolvedCut
from crosswind.stream import (
    Change,
    ConditionSoFar,
    FigureOfTrial,
    Lateness,
    NodeFault,
    OperationsStep,
    Row,
    RunBegun,
    SoFar,
    Step,
    TrialBegun,
    TrialEnded,
)

NETWORK = Network(
    "graph",
    ("h0", "h1"),
    ("s0", "s1"),
    tuple(
        Link(source, target, 10**9)
        for one, other in (("h0", "s0"), ("h1", "s1"), ("s0", "s1"))
        for source, target in ((one, other), (other, one))
    ),
    {"db": "h0", "user": "h1"},
)


def step(domain: int = 0, window: int = 1, **changes: Any) -> Step:
    parts: dict[str, Any] = {
        "rows": (), "credit": (), "changes": (), "stalls": (), "left_out": 0, "made_ns": 0,
        "lateness": Lateness(packets=0, early=0, missed=0, max_ns=0),
    }  # fmt: skip
    return Step(event="step", domain=domain, at_ns=1, window_started_ns=window, **(parts | changes))


def row(element: str, packet_class: Any = "real", **counts: int) -> Row:
    none = dict.fromkeys(
        ("arrived_bytes", "departed_bytes", "dropped_packets", "dropped_bytes", "queued_bytes"), 0
    )
    return Row(at_ns=1, element=element, packet_class=packet_class, **(none | counts))


def change(condition: str, by: Any = "set", cuts: list[ResolvedCut] | None = None) -> Change:
    return Change(at_ns=1, asked_ns=1, by=by, condition=condition, places={}, cuts=cuts)


def fault(kind: Any, *nodes: str, by: Any = "hand") -> NodeFault:
    return NodeFault(at_ns=1, due_ns=1, kind=kind, nodes=nodes, words=f"{kind} {' '.join(nodes)}", by=by)


def operations(ended: int, failed: int = 0, median_ns: int | None = 1_000_000) -> OperationsStep:
    return OperationsStep(
        application="rpc", node="user", at_ns=1, length_ns=100_000_000, ended=ended, failed=failed,
        median_ns=median_ns, p99_ns=median_ns and 2 * median_ns, slowest_ns=median_ns and 3 * median_ns,
    )  # fmt: skip


BEGUN = RunBegun(
    name="try", summary="", folder="/results/try", application="rpc", conditions=("none", "far"),
    baseline="none", trials=4, ended=1,
)  # fmt: skip


def begun(trial: str, ended: int = 1) -> TrialBegun:
    return TrialBegun(
        trial=trial, attempt=2, condition="far", block=3, ended=ended, trials=4, left_s=12.5
    )  # fmt: skip


def ended(trial: str, status: Any = "done", fidelity: Any = "faithful", explored: bool = False) -> TrialEnded:
    figures = (FigureOfTrial(name="P99", value=2e6, unit="ns"), FigureOfTrial(name="sent", value=7, unit="B"))
    return TrialEnded(
        trial=trial, attempt=2, condition="far", block=3, status=status, reason=None, fidelity=fidelity,
        fidelity_reason=None, explored=explored, duration_s=1.0, figures=figures if status == "done" else (),
    )  # fmt: skip


def condition(name: str, trials: int, value: float | None, low: float | None) -> ConditionSoFar:
    return ConditionSoFar(
        condition=name, trials=trials, value=value, low=low, high=low and low + 2e6,
        needed=None if low else 3, settled=False,
    )  # fmt: skip


SO_FAR = SoFar(
    figure="P99", unit="ns", better="lower", confidence=0.95, blocks=2, blocks_planned=6,
    conditions=(condition("none", 6, 2e6, 1e6), condition("far", 1, 9e6, None)),
)  # fmt: skip
