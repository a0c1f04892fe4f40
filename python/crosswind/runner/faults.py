"""Faults of one trial: those of nodes are carried out, from the begin of the measurement; all are noted.

What the timeline cuts is the fabric's, which says when it did so.
"""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import groupby
from types import TracebackType
from typing import Self, get_args

from crosswind.app import Application, Stage
from crosswind.results import Measurement
from crosswind.results.measurement import Fault
from crosswind.runner.reason import exception_text
from crosswind.spec.resolved import (
    NodeFaultKind,
    RequestedLimits,
    ResolvedCondition,
    ResolvedNodeFault,
    ResolvedStep,
)
from crosswind.stream import Event, NodeFault, Stream
from crosswind.testbed import TestbedError

# The agent is asked so long before, and does it at the instant itself: long against the stalls of a busy
# machine, and short enough that no other request waits noticeably for it.
LEAD_NS = 200_000_000
# A step of the timeline is the change that the fabric was asked for at its instant.
SAME_NS = 1_000_000


def has_faults(condition: ResolvedCondition) -> bool:
    """Return whether anything breaks under a condition, so that the load must outlive that."""
    return condition.has_cuts or any(step.nodes for step in condition.timeline)


class NodeFaults:
    """Carries out the faults of nodes on a thread of its own; use it around the fabric, as a context manager.

    When the block is left the fabric is gone, so what was under way fails, and the thread ends.

    Args:
        limits: that nodes came up with.
        stream: gets each one that was carried out.
    """

    def __init__(
        self,
        condition: ResolvedCondition,
        application: Application,
        limits: Mapping[str, RequestedLimits],
        stream: Stream[Event],
    ) -> None:
        self._stream = stream
        self._steps = [step for step in condition.timeline if step.nodes]
        self._application = application
        self._limits = limits
        self._over = threading.Event()
        self._thread: threading.Thread | None = None
        self._done: list[Fault] = []

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.end()

    def begin(self, stage: Stage, started_ns: int) -> None:
        """Begin with a measurement that started at this instant of its clock."""
        if self._steps:
            work = (stage, started_ns)
            self._thread = threading.Thread(target=self._carry_out, args=work, daemon=True, name="faults")
            self._thread.start()

    def end(self) -> None:
        """Begin no more faults, and wait for the one that is under way."""
        self._over.set()
        if self._thread is not None:
            self._thread.join()

    @property
    def done(self) -> list[Fault]:
        """Those that were carried out, and the one that was not."""
        return list(self._done)

    def _carry_out(self, stage: Stage, started_ns: int) -> None:
        for step in self._steps:
            due_ns = started_ns + step.at_ns
            ahead_s = (due_ns - LEAD_NS - stage.fabric.now_ns()) / 1e9
            if self._over.wait(max(0.0, stage.fabric.time.real_s(ahead_s))):
                return
            for do, group in groupby(step.nodes, key=lambda fault: fault.do):
                faults = list(group)
                fault = Fault(
                    due_ns=due_ns,
                    done_ns=due_ns,
                    words=_words(step, do),
                    kind=do,
                    nodes=[fault.node for fault in faults],
                )
                try:
                    done_ns = self._do(stage, do, faults, due_ns)
                except Exception as error:  # Raised by the main thread, which is waiting for the load.
                    why = str(error) if isinstance(error, TestbedError) else exception_text(error)
                    self._done.append(fault.model_copy(update={"error": why}))
                    return
                self._done.append(fault.model_copy(update={"done_ns": done_ns}))
                self._stream.publish(
                    NodeFault(
                        at_ns=done_ns,
                        due_ns=due_ns,
                        kind=do,
                        nodes=tuple(fault.nodes),
                        words=fault.words,
                        by=fault.by,
                    )
                )

    def _do(self, stage: Stage, do: NodeFaultKind, faults: Sequence[ResolvedNodeFault], due_ns: int) -> int:
        """Carry out faults of one kind; return when the last was done."""
        nodes = [fault.node for fault in faults]
        if do in ("pause", "resume", "kill"):
            return stage.fabric.strike(do, nodes, due_ns)
        if do == "release":
            return self._release(stage, nodes, due_ns)
        if do == "disk":
            return max(stage.fabric.disk([fault.node], fault.disk, due_ns) for fault in faults)
        if do == "squeeze":
            done_ns = [stage.fabric.limit([fault.node], self._squeezed(fault), due_ns) for fault in faults]
            return max(done_ns)
        stage.fabric.strike("kill", nodes, due_ns)
        for fault in faults:
            # One without `clock` has the right time again.
            stage.fabric.clock([fault.node], fault.clock, due_ns)
            self._application.restart(stage, fault.node)
        return stage.fabric.now_ns()

    def _release(self, stage: Stage, nodes: Sequence[str], due_ns: int) -> int:
        """Set back what was squeezed, and make disks whole; return when the last was."""
        on_disks = [node for node in nodes if self._limits.get(node, {}).get("disk")]
        done_ns = stage.fabric.limit(nodes, None, due_ns)
        return max(done_ns, stage.fabric.disk(on_disks, None, due_ns)) if on_disks else done_ns

    def _squeezed(self, fault: ResolvedNodeFault) -> RequestedLimits:
        """Return all limits of a node that is squeezed: its own, and those that the squeeze has instead."""
        own = self._limits.get(fault.node, {})
        return {**own, **{key: amount for key, amount in (fault.limits or {}).items() if amount is not None}}


def check_faults(faults: Iterable[Fault], then: TestbedError | None = None) -> None:
    """Check that each fault was carried out.

    Args:
        then: what failed afterwards, perhaps because of one that was not.
    Raises: TestbedError: one was not, and why.
    """
    for fault in faults:
        if fault.error is not None:
            after = "" if then is None else f"; then {then}"
            raise TestbedError(f"fault {fault.words}: not carried out: {fault.error}{after}") from then


def with_faults(
    measurement: Measurement, condition: ResolvedCondition, of_nodes: Sequence[Fault]
) -> Measurement:
    """Return a measurement with the faults of nodes and the cuts of the timeline that were due in it."""
    faults = sorted([*of_nodes, *_cuts(measurement, condition)], key=lambda fault: fault.due_ns)
    return measurement.model_copy(update={"faults": faults})


def _cuts(measurement: Measurement, condition: ResolvedCondition) -> Iterator[Fault]:
    window = measurement.window
    before: object = []
    for step in condition.timeline:
        due_ns = window.started_ns + step.at_ns
        if step.cuts is None or due_ns >= window.ended_ns:
            continue
        done_ns = [
            change.at_ns
            for change in measurement.changes
            if change.by == "timeline" and abs(change.asked_ns - due_ns) < SAME_NS
        ]
        error = None if done_ns or step.cuts == before else "the network does not say that it was done"
        before = step.cuts
        nodes = sorted({node for cut in step.cuts for node in (*cut.sources, *cut.targets)})
        for words in step.faults:
            kind = words.split()[0]
            if kind not in get_args(NodeFaultKind):
                yield Fault(
                    due_ns=due_ns,
                    done_ns=done_ns[0] if done_ns else due_ns,
                    words=words,
                    kind=kind,
                    nodes=nodes,
                    error=error,
                )


def _words(step: ResolvedStep, do: NodeFaultKind) -> str:
    return next(words for words in step.faults if words.split()[0] == do)
