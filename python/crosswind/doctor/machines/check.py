"""Judge what machines reported: whether each can carry its part of a network, and what it lacks for that."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crosswind.app.find import application_of
from crosswind.app.requirements import NeededFile
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.doctor.finding import Finding, missing, warning
from crosswind.doctor.kernel import version
from crosswind.doctor.machines.facts import PeerPath, RemoteFacts
from crosswind.plan.placement import Placement, placement_of
from crosswind.spec.resolved import Resolved, ResolvedMachine, ResolvedTestbed
from crosswind.testbed import NotHere
from crosswind.text.quantities import memory_text, time_text

# The smallest path that datagrams between agents are made for (crates/tunnel/src/socket.rs).
MTU_MIN = 1280
# Reading any other one takes a microsecond or more, and the emulator reads the clock for every packet.
FAST_CLOCKS = ("tsc", "kvm-clock", "arch_sys_counter", "hyperv_clocksource_tsc_page", "xen", "timebase")


@dataclass(frozen=True)
class Needs:
    """What an experiment needs of one machine.

    Attributes:
        cores: of its nodes.
        memory_bytes: the sum of its nodes' limits.
        files: of the application; private folders among them are copied where they are missing.
    """

    cores: float
    memory_bytes: int
    congestion_control: str | None
    files: Sequence[NeededFile] = ()


def needs_of(resolved: Resolved) -> dict[str, Needs]:
    """Return what an experiment needs of each machine that has a part of its network."""
    placement = placement_of(resolved)
    assert placement is not None, "the experiment is on this machine"
    files = _files(resolved)
    return {
        machine: Needs(
            cores,
            _memory(resolved, placement, machine),
            resolved.tcp.congestion_control,
            tuple(files) if cores else (),
        )
        for machine, cores in placement.demand.items()
    }


def _files(resolved: Resolved) -> list[NeededFile]:
    """Return what the application needs on other machines; nothing where this one lacks it."""
    try:
        files = application_of(resolved).needed_files()
        if any(condition.is_real for condition in resolved.conditions):
            files += [NeededFile(path, IPERF3) for path in IPERF3.places()]
    except NotHere:
        return []
    return files


def _memory(resolved: Resolved, placement: Placement, machine: str) -> int:
    topology = resolved.topology
    return sum(
        topology.limits.get(node, {}).get("memory_bytes") or 0
        for node, host in topology.nodes.items()
        if placement.machine_of[host] == machine
    )


def findings_of(
    facts: RemoteFacts, machine: ResolvedMachine, testbed: ResolvedTestbed, needs: Needs | None
) -> list[Finding]:
    """Return what a machine lacks; nothing where it is as it should be.

    Args:
        needs: of an experiment; None where there is none, or nothing of it is on this machine.
    """
    return [
        *_own(facts, machine),
        *_ways(facts, testbed),
        *([] if needs is None else _lacking(facts, machine, needs)),
    ]


def _own(facts: RemoteFacts, machine: ResolvedMachine) -> Iterator[Finding]:
    kernel = version(facts.system.lower(), facts.kernel)
    if kernel.remedy:
        yield kernel
    if facts.clock and facts.clock not in FAST_CLOCKS:
        yield warning(
            "clock",
            f"its clock source is {facts.clock}, which is slow to read, so packets are late",
            "boot it with clocksource=tsc, or take another type of virtual machine",
        )
    if machine.cores is not None and facts.cores is not None and machine.cores > facts.cores:
        yield warning(
            "cores",
            f"the testbed says {machine.cores}, and it has {facts.cores}",
            f"write cores: {facts.cores}",
        )


def _ways(facts: RemoteFacts, testbed: ResolvedTestbed) -> Iterator[Finding]:
    for name, peer in facts.peers.items():
        if peer.answered == "none":
            yield warning(
                f"way to {name}",
                "no echo came back",
                f"check that it reaches {name} and that no firewall drops UDP between them",
            )
        elif peer.answered == "short":
            yield warning(
                f"way to {name}",
                f"packets of {peer.mtu_bytes} bytes do not come back, short ones do",
                "set the MTU of the interface to what the path carries",
            )
        if peer.mtu_bytes is not None and peer.mtu_bytes < MTU_MIN:
            yield missing(
                f"way to {name}",
                f"an MTU of {peer.mtu_bytes} bytes, and datagrams between machines need {MTU_MIN}",
                "raise the MTU of the interface",
            )
        yield from slow_way(name, peer, testbed)


def slow_way(name: str, peer: PeerPath, testbed: ResolvedTestbed) -> Iterator[Finding]:
    """Yield a warning where the way to a machine takes longer than the testbed says."""
    if peer.round_trip_ns is not None and peer.round_trip_ns > 2 * testbed.delay_ns:
        half_ns = peer.round_trip_ns / 2
        yield warning(
            f"way to {name}",
            f"a round trip took {time_text(peer.round_trip_ns)}, so {time_text(half_ns)} each way, and "
            f"the testbed says {time_text(testbed.delay_ns)}",
            "write underlay: {delay: ...} with what 999 of 1000 packets do not exceed",
        )


def _lacking(facts: RemoteFacts, machine: ResolvedMachine, needs: Needs) -> Iterator[Finding]:
    cores = min(each for each in (facts.cores, machine.cores, 4096) if each is not None)
    if facts.cores is not None and needs.cores > max(1, cores - 1):
        yield warning(
            "cores",
            f"its nodes take {needs.cores:g}, and {max(1, cores - 1)} of its {cores} are left beside the "
            "emulator",
            "add a machine, place fewer nodes on it, or give them less with `cpus`",
        )
    if facts.memory_bytes is not None and needs.memory_bytes > facts.memory_bytes:
        yield missing(
            "memory",
            f"its nodes may take {memory_text(needs.memory_bytes)}, and it has "
            f"{memory_text(facts.memory_bytes)}",
            "place fewer nodes on it, or lower their `memory`",
        )
    for file in needs.files:
        if not file.is_private and facts.places.get(str(file.path)) == "absent":
            yield missing(
                "programs",
                f"it lacks {file.path}, of {file.requirement.name}",
                f"install it there: {' && '.join(file.requirement.commands())}",
            )
    control = needs.congestion_control
    if control is not None and facts.congestion and control not in facts.congestion:
        yield missing(
            "congestion control",
            f"it has {', '.join(facts.congestion)}, and the experiment needs {control}",
            f"load it there: sudo modprobe tcp_{control}",
        )
