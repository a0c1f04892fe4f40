"""The metrics of a run: its progress, the trial that runs, and the figures so far with their intervals."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

from prometheus_client import Metric
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, InfoMetricFamily

from crosswind.stream import Event, OperationsStep, RunBegun, SoFar, TrialBegun, TrialEnded, TrialReached

_FIGURE = ("condition", "figure", "unit")


class OfRun:
    """Takes the events of a run."""

    def __init__(self) -> None:
        self._run: RunBegun | None = None
        self._trial: TrialBegun | None = None
        self._step = "begun"
        self._so_far: SoFar | None = None
        self._trials = self._ended = 0
        self._left_s: float | None = None
        self._attempts: Counter[tuple[str, str, str]] = Counter()
        self._last: dict[tuple[str, str, str], float] = {}
        # Operations that ended, and those of them that failed, by application.
        self._operations: Counter[str] = Counter()
        self._failed: Counter[str] = Counter()
        self._now: OperationsStep | None = None

    def take(self, event: Event) -> None:
        """Take one event; those of a network are not looked at."""
        match event:
            case RunBegun():
                self._run = event
                self._trials, self._ended = event.trials, event.ended
            case TrialBegun():
                self._trial, self._step = event, "begun"
                self._trials, self._ended, self._left_s = event.trials, event.ended, event.left_s
            case TrialReached():
                self._step = event.step
            case TrialEnded():
                self._end(event)
            case SoFar():
                self._so_far = event
            case OperationsStep():
                self._now = event
                self._operations[event.application] += event.ended
                self._failed[event.application] += event.failed

    def _end(self, event: TrialEnded) -> None:
        self._trial = self._now = None
        # A void attempt is made again, and one that a hand explored.
        counts = event.status == "failed" or (event.status == "done" and event.fidelity != "void")
        self._ended += counts and not event.explored
        self._attempts[event.condition, event.status, event.fidelity or ""] += 1
        for figure in event.figures:
            value, unit = _in_base_unit(figure.value, figure.unit)
            self._last[event.condition, figure.name, unit] = value

    def families(self) -> Iterator[Metric]:
        """Yield the metrics as they are now; none where there is no run."""
        if self._run is None:
            return
        run, begun = InfoMetricFamily("crosswind_run", "The experiment that runs."), self._run
        labels = {"experiment": begun.name, "application": begun.application, "baseline": begun.baseline}
        run.add_metric((), labels)
        yield run
        yield GaugeMetricFamily("crosswind_run_trials", "Trials planned so far.", value=self._trials)
        yield GaugeMetricFamily(
            "crosswind_run_trials_ended", "Planned trials that need no attempt any more.", value=self._ended
        )
        if self._left_s is not None:
            yield GaugeMetricFamily(
                "crosswind_run_left_seconds",
                "Estimated time until the last planned trial ends, when the last attempt began.",
                value=self._left_s,
                unit="seconds",
            )
        yield from self._of_trials()
        yield from self._of_operations()
        if self._so_far is not None:
            yield from _known(self._so_far)

    def _of_trials(self) -> Iterator[Metric]:
        trial = InfoMetricFamily(
            "crosswind_trial", "The attempt that runs, and the last step that it reached."
        )
        if (now := self._trial) is not None:
            labels = {"trial": now.trial, "attempt": str(now.attempt), "block": str(now.block)}
            trial.add_metric((), labels | {"condition": now.condition, "step": self._step})
        yield trial
        attempts = CounterMetricFamily(
            "crosswind_attempts",
            "Attempts of trials that ended since this process began.",
            labels=("condition", "status", "fidelity"),
        )
        for labels_of, number in self._attempts.items():
            attempts.add_metric(labels_of, number)
        yield attempts
        last = GaugeMetricFamily(
            "crosswind_trial_figure_value", "A figure of the last trial of a condition.", labels=_FIGURE
        )
        for labels_of, value in self._last.items():
            last.add_metric(labels_of, value)
        yield last

    def _of_operations(self) -> Iterator[Metric]:
        for name, words, counted in (
            ("operations", "Operations that ended, those of warm-ups too.", self._operations),
            ("operations_failed", "Those of them that failed.", self._failed),
        ):
            family = CounterMetricFamily(f"crosswind_{name}", words, labels=("application",))
            for application, number in counted.items():
                family.add_metric((application,), number)
            yield family
        latency = GaugeMetricFamily(
            "crosswind_operation_latency_seconds",
            "Quantiles of the latency of operations in the last 100 ms.",
            labels=("application", "quantile"),
            unit="seconds",
        )
        if (now := self._now) is not None:
            for quantile, found_ns in (("0.5", now.median_ns), ("0.99", now.p99_ns), ("1", now.slowest_ns)):
                if found_ns is not None:
                    latency.add_metric((now.application, quantile), found_ns / 1e9)
        yield latency


def _known(so_far: SoFar) -> Iterator[Metric]:
    """Yield what is known of conditions after the last trial."""
    for name, words in (
        ("value", "The first figure of a condition, over its trials so far."),
        ("low", "Lower end of its confidence interval."),
        ("high", "Upper end of its confidence interval."),
    ):
        family = GaugeMetricFamily(f"crosswind_figure_{name}", words, labels=_FIGURE)
        for condition in so_far.conditions:
            found: float | None = getattr(condition, name)
            if found is not None:
                value, unit = _in_base_unit(found, so_far.unit)
                family.add_metric((condition.condition, so_far.figure, unit), value)
        yield family
    for name, words in (
        ("trials", "Trials of a condition that count."),
        ("needed", "More trials that a condition needs for an interval, or by the stopping rule."),
    ):
        counts = GaugeMetricFamily(
            "crosswind_condition_trials" + ("_needed" if name == "needed" else ""),
            words,
            labels=("condition",),
        )
        for condition in so_far.conditions:
            number: int | None = getattr(condition, name)
            if number is not None:
                counts.add_metric((condition.condition,), number)
        yield counts
    yield GaugeMetricFamily("crosswind_run_blocks", "Blocks that are complete.", value=so_far.blocks)
    yield GaugeMetricFamily(
        "crosswind_run_blocks_planned", "Blocks planned so far.", value=so_far.blocks_planned
    )


def _in_base_unit(value: float, unit: str) -> tuple[float, str]:
    """Return a time in seconds, as Prometheus and Grafana expect it; other values as they are."""
    return (value / 1e9, "s") if unit == "ns" else (value, unit)
