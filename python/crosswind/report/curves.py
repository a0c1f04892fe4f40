"""Prepare the curves of single operations: read once, and thinned.

Thirty trials of ten thousand operations would make a page of many megabytes. So all curves together have at
most POINTS points. The ends of a curve and, for the CCDF, all operations of the far tail are always included.
"""

from dataclasses import dataclass

import numpy as np

from crosswind.analysis.summary import Summary
from crosswind.results.reading import Results
from crosswind.stats import BoxPlot, Curve, box_plot, ccdf, ecdf, tail_probability

POINTS = 12_000  # of all ECDFs together, and of all CCDFs: for thirty trials as many as a screen shows
THRESHOLDS_NS = {"1 ms": 1e6, "10 ms": 1e7, "100 ms": 1e8, "1 s": 1e9}


@dataclass(frozen=True)
class TrialCurves:
    """One counted trial; latencies in ns."""

    trial: str
    block: int
    ecdf: Curve
    ccdf: Curve


@dataclass(frozen=True)
class ConditionCurves:
    """One condition: curves by trial, and a description of all its operations together."""

    trials: list[TrialCurves]
    pooled: BoxPlot | None
    operations: int
    beyond: dict[str, float]  # threshold -> share of all operations
    longest_ns: float | None


def read_curves(summary: Summary, results: Results) -> dict[str, ConditionCurves]:
    """Return condition -> its curves, over counted trials with samples."""
    counted = sum(len(condition.counted) for condition in summary.conditions)
    points = int(np.clip(POINTS / max(counted, 1), 40, 400))
    curves = {}
    for condition in summary.conditions:
        trials, latencies = [], []
        for trial in condition.counted:
            operations = results.operations(trial.row.trial)
            if operations is None or not operations.ok.any():
                continue
            latency = (operations.finished_ns - operations.intended_ns)[operations.ok].astype(np.float64)
            latencies.append(latency)
            trials.append(
                TrialCurves(trial.row.trial, trial.row.block, ecdf(latency, points), ccdf(latency, points))
            )
        curves[condition.name] = _together(trials, np.concatenate(latencies or [np.empty(0)]))
    return curves


def _together(trials: list[TrialCurves], pooled: np.typing.NDArray[np.float64]) -> ConditionCurves:
    if pooled.size == 0:
        return ConditionCurves(trials, None, 0, {}, None)
    beyond = {name: tail_probability(pooled, threshold) for name, threshold in THRESHOLDS_NS.items()}
    return ConditionCurves(trials, box_plot(pooled), pooled.size, beyond, float(pooled.max()))
