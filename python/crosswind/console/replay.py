"""The console of a finished run: any of its trials again, along its time axis. It changes nothing."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from itertools import pairwise
from typing import Literal

import numpy as np

from crosswind.console.served import Served, pages
from crosswind.console.server import Answer, Parameters, Routes
from crosswind.console.shown import NetworkShown, Shown, network_shown, way_of
from crosswind.errors import CrosswindError
from crosswind.results import Measurement, Metric
from crosswind.results.measurement import Change, Ledger, Span
from crosswind.results.reading import Operations, Results, StoredTrial
from crosswind.runner.figures import value_of
from crosswind.spec.network import Network
from crosswind.stream import FigureOfTrial, NodeFault


class _TrialListed(Shown):
    """A trial in the list; `stored` says whether there is something to replay."""

    trial: str
    condition: str
    block: int
    status: str
    fidelity: str | None
    note: str | None
    figures: list[FigureOfTrial]
    stored: bool


class _ReplayShown(Shown):
    """All that the page needs of a finished run, without the series of its trials."""

    kind: Literal["replay"] = "replay"
    network: NetworkShown
    name: str
    folder: str
    application: str
    trials: list[_TrialListed]


class _RateShown(Shown):
    """A link, by the element of its wire, whose rate changed; None is unlimited, 0 an outage."""

    link: str
    at_ns: int
    rate_bps: int | None


class _OperationsShown(Shown):
    """The application, step by step: entries are those of the steps of the network.

    Attributes:
        ended: operations that ended in a step.
        failed: those of them that failed.
        median_ns, p99_ns, slowest_ns: latencies of those that succeeded, from the instant at which each was
            due; None where none did.
    """

    ended: list[int]
    failed: list[int]
    median_ns: list[float | None]
    p99_ns: list[float | None]
    slowest_ns: list[int | None]


class _TrialShown(Shown):
    """A trial along its time axis.

    Attributes:
        rows: (number of the step, element, bytes that left it, packets that it dropped, bytes that it holds).
        faults: those of nodes; what was cut is among the changes.
        buckets: (number of the step, element, bits that it holds): what credit buckets hold, at each step
            that changed it; empty in older folders.
        operations: None where the application stored none.
    """

    trial: str
    started_ns: int
    ended_ns: int
    step_ns: int
    ledger: Ledger
    changes: list[Change]
    faults: list[NodeFault]
    stalls: list[Span]
    rates: list[_RateShown]
    rows: list[tuple[int, str, int, int, int]]
    buckets: list[tuple[int, str, int]]
    operations: _OperationsShown | None


class Replay(Served):
    """Serves the page of a finished run."""

    def __init__(self, results: Results) -> None:
        self._results = results
        self._reading = threading.Lock()
        self._network = Network.of(results.resolved.topology)
        if not self._network.hosts:
            raise CrosswindError(f"{results.path}: has no resolved.json, which describes the network")
        super().__init__(
            Routes(
                pages=pages(),
                get={
                    "/api/page": self._describe,
                    "/api/way": way_of(self._network),
                    "/api/trial": self._trial,
                },
                post={},
                lines={},
            )
        )

    def _describe(self, _: Parameters) -> Answer:
        with self._reading:
            trials = [self._listed(trial) for trial in self._results.trials]
        return Answer.of(
            _ReplayShown(
                network=network_shown(self._network, self._results.resolved.dilations),
                name=self._results.resolved.name,
                folder=self._results.path.resolve().name,
                application=self._results.resolved.application.name,
                trials=trials,
            )
        )

    def _listed(self, trial: StoredTrial) -> _TrialListed:
        figures = self._results.resolved.application.figures
        metrics = [
            Metric(node, metric, "", statistic, value)
            for node, metric, statistic, value in self._results.metrics.get(trial.trial, ())
        ]
        found = [(figure, value_of(figure, metrics)) for figure in figures]
        return _TrialListed(
            trial=trial.trial,
            condition=trial.condition,
            block=trial.block,
            status=trial.status,
            fidelity=trial.fidelity,
            note=trial.reason or trial.fidelity_reason,
            figures=[
                FigureOfTrial(name=figure.label, value=value, unit=figure.unit)
                for figure, value in found
                if value is not None
            ],
            stored=(self._results.path / "monitors" / f"{trial.trial}.json").is_file(),
        )

    def _trial(self, asked: Parameters) -> Answer:
        # Requests come on threads of their own, and the results have one connection to their files.
        with self._reading:
            return Answer.of(self._shown(asked.get("name", "")))

    def _shown(self, name: str) -> _TrialShown:
        # The name becomes part of a path, so only one of the list counts.
        if name not in {trial.trial for trial in self._results.trials}:
            raise CrosswindError(f"{name}: there is no such trial")
        measurement = self._results.measurement(name)
        if measurement is None:
            raise CrosswindError(f"{name}: has no monitors, so there is nothing to replay")
        window, step_ns = measurement.window, measurement.series.step_ns
        return _TrialShown(
            trial=name,
            started_ns=window.started_ns,
            ended_ns=window.ended_ns,
            step_ns=step_ns,
            ledger=measurement.ledger,
            changes=measurement.changes,
            faults=[*_faults_of_nodes(measurement)],
            stalls=measurement.host.stalls or [],
            rates=[
                _RateShown(link=link, at_ns=at_ns, rate_bps=rate_bps)
                for link, at_ns, rate_bps in self._results.capacity(name)
            ],
            rows=[
                (
                    (row.at_ns - window.started_ns) // step_ns,
                    row.element,
                    row.departed_bytes,
                    row.dropped_packets,
                    row.queued_bytes,
                )
                for row in self._results.queues(name)
            ],
            buckets=[
                ((row.at_ns - window.started_ns) // step_ns, row.element, row.left_bits)
                for row in self._results.credit(name)
            ],
            operations=_operations(
                self._results.operations(name), window.started_ns, window.length_ns, step_ns
            ),
        )


def _faults_of_nodes(measurement: Measurement) -> Iterator[NodeFault]:
    """Yield the faults of nodes that were carried out, in their order."""
    for fault in sorted(measurement.faults, key=lambda fault: fault.done_ns):
        if fault.error is None and (kind := fault.of_nodes) is not None:
            yield NodeFault(
                at_ns=fault.done_ns,
                due_ns=fault.due_ns,
                kind=kind,
                nodes=tuple(fault.nodes),
                words=fault.words,
                by=fault.by,
            )


def _operations(
    found: Operations | None, started_ns: int, length_ns: int, step_ns: int
) -> _OperationsShown | None:
    """Return what the application did in each step of the window; an operation counts where it ended."""
    if found is None:
        return None
    count = -(-length_ns // step_ns)
    steps = (found.finished_ns - started_ns) // step_ns
    inside = (steps >= 0) & (steps < count)
    order = np.argsort(steps[inside], kind="stable")
    steps, ok = steps[inside][order], found.ok[inside][order]
    took_ns = (found.finished_ns - found.intended_ns)[inside][order]
    bounds = np.searchsorted(steps, np.arange(count + 1))
    shown = _OperationsShown(ended=[], failed=[], median_ns=[], p99_ns=[], slowest_ns=[])
    for begin, end in pairwise(bounds):
        succeeded = took_ns[begin:end][ok[begin:end]]
        shown.ended.append(int(end - begin))
        shown.failed.append(int(end - begin) - len(succeeded))
        shown.median_ns.append(float(np.median(succeeded)) if len(succeeded) else None)
        shown.p99_ns.append(float(np.quantile(succeeded, 0.99)) if len(succeeded) else None)
        shown.slowest_ns.append(int(succeeded.max()) if len(succeeded) else None)
    return shown
