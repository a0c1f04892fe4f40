"""A placement: what is on which machine, which links are cut, and which are too short for that."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass

from crosswind.plan.placement.bonds import bonds_of
from crosswind.plan.placement.choose import chosen
from crosswind.plan.placement.parts import Edge, MachineCores
from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import Resolved, ResolvedTestbed
from crosswind.spec.testbed import placed_by_hand
from crosswind.text.quantities import time_text

_SHOWN = 10


@dataclass(frozen=True)
class CutLink:
    """A link between two machines."""

    link: str
    delay_ns: int
    source: str
    target: str


@dataclass(frozen=True)
class ShortLink:
    """A link whose ends stay on one machine; `why` says what it lacks."""

    link: str
    why: str


@dataclass(frozen=True)
class Placement:
    """The machine of every part of a network.

    Attributes:
        machine_of: of each switch and host.
        demand: cores that the nodes on each machine take, by machine; a machine without any has nothing.
        cuts: links between two machines.
        short: links that cannot be cut.
        shortest_cut_ns: least delay of a link that can be cut.
        network: what carries packets between machines: `udp` or `native`.
        interfaces: of raw Ethernet, by machine, where the file names them.
        problems: why it cannot be carried out; thing, value, rule, remedy.
        notes: what is possible and may surprise.
    """

    machine_of: Mapping[str, str]
    demand: Mapping[str, float]
    cuts: Sequence[CutLink]
    short: Sequence[ShortLink]
    shortest_cut_ns: int
    network: str
    interfaces: Mapping[str, str]
    problems: Sequence[str]
    notes: Sequence[str]

    @property
    def parts(self) -> dict[str, list[str]]:
        """Switches and hosts of each machine that has some; the lists are `domains` of a fabric."""
        found: dict[str, list[str]] = {}
        for part, machine in self.machine_of.items():
            found.setdefault(machine, []).append(part)
        return found

    def as_dict(self) -> dict[str, object]:
        """Return it as plain values, for `--json`."""
        return {
            **vars(self),
            "cuts": [asdict(cut) for cut in self.cuts],
            "short": [asdict(short) for short in self.short],
        }


def placement_of(resolved: Resolved) -> Placement | None:
    """Return where the parts of an experiment's network are; None where it has this machine only."""
    testbed = resolved.testbed
    if testbed is None:
        return None
    network = Network.of(resolved.topology)
    demand = {node: _cores(resolved, node) for node in network.nodes}
    return place(network, testbed, demand, bonds_of(resolved.conditions, network))


def place(
    network: Network,
    testbed: ResolvedTestbed,
    demand: Mapping[str, float],
    together: Sequence[tuple[str, str]] = (),
) -> Placement:
    """Return the machine of every part of a network.

    Args:
        demand: cores that each node takes.
        together: pairs of hosts or switches that must be on one machine.
    """
    machines = [MachineCores(machine.name, machine.cores) for machine in testbed.machines]
    least_ns = testbed.shortest_cut_ns
    names = [*network.switches, *network.hosts]
    at = {name: number for number, name in enumerate(names)}
    if testbed.place:
        by_hand = placed_by_hand(testbed.place, network)
        machine_of = {name: by_hand[name] for name in names}
    else:
        weights = [0.0] * len(names)
        for node, host in network.nodes.items():
            weights[at[host]] += demand.get(node, 0.0)
        edges = [
            Edge((at[link.source], at[link.target]), 0 if _why_not(link, least_ns) else link.delay_ns)
            for link in network.links
        ]
        pairs = [(at[one], at[other]) for one, other in together]
        numbers = chosen(weights, edges, pairs, machines)
        machine_of = {name: machines[number].name for name, number in zip(names, numbers, strict=True)}
    loads = {machine.name: 0.0 for machine in machines if machine.name in machine_of.values()}
    for node, host in network.nodes.items():
        loads[machine_of[host]] += demand.get(node, 0.0)
    cut = [link for link in network.links if machine_of[link.source] != machine_of[link.target]]
    parted = [pair for pair in together if machine_of[pair[0]] != machine_of[pair[1]]]
    return Placement(
        machine_of,
        loads,
        [CutLink(link.name, link.delay_ns, machine_of[link.source], machine_of[link.target]) for link in cut],
        [
            ShortLink(link.name, why)
            for link in network.links
            if (why := _why_not(link, least_ns)) is not None
        ],
        least_ns,
        testbed.network or "udp",
        {
            machine.name: interface
            for machine in testbed.machines
            if machine.name in loads and (interface := testbed.interface_of(machine)) is not None
        },
        [
            *_refusals(cut, machine_of, testbed),
            *(_parted(pair, machine_of) for pair in parted),
        ],
        [*_overload_notes(machines, loads), *_unused_notes(machines, loads, testbed)],
    )


def _cores(resolved: Resolved, node: str) -> float:
    """Return the cores that a node takes: its limit, or one where it has none."""
    ppm = resolved.topology.limits.get(node, {}).get("cpus_ppm")
    return 1.0 if ppm is None else ppm / 1e6


def _why_not(link: Link, least_ns: int) -> str | None:
    """Return why a link cannot be cut; None where it can."""
    if link.jitter_ns:
        return f"a delay with jitter ({time_text(link.jitter_ns)})"
    if link.delay_ns == 0:
        return "no delay"
    return f"a delay of {time_text(link.delay_ns)}" if link.delay_ns < least_ns else None


def rule_text(testbed: ResolvedTestbed) -> str:
    """Return what a link between two machines needs, and why."""
    return (
        f"at least {time_text(testbed.shortest_cut_ns)} (2 x {time_text(testbed.delay_ns)} of the underlay "
        f"and {time_text(testbed.clock_error_ns)} of clock error)"
    )


def _refusals(cut: Sequence[Link], machine_of: Mapping[str, str], testbed: ResolvedTestbed) -> list[str]:
    """Return why links must not be cut, once for both directions of one."""
    found: dict[tuple[str, str, str], str] = {}
    for link in cut:
        if why := _why_not(link, testbed.shortest_cut_ns):
            one, other = sorted((link.source, link.target))
            found.setdefault((one, other, why), _refusal(link, why, machine_of, testbed))
    return list(found.values())


def _refusal(link: Link, why: str, machine_of: Mapping[str, str], testbed: ResolvedTestbed) -> str:
    one, other = machine_of[link.source], machine_of[link.target]
    return (
        f"link {link.name}: is cut between {one} and {other}, and has {why}; a link between machines needs a "
        f"constant delay of {rule_text(testbed)}: place {link.source} and {link.target} on one machine, give "
        "the link more delay, or write under `underlay` what is between the machines, if that is faster"
    )


def _parted(pair: tuple[str, str], machine_of: Mapping[str, str]) -> str:
    one, other = pair
    return (
        f"{one} and {other}: are on {machine_of[one]} and {machine_of[other]}, and a condition has "
        "interference of `transport: tcp` or a monitor of rtt between them, which needs both; place them on "
        "one machine"
    )


def _overload_notes(machines: Sequence[MachineCores], loads: Mapping[str, float]) -> list[str]:
    return [
        f"{machine.name}: its nodes take {loads[machine.name]:g} cores, and {machine.usable} of its "
        f"{machine.cores} are left beside the emulator; add a machine, or give nodes less with `cpus`"
        for machine in machines
        if machine.usable is not None and loads.get(machine.name, 0) > machine.usable
    ]


def _unused_notes(
    machines: Sequence[MachineCores], loads: Mapping[str, float], testbed: ResolvedTestbed
) -> list[str]:
    unused = [machine.name for machine in machines if machine.name not in loads]
    if not unused or testbed.place:
        return []
    shown = ", ".join(unused[:_SHOWN]) + (f" and {len(unused) - _SHOWN} more" if len(unused) > _SHOWN else "")
    return [
        f"{shown}: nothing is there, because the network has only {len(loads)} "
        f"part{'s' if len(loads) > 1 else ''} between links that can be cut; give more links a "
        f"constant delay of {rule_text(testbed)}, or leave "
        f"{'the machine' if len(unused) == 1 else 'these machines'} out"
    ]
