"""What a run will do and how long it will take, before it starts."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.plan.expected import Expected, expected
from crosswind.plan.faults_text import faults_of
from crosswind.plan.fingerprint import planned_fingerprint
from crosswind.plan.placement import Placement, placement_of
from crosswind.plan.trials import Trial, planned
from crosswind.spec import Resolved, applications, count_of, disk_nodes, domains_of
from crosswind.spec.description import descriptions
from crosswind.spec.network import Network
from crosswind.spec.resolved import ResolvedLevel, number
from crosswind.topology import network_line


@dataclass(frozen=True)
class Outline:
    """What a run does.

    Attributes:
        trials: those that always run, in order.
        at_most: the largest number of trials; more than `trials` where repeats can grow.
        expected: time for `trials`.
        expected_at_most: time for `at_most` trials.
        not_counted: what is not in these times, one phrase each.
        factors: what varies between conditions, with its levels as written.
        points: the level of each factor, by condition; nothing of conditions without factors.
        adaptive: whether which conditions are run follows from what was measured.
        network: what the network is, in one line.
        domains: how many threads of the emulator carry it, or what each of them carries; None where one
            carries everything and nothing is declared.
        dilations: how many times slower time passes in the nodes, each once; None where nothing slows it.
        faults: of each condition that has some, by their instants, ns, in words.
        placement: what is on which machine; None where it is all on this one.
        actions: what will be done to the machine, one sentence each.
    """

    name: str
    summary: str
    trials: list[Trial]
    at_most: int
    expected: Expected
    expected_at_most: Expected
    not_counted: list[str]
    factors: dict[str, list[str]]
    points: dict[str, dict[str, ResolvedLevel]]
    adaptive: bool
    network: str
    domains: int | list[list[str]] | None
    dilations: tuple[int | None, ...]
    faults: dict[str, list[tuple[int, str]]]
    placement: Placement | None
    actions: list[str]
    warnings: list[str]
    preserved: list[str]

    def as_dict(self) -> dict[str, object]:
        """Return the outline as plain values, for `--json`."""
        return {
            **vars(self),
            "trials": [trial.as_dict() for trial in self.trials],
            "faults": {
                name: [{"at_ns": at_ns, "words": words} for at_ns, words in found]
                for name, found in self.faults.items()
            },
            "placement": None if self.placement is None else self.placement.as_dict(),
            "expected": self.expected.as_dict(),
            "expected_at_most": self.expected_at_most.as_dict(),
        }


def outline(resolved: Resolved, auto_domains: int = 1, *, is_prepared: bool = True) -> Outline:
    """Return what running a resolved experiment will do.

    Args:
        auto_domains: the value of `domains: auto` on the machine that it would run on.
        is_prepared: whether that machine has the data that every trial starts from.
    """
    trials = planned(resolved)
    conditions = len(resolved.conditions)
    if resolved.design is not None:
        conditions = min(conditions, resolved.design.adaptive.at_most)
    at_most = resolved.trials.repeat.at_most * conditions
    fingerprints_s = 2 * (planned_fingerprint(resolved).length_s or 0.0)
    domains, network = domains_of(resolved, auto_domains), Network.of(resolved.topology)
    return Outline(
        name=resolved.name,
        summary=resolved.summary or "",
        trials=trials,
        at_most=at_most,
        expected=expected(resolved, len(trials), fingerprints_s),
        expected_at_most=expected(resolved, at_most, fingerprints_s),
        not_counted=_not_counted(resolved, is_prepared),
        factors={name: factor.levels for name, factor in resolved.factors.items()},
        points={condition.name: condition.factors for condition in resolved.conditions if condition.factors},
        adaptive=resolved.design is not None,
        network=network_line(network),
        domains=None if network.domains == "auto" and domains == 1 else domains,
        dilations=resolved.dilations,
        faults={each.name: faults for each in resolved.conditions if (faults := faults_of(each))},
        placement=placement_of(resolved),
        actions=_actions(resolved, count_of(domains)),
        warnings=list(resolved.warnings),
        preserved=list(resolved.preserved),
    )


def _not_counted(resolved: Resolved, is_prepared: bool) -> list[str]:
    name = resolved.application.name
    found = [] if is_prepared else [f"making the data of {name}, once, before the first trial"]
    found += [uncounted] if (uncounted := applications.uncounted(name)) else []
    return [*found, "a void trial runs again, twice at most"]


def _disks(resolved: Resolved) -> Iterator[str]:
    nodes = disk_nodes(resolved)
    if nodes:
        yield (
            f"put a copy of the data of {', '.join(nodes)} on a file system of its own, on a loop device "
            "that ends with the node"
        )


def _actions(resolved: Resolved, domains: int) -> list[str]:
    nodes = resolved.topology.nodes
    placed = ", ".join(f"{node} on {host}" for node, host in nodes.items())
    load = resolved.application.name
    each = "" if resolved.testbed is None else " on each machine"
    actions = [
        f"for each trial, make {len(nodes)} nodes ({placed}) in namespaces; remove them",
        *_disks(resolved),
        f"run {load} in these nodes, as an unprivileged account",
        f"forward every packet through one process{each}, which takes up to "
        + ("one core: it spins" if domains == 1 or each else f"{domains} cores: its threads spin")
        + " before deadlines",
        f"write results below results/{resolved.name}",
        "change no interface, route, firewall rule or sysctl of this machine; open no port on it",
    ]
    if resolved.trials.rest_s is None:
        longest_s = _longest_rest_s(resolved)
        actions.insert(
            1,
            f"rest before each until its credit buckets hold what they first held: {longest_s:.3g} s at most",
        )
    if any(condition.is_real for condition in resolved.conditions):
        actions.insert(2, "run iperf3 in neighbour nodes, where a condition says `by: iperf3`")
    if resolved.testbed is not None:
        names = ", ".join(machine.name for machine in resolved.testbed.machines)
        actions.insert(0, f"copy the agent to ~/.cache/crosswind on {names}, where it is not there already")
        actions.append("on the other machines: open a UDP port; remove the files of the run at its end")
    fingerprint = planned_fingerprint(resolved)
    if fingerprint.between is not None:
        ends, length_s = " to ".join(fingerprint.between), fingerprint.length_s
        actions.insert(
            0,
            f"measure the network from {ends} under {fingerprint.condition} for about {length_s:g} s, after "
            "the first block of trials and after the last",
        )
    return actions


def _longest_rest_s(resolved: Resolved) -> float:
    """Return the longest time in which a credit bucket refills from empty to its initial content."""
    times_s = [
        (number(parameters, "initial_bits") or 0) / (number(parameters, "refill_bps") or 1)
        for condition in resolved.conditions
        for elements in condition.places.values()
        for element in elements
        for kind, parameters in element.items()
        if descriptions()[kind].drains
    ]
    return max(times_s)
