"""Say what a run will do and how long it will take, before it does it."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from crosswind.plan.trials import Trial, planned

# What a trial takes besides its load: nodes up and down, servers started, data copied, results stored. An
# estimate for the first look only; a run replaces it by what its own trials took.
OVERHEAD_S = {"ycsb": 2.5, "rpc": 0.5}
OVERHEAD_S_OTHER = 2.5
NS_PER_S = 1_000_000_000


@dataclass(frozen=True)
class Outline:
    """What a run does.

    Attributes:
        trials: those that run in any case, in order.
        at_most: how many there can be if repeats grow; the same number if they do not.
        expected_s: time for `trials`; None when the application's load has no known end.
        expected_s_at_most: time for `at_most` trials.
        actions: what will be done to the machine, one sentence each.
    """

    name: str
    summary: str
    trials: list[Trial]
    at_most: int
    expected_s: float | None
    expected_s_at_most: float | None
    actions: list[str]
    warnings: list[str]
    preserved: list[str]

    def as_dict(self) -> dict[str, Any]:
        """Return the outline as plain values, for `--json`."""
        return {**vars(self), "trials": [trial.as_dict() for trial in self.trials]}


def outline(resolved: dict[str, Any]) -> Outline:
    """Return what running a resolved experiment will do."""
    trials = planned(resolved)
    at_most = resolved["trials"]["repeat"]["at_most"] * len(resolved["conditions"])
    one_s = trial_s(resolved)
    return Outline(
        name=resolved["name"],
        summary=resolved["summary"],
        trials=trials,
        at_most=at_most,
        expected_s=None if one_s is None else round(one_s * len(trials), 1),
        expected_s_at_most=None if one_s is None else round(one_s * at_most, 1),
        actions=_actions(resolved),
        warnings=list(resolved["warnings"]),
        preserved=list(resolved["preserved"]),
    )


def trial_s(resolved: dict[str, Any]) -> float | None:
    """Return the seconds that one trial takes with its rest; None when its load has no known end."""
    application = resolved["application"]
    duration_ns: int | None = application["parameters"].get("duration_ns")
    if duration_ns is None:
        return None
    warm_up_ns: int = application["parameters"].get("warm_up_ns") or 0
    rest_s: float = resolved["trials"]["rest_s"]
    overhead_s = OVERHEAD_S.get(application["name"], OVERHEAD_S_OTHER)
    return overhead_s + (warm_up_ns + duration_ns) / NS_PER_S + rest_s


def _actions(resolved: dict[str, Any]) -> list[str]:
    topology = resolved["topology"]
    placed = ", ".join(f"{node} on {host}" for node, host in topology["nodes"].items())
    load = resolved["application"]["name"]
    actions = [
        f"for each trial, make {len(topology['nodes'])} nodes ({placed}) in namespaces; remove them",
        f"run {load} in these nodes, as an unprivileged account",
        "forward every packet through one process, which takes up to one core: it spins before deadlines",
        f"write results below results/{resolved['name']}",
        "change no interface, route, firewall rule or sysctl of this machine; open no port on it",
    ]
    if any(
        entry["by"] == "iperf3" for condition in resolved["conditions"] for entry in condition["interference"]
    ):
        actions.insert(2, "run iperf3 in neighbour nodes, where a condition says `by: iperf3`")
    return actions
