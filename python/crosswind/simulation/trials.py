"""The trials of an experiment in virtual time: no nodes, no privileges, and much less time."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from crosswind.app import Application, find
from crosswind.errors import CrosswindError
from crosswind.plan import Trial, planned
from crosswind.results import Metric
from crosswind.simulation.applications import metrics_of, simulated
from crosswind.simulation.trial_answer import TrialAnswer
from crosswind.simulation.trial_plan import SimulatedApplication, SimulatedMachine, TrialPlan, this_machine
from crosswind.spec import Resolved, fabric_of
from crosswind.spec.declared import measured_ns
from crosswind.spec.resolved import ResolvedCondition
from crosswind.spec.restored import restored
from crosswind.testbed.binaries import SIMULATE, find_binary


@dataclass(frozen=True)
class SimulatedTrial:
    """A trial in virtual time: its metrics, as a live one has them, and what TCP did."""

    trial: Trial
    metrics: list[Metric]
    answer: TrialAnswer

    def as_json(self) -> dict[str, object]:
        """Return it as plain values."""
        return {
            "trial": self.trial.id,
            "condition": self.trial.condition,
            "seed": self.trial.seed,
            "metrics": [metric._asdict() for metric in self.metrics],
            "refused": self.answer.refused,
            "tcp": None if self.answer.tcp is None else self.answer.tcp.as_json(),
        }


def simulate_trials(
    resolved: Resolved, trials: Sequence[Trial] | None = None, machine: SimulatedMachine | None = None
) -> Iterator[SimulatedTrial]:
    """Yield trials in virtual time.

    Args:
        trials: those that the experiment runs at least when absent, with the seeds of a live run.
        machine: that they would run on live; this one when absent.
    Raises: CrosswindError: the application or a condition cannot be simulated.
    """
    application, what = require_simulated(resolved)
    machine = machine or this_machine()
    # The program answers each plan before it reads the next, so neither waits with a full pipe.
    with subprocess.Popen(
        [str(find_binary(SIMULATE)), "trials"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        for trial in planned(resolved) if trials is None else trials:
            plan = _plan(resolved, trial, application, what, machine)
            try:
                process.stdin.write(plan.as_line() + "\n")
                process.stdin.flush()
            except BrokenPipeError:
                pass  # It has ended; what it complained about is read below.
            line = process.stdout.readline()
            if not line:
                raise CrosswindError(f"{SIMULATE}: {process.stderr.read().strip()}")
            answer = TrialAnswer.model_validate_json(line)
            metrics = [] if answer.refused is not None else metrics_of(application, answer)
            yield SimulatedTrial(trial, metrics, answer)


def require_simulated(resolved: Resolved) -> tuple[Application, SimulatedApplication]:
    """Return the application of an experiment, and what it does, for the simulator.

    Raises: CrosswindError: the application or a condition cannot be simulated.
    """
    kind = find(resolved.application.name)
    application = kind(restored(kind.Parameters, resolved.application.parameters))
    what = simulated(application, list(resolved.topology.nodes), resolved.tcp.congestion_control)
    for condition in resolved.conditions:
        if condition.is_real:
            raise CrosswindError(
                f"condition {condition.name}: `by: iperf3` is interference by real processes, which cannot "
                "run in virtual time; write `by: ghost`"
            )
        if (fault := _not_simulated(condition)) is not None:
            raise CrosswindError(
                f"condition {condition.name}: {fault} is a fault of real processes, which virtual time does "
                "not have; cut nodes off silently instead, or use `crosswind run`"
            )
    return application, what


def _not_simulated(condition: ResolvedCondition) -> str | None:
    """Return the first fault of a condition that the simulator cannot carry out, in words."""
    for step in condition.timeline:
        if step.nodes or any(cut.answer != "silence" for cut in step.cuts or ()):
            return ", ".join(step.faults)
    return None


def _plan(
    resolved: Resolved,
    trial: Trial,
    application: Application,
    what: SimulatedApplication,
    machine: SimulatedMachine,
) -> TrialPlan:
    return TrialPlan(
        fabric=fabric_of(resolved, trial.condition, trial.seed),
        application=what,
        seed=trial.seed,
        warm_up_ns=application.parameters.warm_up_ns,
        duration_ns=measured_ns(application.parameters) or 0,
        machine=machine,
    )
