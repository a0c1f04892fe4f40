"""Which short fingerprint a run takes of its network before the first trial and after the last."""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

from crosswind.plan.expected import planned_s
from crosswind.spec import Resolved

# Of the planned duration of the trials, so that a run is hardly longer for it, and never longer than that.
SHARE = 1 / 50
LONGEST_S = 30.0
# Shorter ones say too little of a network to be worth bringing it up.
SHORTEST_S = 2.0


@dataclass(frozen=True)
class PlannedFingerprint:
    """What is measured; `left_out` is why nothing is, and then the rest is None.

    Attributes:
        length_s: about how long it takes, each time.
        condition: the experiment's first.
        between: its first node, and the first one on another host.
    """

    length_s: float | None
    condition: str | None
    between: tuple[str, str] | None
    left_out: str | None

    def as_dict(self) -> dict[str, Any]:
        """Return it as provenance.json has it."""
        return asdict(self)


def planned_fingerprint(resolved: Resolved) -> PlannedFingerprint:
    """Return what a run of a resolved experiment measures."""
    run_s = planned_s(resolved)
    if run_s is None:
        return _left_out("how long the trials take is not known before the first")
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
    return PlannedFingerprint(length_s, resolved.conditions[0].name, (first, second), None)


def _left_out(why: str) -> PlannedFingerprint:
    return PlannedFingerprint(None, None, None, why)
