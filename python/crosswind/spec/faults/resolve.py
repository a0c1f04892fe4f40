"""Resolve the faults of a timeline: names become nodes, and each step has all cuts that hold from it on."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from crosswind.spec.faults.keys import BAR, DiskFault, FaultKeys, Restart, RestartClock, Squeeze
from crosswind.spec.faults.nodes import nodes_of_all
from crosswind.spec.faults.offset import offset_text
from crosswind.spec.network import ARROW, Network
from crosswind.spec.quantities import BYTE_RATE, SIZE
from crosswind.spec.resolved import (
    Answer,
    NodeFaultKind,
    Places,
    ResolvedClock,
    ResolvedCut,
    ResolvedDisk,
    ResolvedNodeFault,
    ResolvedStep,
)


def resolved_steps(
    places: Mapping[int, Places], faults_at: Mapping[int, FaultKeys], network: Network
) -> list[ResolvedStep]:
    """Return the steps of a timeline, in the order of their instants.

    Args:
        places: elements by place, by instant, ns.
        faults_at: faults, by instant, ns.
    """
    found: list[ResolvedStep] = []
    cuts: list[ResolvedCut] = []
    for at_ns in sorted({*places, *faults_at}):
        step = ResolvedStep(at_ns=at_ns, places=places.get(at_ns, {}))
        faults = faults_at.get(at_ns)
        if faults is not None:
            before = cuts
            cuts = [*([] if faults.heal else before), *_cuts(faults, network)]
            changes = {
                "cuts": None if faults.heal is None and cuts == before else cuts,
                "nodes": list(_node_faults(faults, network)),
                "faults": list(in_words(faults)),
            }
            step = step.model_copy(update=changes)
        found.append(step)
    return found


def _cuts(faults: FaultKeys, network: Network) -> Iterator[ResolvedCut]:
    """Yield what a step cuts besides what was cut before."""
    every = list(network.nodes)
    if faults.partition is not None:
        groups = [nodes_of_all(names, network) for names in faults.partition.groups]
        for group in groups:
            others = [node for other in groups if other is not group for node in other]
            yield ResolvedCut(sources=group, targets=others, answer=faults.partition.answer)
    if faults.isolate is not None:
        alone = nodes_of_all(faults.isolate.nodes, network)
        # Two that are alone do not reach each other either; a node always reaches itself.
        others = every if len(alone) > 1 else [node for node in every if node not in alone]
        yield ResolvedCut(sources=alone, targets=others, answer=faults.isolate.answer)
        yield ResolvedCut(sources=others, targets=alone, answer=faults.isolate.answer)
    if faults.cut is not None:
        yield ResolvedCut(
            sources=nodes_of_all(faults.cut.sources, network),
            targets=nodes_of_all(faults.cut.targets, network),
            answer=faults.cut.answer,
        )


def _node_faults(faults: FaultKeys, network: Network) -> Iterator[ResolvedNodeFault]:
    def of(do: NodeFaultKind, names: Iterable[str] | None, **more: object) -> Iterator[ResolvedNodeFault]:
        for node in nodes_of_all(names or (), network):
            yield ResolvedNodeFault(do=do, node=node).model_copy(update=more)

    yield from of("resume", faults.resume)
    yield from of("kill", faults.kill)
    yield from of("pause", faults.pause)
    if faults.restart is not None:
        clock = _clock(faults.restart.clock)
        yield from of("restart", faults.restart.nodes, **({} if clock is None else {"clock": clock}))
    if faults.squeeze is not None:
        yield from of("squeeze", faults.squeeze.nodes, limits=faults.squeeze.limits.as_request())
    if faults.disk is not None:
        left = ResolvedDisk(free_bytes=faults.disk.free_bytes, bytes_per_s=faults.disk.bytes_per_s)
        yield from of("disk", faults.disk.nodes, disk=left)
    yield from of("release", faults.release)


def _clock(clock: RestartClock | None) -> ResolvedClock | None:
    if clock is None:
        return None
    return ResolvedClock(offset_ns=clock.offset_ns, rate_ppb=round(clock.rate * 10**9))


def in_words(faults: FaultKeys) -> Iterator[str]:
    """Yield the faults of a step as they are shown, in the order in which they are done."""
    if faults.heal is not None:
        yield "heal"
    if faults.partition is not None:
        groups = f" {BAR} ".join(" ".join(names) for names in faults.partition.groups)
        yield f"partition {groups}{_answered(faults.partition.answer)}"
    if faults.isolate is not None:
        yield f"isolate {' '.join(faults.isolate.nodes)}{_answered(faults.isolate.answer)}"
    if faults.cut is not None:
        ends = f" {ARROW} ".join(" ".join(names) for names in (faults.cut.sources, faults.cut.targets))
        yield f"cut {ends}{_answered(faults.cut.answer)}"
    for do in ("resume", "kill", "pause"):
        if names := getattr(faults, do):
            yield f"{do} {' '.join(names)}"
    if faults.restart is not None:
        yield f"restart {' '.join(faults.restart.nodes)}{_clock_words(faults.restart)}"
    if faults.squeeze is not None:
        yield f"squeeze {' '.join(faults.squeeze.nodes)} ({_limits_words(faults.squeeze)})"
    if faults.disk is not None:
        yield f"disk {' '.join(faults.disk.nodes)} ({_disk_words(faults.disk)})"
    if faults.release is not None:
        yield f"release {' '.join(faults.release)}"


def _answered(answer: Answer) -> str:
    return " (reset)" if answer == "reset" else ""


def _clock_words(restart: Restart) -> str:
    if restart.clock is None:
        return ""
    offset = [offset_text(restart.clock.offset_ns)] if restart.clock.offset_ns else []
    rate = [f"rate {restart.clock.rate:g}"] if restart.clock.rate != 1 else []
    return f" (clock {', '.join([*offset, *rate])})"


def _disk_words(disk: DiskFault) -> str:
    free = [] if disk.free_bytes is None else [f"free {SIZE.text(disk.free_bytes)}"]
    rate = [] if disk.bytes_per_s is None else [f"rate {BYTE_RATE.text(disk.bytes_per_s)}"]
    return ", ".join([*free, *rate])


def _limits_words(squeeze: Squeeze) -> str:
    cpus = [] if squeeze.cpus is None else [f"cpus {squeeze.cpus:g}"]
    memory = [] if squeeze.memory_bytes is None else [f"memory {SIZE.text(squeeze.memory_bytes)}"]
    return ", ".join([*cpus, *memory])
