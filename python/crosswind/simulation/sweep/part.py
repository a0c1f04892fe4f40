"""The unit of work of a sweep: a few trials in virtual time, as a pure function that runs on any machine.

Everything that a trial depends on travels in the part: resolved conditions, seeds, and the properties of the
machine that TCP depends on. So any worker gives the same answer, any number of times, and a part whose worker
was killed is simply simulated again.
"""

from __future__ import annotations

import json
import socket
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crosswind.errors import CrosswindError
from crosswind.machine.provenance import tool_version
from crosswind.plan import Trial
from crosswind.results import Metric
from crosswind.simulation.trial_answer import TcpCounts
from crosswind.simulation.trial_plan import SimulatedMachine
from crosswind.simulation.trials import simulate_trials
from crosswind.spec import Resolved

# Stored beside the metrics that a live trial has too.
TCP = "tcp"


@dataclass(frozen=True)
class Part:
    """A few trials of a sweep.

    Attributes:
        resolved: the resolved experiment as JSON, with the conditions of these trials only.
        version: of the Crosswind that made the part.
    """

    resolved: str
    trials: tuple[Trial, ...]
    machine: SimulatedMachine
    version: str


@dataclass(frozen=True)
class SweptTrial:
    """The answer for one trial; `refused` is why there was none, and then it has no metrics."""

    trial: Trial
    refused: str | None
    metrics: list[Metric]


def parts_of(
    resolved: Resolved, trials: Sequence[Trial], machine: SimulatedMachine, size: int
) -> Iterator[Part]:
    """Yield trials in parts of `size`, in their order."""
    conditions = {condition.name: condition for condition in resolved.conditions}
    for start in range(0, len(trials), size):
        some = tuple(trials[start : start + size])
        names = dict.fromkeys(trial.condition for trial in some)
        update = {"conditions": [conditions[name] for name in names]}
        yield Part(json.dumps(resolved.model_copy(update=update).as_json()), some, machine, tool_version())


def simulate_part(part: Part) -> list[SweptTrial]:
    """Return the answers for the trials of a part.

    Raises: CrosswindError: this worker has another version or no simulator; or the experiment cannot be
        simulated.
    """
    if part.version != tool_version():
        raise CrosswindError(
            f"worker {socket.gethostname()}: has Crosswind {tool_version()}, and the sweep is of "
            f"{part.version}; install crosswind=={part.version} on every worker"
        )
    resolved = Resolved.model_validate_json(part.resolved)
    return [
        SweptTrial(found.trial, found.answer.refused, [*found.metrics, *_of_tcp(found.answer.tcp)])
        for found in simulate_trials(resolved, part.trials, part.machine)
    ]


def _of_tcp(counts: TcpCounts | None) -> list[Metric]:
    if counts is None:
        return []
    return [
        Metric(None, TCP, "count", name, getattr(counts, name)) for name in sorted(TcpCounts.model_fields)
    ]
