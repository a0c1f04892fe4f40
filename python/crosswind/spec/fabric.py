"""Turn a resolved experiment and a condition into the fabric that the agent builds (contracts.md, section 1).

Interference by ghosts stays in the condition: the engine makes it. Interference by iperf3 is taken out of the
condition and becomes neighbour nodes, on which the runner starts real processes.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from crosswind.spec.resolved import (
    AnyResolved,
    FabricCondition,
    FabricNode,
    FabricSpec,
    RequestedLimits,
    Resolved,
    ResolvedCondition,
    ResolvedInterference,
    dilation_of,
)

# Like a receiver's interrupt coalescing: segments of one super-packet that are due within this time are
# delivered together.
MERGE_WINDOW_NS = 20_000


def fabric_of(
    resolved: AnyResolved, condition: str, seed: int | None = None, auto_domains: int = 1
) -> FabricSpec:
    """Return the fabric under a condition.

    Args:
        condition: the name of one of `resolved.conditions`.
        seed: the trial's; the experiment's own when absent.
        auto_domains: what `domains: auto` means on the machine that carries the packets
            (crosswind/doctor/domains.py).

    Raises: KeyError: the experiment has no condition of this name.
    """
    fabric = _fabric(
        resolved, condition_of(resolved, condition), resolved.trials.seed if seed is None else seed
    )
    domains = domains_of(resolved, auto_domains)
    return fabric if count_of(domains) == 1 else fabric.with_changes(domains=domains)


def domains_of(resolved: AnyResolved, auto_domains: int) -> int | list[list[str]]:
    """Return how many domains a network has, or which, where `auto` means `auto_domains`."""
    declared = resolved.topology.domains
    return auto_domains if isinstance(declared, str) else declared


def count_of(domains: int | Sequence[Sequence[str]]) -> int:
    """Return the number of domains."""
    return domains if isinstance(domains, int) else len(domains)


def limits_of(resolved: AnyResolved) -> dict[str, RequestedLimits]:
    """Return the limits of nodes, as the agent takes them (contracts.md, section 2).

    Nodes that a condition squeezes are prepared for that under every condition.
    """
    squeezed = {
        fault.node
        for condition in resolved.conditions
        for step in condition.timeline
        for fault in step.nodes
        if fault.do == "squeeze"
    }
    limits = resolved.topology.limits
    return {**limits, **{node: {**limits.get(node, {}), "changing": True} for node in sorted(squeezed)}}


def disk_nodes(resolved: AnyResolved) -> dict[str, bool]:
    """Return the nodes whose disk a condition makes full or slow, and whether one makes it slow.

    They have a disk of their own under every condition, so that conditions differ in the fault alone.
    """
    found: dict[str, bool] = {}
    for condition in resolved.conditions:
        for fault in (fault for step in condition.timeline for fault in step.nodes):
            if fault.disk is not None:
                slow = fault.disk.bytes_per_s is not None
                found[fault.node] = found.get(fault.node, False) or slow
    return found


def with_disks(limits: Mapping[str, RequestedLimits], resolved: AnyResolved) -> dict[str, RequestedLimits]:
    """Return limits of nodes with those of the disks that some have."""
    disks = disk_nodes(resolved)
    return {
        **limits,
        **{node: {**limits.get(node, {}), "disk": True, "disk_rate": slow} for node, slow in disks.items()},
    }


def condition_of(resolved: AnyResolved, name: str) -> ResolvedCondition:
    """Return one condition of a resolved experiment.

    Raises: KeyError: no condition has this name.
    """
    for condition in resolved.conditions:
        if condition.name == name:
            return condition
    raise KeyError(name)


def real_interference(resolved: AnyResolved, condition: str) -> list[ResolvedInterference]:
    """Return the interference that the runner carries out with iperf3."""
    return [entry for entry in condition_of(resolved, condition).interference if entry.is_real]


def condition_for_agent(condition: ResolvedCondition) -> FabricCondition:
    """Return a resolved condition as the agent takes it: without what the runner does itself."""
    return FabricCondition(
        name=condition.name,
        places=condition.places,
        interference=[entry for entry in condition.interference if not entry.is_real],
        timeline=[step for each in condition.timeline if (step := each.of_fabric()) is not None],
    )


def _fabric(resolved: AnyResolved, condition: ResolvedCondition, seed: int) -> FabricSpec:
    topology = resolved.topology
    nodes = [FabricNode(name=name, host=host) for name, host in topology.nodes.items()]
    # After the real nodes, so that these have the same addresses under every condition.
    for entry in condition.interference:
        if entry.is_real:
            ends = zip(neighbours(entry), entry.between, strict=True)
            nodes += [FabricNode(name=name, host=host) for name, host in ends]
    return FabricSpec(
        seed=seed,
        hosts=topology.hosts,
        switches=topology.switches,
        links=topology.links,
        routes=topology.routes,
        nodes=nodes,
        mtu_bytes=topology.mtu_bytes,
        tcp=resolved.tcp,
        merge_window_ns=MERGE_WINDOW_NS,
        wait=topology.wait,
        condition=condition_for_agent(condition),
        overlay=resolved.overlay if isinstance(resolved, Resolved) else None,
        dilation=dilation_of(resolved, condition),
        # Under every condition, so that elements have the same numbers in all of them.
        faults=any(each.has_cuts for each in resolved.conditions),
        # Likewise, so that a machine that cannot is found out before the first trial.
        clocks=any(each.has_clocks for each in resolved.conditions),
    )


def neighbours(entry: ResolvedInterference) -> tuple[str, str]:
    """Return the nodes at the two ends of real interference: one for each host and pair."""
    first, second = entry.between
    return f"noise-{first}-{second}", f"noise-{second}-{first}"
