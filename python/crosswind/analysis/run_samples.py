"""Read the trials of a run as samples: one number of each, by condition, in the order in which they ran."""

from __future__ import annotations

from pathlib import Path

import numpy as np

from crosswind.analysis.measure import Measure
from crosswind.analysis.samples import Samples
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.errors import CrosswindError
from crosswind.text.nearest import did_you_mean
from crosswind.text.units import column_unit, units_of


def run_samples(folder: Path, column: str | None = None) -> Samples:
    """Return a number of every counted trial: done, and not void.

    Args:
        folder: of a run, or of an experiment, which stands for its latest run.
        column: the label of the number in the report (`P99`, `job time`); None for the application's first.
    Raises:
        NotAResultsFolder: it is none.
        CrosswindError: the run has no such number, or no trial has it.
    """
    summary = summarise(folder)
    measure = summary.primary if column is None else _named(summary, column)
    found = [
        (place, trial)
        for place, condition in enumerate(summary.conditions)
        for trial in condition.counted
        if measure.key in trial.values
    ]
    if not found:
        raise CrosswindError(
            f"{folder}: no counted trial has a {measure.label}; run or resume the experiment"
        )
    group_of, trials = zip(*found, strict=True)
    values = [trial.values[measure.key] for trial in trials]
    planned, measured = ({(t.row.block, t.row.position) for t in some} for some in (summary.trials, trials))
    unit = column_unit(values, units_of(measure.unit))
    return Samples(
        file=str(folder),
        column=f"{measure.label}, {unit.name}".removesuffix(", "),
        by="condition",
        trial=None,
        groups=tuple(condition.name for condition in summary.conditions),
        values=np.array(values, dtype=np.float64) / unit.size,
        group_of=np.array(group_of),
        trials=(),
        trial_of=None,
        left_out=len(planned - measured),
        buckets=tuple(tuple(condition.buckets) for condition in summary.conditions),
    )


def _named(summary: Summary, column: str) -> Measure:
    for measure in summary.measures:
        if column.casefold() in (measure.label.casefold(), measure.key):
            return measure
    labels = [measure.label for measure in summary.measures]
    remedy = did_you_mean(column, labels) or f"there are {', '.join(labels)}"
    raise CrosswindError(f'--column: {summary.folder} has no number "{column}"; {remedy}')
