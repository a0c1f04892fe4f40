"""The short fingerprint that a run takes of its network after the first block and after the last."""

from __future__ import annotations

from crosswind.plan.expected import planned_s
from crosswind.results.provenance import PlannedFingerprint
from crosswind.spec import Resolved

# A share of the planned duration of the trials, so that a run takes hardly longer.
SHARE = 1 / 50
LONGEST_S = 30.0
# A shorter one shows too little of a network to justify bringing it up.
SHORTEST_S = 2.0


def planned_fingerprint(resolved: Resolved) -> PlannedFingerprint:
    """Return the fingerprint that a run of a resolved experiment takes."""
    if resolved.testbed is not None:
        return _left_out("the network is on other machines")
    if resolved.backend is not None:
        return _left_out(
            f"it is of the emulator's network, and backend {resolved.backend.name} carries the trials"
        )
    if any(factor is not None for factor in resolved.dilations):
        return _left_out("its tools measure in real time, and the trials do not")
    run_s = planned_s(resolved)
    if run_s is None:
        return _left_out("the duration of the trials is unknown before the first")
    if run_s * SHARE < SHORTEST_S:
        return _left_out(
            f"a fiftieth of the trials' {run_s:.0f} s is less than the {SHORTEST_S:g} s that one takes"
        )
    hosts = resolved.topology.nodes
    first, host = next(iter(hosts.items()))
    second = next((node for node in hosts if hosts[node] != host), None)
    if second is None:
        return _left_out("all nodes are on one host")
    length_s = round(min(LONGEST_S, run_s * SHARE), 1)
    return PlannedFingerprint(
        length_s=length_s, condition=resolved.conditions[0].name, between=(first, second), left_out=None
    )


def _left_out(why: str) -> PlannedFingerprint:
    return PlannedFingerprint(length_s=None, condition=None, between=None, left_out=why)
