"""Turn a resolved experiment and a condition into the fabric that the agent builds (contracts.md, section 1).

Interference by ghosts stays with the condition: the engine makes it. Interference by iperf3 leaves the
condition and becomes neighbour nodes, on which the runner starts real processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

# A receiver's interrupt coalescing: segments of one super-packet due within this time are handed over
# together.
MERGE_WINDOW_NS = 20_000


def fabric_of(
    resolved: dict[str, Any], condition: str, seed: int | None = None, auto_domains: int = 1
) -> dict[str, Any]:
    """Return the fabric under a condition.

    Args:
        condition: a name in `resolved["conditions"]`.
        seed: the trial's; the experiment's own when absent.
        auto_domains: what `domains: auto` comes to on the machine that carries the packets
            (crosswind/doctor/domains.py).

    Raises: KeyError: the experiment has no such condition.
    """
    fabric = _fabric(
        resolved, condition_of(resolved, condition), resolved["trials"]["seed"] if seed is None else seed
    )
    domains = domains_of(resolved, auto_domains)
    return fabric if count_of(domains) == 1 else {**fabric, "domains": domains}


def domains_of(resolved: Mapping[str, Any], auto_domains: int) -> int | list[list[str]]:
    """Return how many domains a network has, or which, where `auto` comes to `auto_domains`."""
    # A folder of an earlier version has none.
    declared: str | int | list[list[str]] = resolved["topology"].get("domains", "auto")
    return auto_domains if isinstance(declared, str) else declared


def count_of(domains: int | Sequence[Any]) -> int:
    """Return how many domains these are."""
    return domains if isinstance(domains, int) else len(domains)


def limits_of(resolved: Mapping[str, Any]) -> dict[str, dict[str, int | None]]:
    """Return the limits of nodes, as the agent takes them (contracts.md, section 2)."""
    # A folder of an earlier version has none.
    return dict(resolved["topology"].get("limits", {}))


def condition_of(resolved: dict[str, Any], name: str) -> dict[str, Any]:
    """Return one condition of a resolved experiment.

    Raises: KeyError: there is no such condition.
    """
    for condition in resolved["conditions"]:
        if condition["name"] == name:
            return dict(condition)
    raise KeyError(name)


def real_interference(resolved: dict[str, Any], condition: str) -> list[dict[str, Any]]:
    """Return the interference that the runner carries out with iperf3, each with its two `nodes`."""
    return [
        {**entry, "nodes": [name for name, _ in _neighbours(entry)]}
        for entry in condition_of(resolved, condition)["interference"]
        if entry["by"] == "iperf3"
    ]


def condition_for_agent(condition: dict[str, Any]) -> dict[str, Any]:
    """Return a resolved condition as the agent takes it: without summary and real interference."""
    return {
        "name": condition["name"],
        "places": condition["places"],
        "interference": [entry for entry in condition["interference"] if entry["by"] == "ghost"],
        "timeline": condition["timeline"],
    }


def _fabric(resolved: dict[str, Any], condition: dict[str, Any], seed: int) -> dict[str, Any]:
    topology = resolved["topology"]
    nodes = [{"name": name, "host": host} for name, host in topology["nodes"].items()]
    # After the real nodes, so that these have the same addresses under every condition.
    for entry in condition["interference"]:
        if entry["by"] == "iperf3":
            nodes += [{"name": name, "host": host} for name, host in _neighbours(entry)]
    return {
        "seed": seed,
        **{key: topology[key] for key in ("hosts", "switches", "links", "routes")},
        "nodes": nodes,
        "mtu_bytes": topology["mtu_bytes"],
        "tcp": dict(resolved["tcp"]),
        "merge_window_ns": MERGE_WINDOW_NS,
        "wait": topology["wait"],
        "condition": condition_for_agent(condition),
    }


def _neighbours(entry: dict[str, Any]) -> list[tuple[str, str]]:
    """Return (node, host) of the two ends: a node of its own for each host and pair."""
    first, second = entry["between"]
    return [(f"noise-{first}-{second}", first), (f"noise-{second}-{first}", second)]
