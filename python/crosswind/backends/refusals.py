"""What no backend but the emulator can carry, and how a refusal is worded."""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.errors import CrosswindError, Exit
from crosswind.spec import FabricCondition, FabricSpec, Resolved, fabric_of


class NotCarried(CrosswindError):
    """A backend cannot carry a part of an experiment; the message names the part and a backend that can."""

    exit = Exit.USAGE

    @classmethod
    def element(cls, backend: str, condition: str, place: str, kind: str, why: str, other: str) -> NotCarried:
        """Return the refusal of an element of a condition."""
        return cls(
            f"backend {backend}: {condition}: {kind} at {place}: {why}; write backend: {other}, which can"
        )

    @classmethod
    def part(cls, backend: str, what: str, why: str) -> NotCarried:
        """Return the refusal of something that only the emulator has."""
        return cls(f"backend {backend}: {what}: {why}; write backend: crosswind")


def refuse_what_emulators_do(backend: str, resolved: Resolved) -> None:
    """Refuse what an experiment asks of the emulator itself.

    Raises: NotCarried: a recording, a capture, ghosts, a timeline, kept budgets, or how the emulator runs.
    """
    for what, why in _of_the_emulator(resolved):
        raise NotCarried.part(backend, what, why)


def fabrics(resolved: Resolved) -> Iterator[tuple[FabricSpec, FabricCondition]]:
    """Yield the fabric of each condition."""
    for condition in resolved.conditions:
        spec = fabric_of(resolved, condition.name)
        yield spec, spec.condition


def _of_the_emulator(resolved: Resolved) -> Iterator[tuple[str, str]]:
    trials, topology = resolved.trials, resolved.topology
    if resolved.testbed is not None:
        yield "testbed", "other machines are joined by the emulator"
    if trials.record:
        yield "trials: record", "a recording is made of the emulator's decisions"
    if trials.capture is not None:
        yield "trials: capture", "the emulator writes captures"
    if topology.wait == "sleep":
        yield "topology: wait: sleep", "only the emulator waits"
    if topology.domains not in ("auto", 1):
        yield "topology: domains", "only the emulator is divided into domains"
    if topology.routes != "shortest":
        yield "topology: routes", "only shortest ways are set up"
    for condition in resolved.conditions:
        if condition.timeline:
            key = "faults" if any(step.faults for step in condition.timeline) else "at"
            yield f"{condition.name}: {key}", "only the emulator changes a condition at an exact instant"
        for entry in condition.interference:
            if not entry.is_real:
                yield (
                    f"{condition.name}: interference {'-'.join(entry.between)}: by: ghost",
                    "ghosts are packets of the emulator; write by: iperf3",
                )
