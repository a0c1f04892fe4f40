"""Give the metrics of a trial their ranges: from its operations, or from the sum of disturbed time."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from crosswind.results.disturbances import Disturbances
from crosswind.results.ranges import Durations, Range, throughput
from crosswind.results.rows import Metric
from crosswind.results.touched import Touched

# What takes longer when time is lost, and what becomes less.
_TIMES, _RATES = {"ns"}, {"bit/s", "B/s", "1/s"}


class MeasuredOperations:
    """The measured operations of a trial, parts of operations among them.

    Args:
        names: of operations; one with a dot is of a part.
        kind: which of the names each operation has; other arrays have an entry for each operation, too.
        ok: whether it succeeded; only these have a latency.
        open_loop: whether operations have an intended start.
    """

    def __init__(
        self,
        names: list[str],
        kind: NDArray[np.int64],
        intended_ns: NDArray[np.int64],
        started_ns: NDArray[np.int64],
        finished_ns: NDArray[np.int64],
        ok: NDArray[np.bool_],
        open_loop: bool,
    ) -> None:
        self._names, self._open_loop = names, open_loop
        whole = ~np.array(["." in name for name in names], dtype=np.bool_)[kind]
        self._asked_ns, self._ended_ns = intended_ns[whole], finished_ns[whole]
        if not ok.all():
            whole, kind = whole[ok], kind[ok]
            intended_ns, started_ns, finished_ns = intended_ns[ok], started_ns[ok], finished_ns[ok]
        self._kind, self._finished_ns, self._whole = kind, finished_ns, whole
        self._begun_ns = {"latency": started_ns, "response": intended_ns}

    def ranged(
        self,
        metrics: Iterable[Metric],
        quantiles: Mapping[str, float],
        slow_ns: int,
        disturbed: Disturbances,
    ) -> list[Metric]:
        """Return the metrics with ranges.

        Args:
            quantiles: statistic -> p; others are `max` and `mean`.
            slow_ns: the time from which on an operation is slow.
        """
        found = list(metrics)
        if not disturbed.total_ns:
            return [with_range(metric, Range(metric.value, metric.value)) for metric in found]
        ranges: dict[tuple[str, str], Range] = {}
        for duration in self._begun_ns:
            mine = [metric for metric in found if metric.metric.partition(".")[0] == duration]
            if mine:
                ranges.update(self._durations(duration, mine, quantiles, disturbed))
        for metric in found:
            if metric.metric == "throughput":
                whole = self._touched("latency", self._whole, disturbed)
                ranges[metric.metric, metric.statistic] = throughput(whole, metric.value)
            if metric.metric == "slow":
                ranges[metric.metric, metric.statistic] = self._slow(metric.value, slow_ns, disturbed)
        return [with_range(metric, ranges.get((metric.metric, metric.statistic))) for metric in found]

    def _touched(self, duration: str, chosen: NDArray[np.bool_], disturbed: Disturbances) -> Touched:
        begun_ns, finished_ns = self._begun_ns[duration], self._finished_ns
        if not chosen.all():
            begun_ns, finished_ns = begun_ns[chosen], finished_ns[chosen]
        return Touched(begun_ns, finished_ns, disturbed, open_loop=self._open_loop)

    def _slow(self, measured: float, slow_ns: int, disturbed: Disturbances) -> Range:
        touched = Touched(self._asked_ns, self._ended_ns, disturbed, open_loop=self._open_loop)
        return Durations(touched, self._ended_ns - self._asked_ns).share_over(slow_ns, measured)

    def _durations(
        self,
        duration: str,
        metrics: list[Metric],
        quantiles: Mapping[str, float],
        disturbed: Disturbances,
    ) -> Iterator[tuple[tuple[str, str], Range]]:
        whole = self._whole
        touched = self._touched(duration, whole, disturbed)
        length_ns = self._finished_ns - self._begun_ns[duration]
        kinds = dict.fromkeys(metric.metric for metric in metrics)
        for name in kinds:
            of = name.removeprefix(duration).removeprefix(".")
            if not of:
                durations = Durations(touched, length_ns[whole])
            elif "." in of:
                # A part has instants of its own, and nothing of it is in the whole.
                chosen = self._kind == self._names.index(of)
                durations = Durations(self._touched(duration, chosen, disturbed), length_ns[chosen])
            else:
                chosen = (self._kind == self._names.index(of))[whole]
                durations = Durations(touched, length_ns[whole], chosen)
            for metric in metrics:
                if metric.metric == name:
                    yield (name, metric.statistic), _of(durations, metric, quantiles)


def _of(durations: Durations, metric: Metric, quantiles: Mapping[str, float]) -> Range:
    if metric.statistic == "mean":
        return durations.mean(metric.value)
    return durations.quantile(quantiles.get(metric.statistic, 1.0), metric.value)


def of_whole_trial(metric: Metric, disturbed: Disturbances) -> Metric:
    """Return a metric without operations with the range that the sum of disturbed time gives it.

    A time may be longer by that sum, and a rate less by its share of the window. Others have no range.
    """
    value, lost_ns, window_ns = metric.value, disturbed.total_ns, disturbed.window_ns
    if metric.unit in _TIMES:
        return with_range(metric, Range(max(value - lost_ns, 0.0), value))
    if metric.unit in _RATES:
        # Of a window that was lost as a whole nothing is known.
        most = value * window_ns / (window_ns - lost_ns) if lost_ns < window_ns else float("inf")
        return with_range(metric, Range(value, most))
    return metric


def with_range(metric: Metric, found: Range | None) -> Metric:
    """Return a metric with a range, where there is one."""
    return metric if found is None else metric._replace(low=float(found.low), high=float(found.high))
