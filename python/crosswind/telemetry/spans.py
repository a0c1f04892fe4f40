"""A run as a trace: a span for the run, for every attempt of a trial, and for each part of an attempt."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import pairwise

from crosswind import __version__
from crosswind.errors import CrosswindError
from crosswind.results.journal import JournalStep, read_steps
from crosswind.results.measurement import Fault
from crosswind.results.reading import Results, StoredTrial
from crosswind.results.rows import attempt_name
from crosswind.spec.resolved import REAL_TIME
from crosswind.telemetry.otlp import Attributes, SpanEvent, TraceSpan, line_of

# What an attempt does after a step of the journal.
_PARTS = {"started": "network up", "up": "prepare", "prepared": "measure", "measured": "store"}


def trace_of(results: Results) -> str:
    """Return a run as OTLP/JSON, in one line; the same run has the same identifiers every time.

    Raises: CrosswindError: no trial was tried.
    """
    steps = _by_attempt(read_steps(results.path / "journal.sqlite"))
    trials = [trial for trial in results.trials if trial.started is not None]
    if not trials:
        raise CrosswindError(f"{results.path}: no trial was tried, so there is no trace; run the experiment")
    resolved = results.resolved
    # A folder has its instant and a hash of its experiment in its name, and may be copied.
    run = f"{resolved.name}/{results.path.resolve().name}/{min(map(_started_ns, trials))}"
    trace = _identifier(run, 16)
    root = _identifier(f"{run}/run", 8)
    spans = [
        span
        for trial in trials
        for span in _AttemptSpans(results, trial, steps.get(trial.trial, []), trace, root).spans()
    ]
    about: Attributes = {
        "crosswind.experiment": resolved.name,
        "crosswind.application": resolved.application.name,
        "crosswind.attempts": len(trials),
    }
    around = TraceSpan(
        trace,
        root,
        f"run {resolved.name}",
        min(span.started_ns for span in spans),
        max(span.ended_ns for span in spans),
        attributes=about,
    )
    return line_of([around, *spans], {"service.name": "crosswind", "service.version": __version__})


class _AttemptSpans:
    """The spans of one attempt."""

    def __init__(
        self, results: Results, trial: StoredTrial, steps: Sequence[JournalStep], trace: bytes, run: bytes
    ) -> None:
        self._results = results
        self._trial = trial
        self._steps = steps
        self._trace = trace
        self._run = run
        self._id = self._identifier("attempt")

    def spans(self) -> Iterator[TraceSpan]:
        """Yield the span of the attempt, and one for each part of it."""
        trial, steps = self._trial, self._steps
        if trial.duration_s is None:
            # The process was killed; `resume` noted that later, and when it ended is unknown.
            steps = steps[:-1]
        started_ns = _started_ns(trial)
        ended_ns = started_ns + round((trial.duration_s or 0) * 1e9)
        if steps:
            started_ns, ended_ns = _unix_ns(steps[0].at), _unix_ns(steps[-1].at)
        yield TraceSpan(
            self._trace,
            self._id,
            f"trial {trial.condition}",
            started_ns,
            ended_ns,
            self._run,
            self._attributes(),
            [*self._events(ended_ns)],
            self._error(),
        )
        for before, step in pairwise(steps):
            yield TraceSpan(
                self._trace,
                self._identifier(before.step),
                _PARTS.get(before.step, before.step),
                _unix_ns(before.at),
                _unix_ns(step.at),
                self._id,
                error=trial.reason if step.step in ("failed", "interrupted") else None,
            )

    def _attributes(self) -> Attributes:
        trial = self._trial
        found: dict[str, str | bool | int | float] = {
            "crosswind.trial": trial.trial,
            "crosswind.condition": trial.condition,
            "crosswind.block": trial.block,
            "crosswind.position": trial.position,
            "crosswind.attempt": trial.attempt,
            "crosswind.status": trial.status,
        }
        for key, text in (("fidelity", trial.fidelity), ("fidelity_reason", trial.fidelity_reason)):
            if text is not None:
                found[f"crosswind.{key}"] = text
        metrics = self._results.metrics.get(trial.trial, [])
        for figure in self._results.resolved.application.figures:
            of = (figure.metric, figure.statistic)
            values = [value for _, metric, statistic, value in metrics if (metric, statistic) == of]
            if values:
                name = ".".join(of)
                found[f"crosswind.figure.{name}"] = float(sum(values))
                found[f"crosswind.unit.{name}"] = figure.unit
        return found

    def _events(self, ended_ns: int) -> Iterator[SpanEvent]:
        """Yield changes of the condition, faults, stalls, and why the attempt failed."""
        trial = self._trial
        if trial.status == "failed":
            yield SpanEvent(ended_ns, "exception", {"exception.message": trial.reason or trial.status})
        measurement = self._results.measurement(trial.trial)
        offset_ns = 0 if measurement is None else measurement.window.realtime_minus_monotonic_ns
        if measurement is None or offset_ns == 0:  # Older versions did not store it.
            return
        # Spans are of real time.
        perceived = measurement.time or REAL_TIME
        for fault in measurement.faults:
            yield SpanEvent(perceived.real_ns(fault.done_ns) + offset_ns, "fault", _fault_attributes(fault))
        for change in measurement.changes:
            if change.by == "timeline" and change.cuts is not None and not change.places:
                continue  # A fault, and no other change.
            about = {
                "crosswind.condition": change.condition,
                "crosswind.by": change.by,
                "crosswind.places": json.dumps(change.places),
            }
            yield SpanEvent(perceived.real_ns(change.at_ns) + offset_ns, "condition", about)
        for stall in measurement.host.stalls or []:
            length_s = perceived.real_s(stall.length_ns / 1e9)
            yield SpanEvent(
                perceived.real_ns(stall.at_ns) + offset_ns, "stall", {"crosswind.length_s": length_s}
            )

    def _error(self) -> str | None:
        trial = self._trial
        if trial.status != "done":
            return trial.reason or trial.status
        return f"void: {trial.fidelity_reason}" if trial.fidelity == "void" else None

    def _identifier(self, part: str) -> bytes:
        return _identifier(f"{self._trace.hex()}/{self._trial.trial}/{part}", 8)


def _fault_attributes(fault: Fault) -> Attributes:
    about: dict[str, str | bool | int | float] = {
        "crosswind.fault": fault.words,
        "crosswind.fault.kind": fault.kind,
        "crosswind.fault.nodes": " ".join(fault.nodes),
        "crosswind.by": fault.by,
        "crosswind.late_s": (fault.done_ns - fault.due_ns) / 1e9,
    }
    return about if fault.error is None else about | {"crosswind.fault.error": fault.error}


def _by_attempt(steps: Sequence[JournalStep]) -> dict[str, list[JournalStep]]:
    """Return the steps of every attempt in order, by its name; the first is `started`.

    Moves by hand end no part of an attempt.
    """
    found: dict[str, list[JournalStep]] = {}
    for step in steps:
        if step.step not in ("planned", "moved"):
            found.setdefault(attempt_name(step.trial, step.attempt), []).append(step)
    return found


def _identifier(text: str, length: int) -> bytes:
    return hashlib.sha256(text.encode()).digest()[:length]


def _started_ns(trial: StoredTrial) -> int:
    assert trial.started is not None
    return _since_1970_ns(trial.started)


def _unix_ns(at: str) -> int:
    return _since_1970_ns(datetime.fromisoformat(at))


def _since_1970_ns(at: datetime) -> int:
    # A float of seconds has no nanoseconds; microseconds are exact.
    return (int(at.timestamp()) * 10**6 + at.microsecond) * 1000
