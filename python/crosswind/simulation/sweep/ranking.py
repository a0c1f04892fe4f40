"""What a sweep says of each condition, and which conditions deserve a real trial."""

from __future__ import annotations

import statistics
from dataclasses import dataclass

from pydantic import JsonValue

from crosswind.analysis.measure import Measure, primary_of
from crosswind.analysis.plain import as_plain
from crosswind.errors import CrosswindError
from crosswind.results.documents import blaming
from crosswind.results.query import literal, query
from crosswind.simulation.sweep.deserving import Deserving, Simulated, chosen
from crosswind.simulation.sweep.folder import SweepFolder
from crosswind.simulation.sweep.part import TCP
from crosswind.spec.resolved import Resolved


@dataclass(frozen=True)
class Ranking:
    """What a sweep says of an experiment's conditions.

    Attributes:
        figure: what effects and spreads are of.
        baseline: the first condition of the experiment.
        missing: conditions that are not simulated yet.
        chosen: those that deserve a real trial beside the baseline, in the order of turns.
    """

    figure: Measure
    baseline: str
    conditions: list[Simulated]
    missing: int
    chosen: list[Deserving]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the ranking as plain values."""
        return {
            "figure": {"metric": self.figure.metric, "statistic": self.figure.statistic},
            "baseline": self.baseline,
            "missing": self.missing,
            "chosen": [{"condition": each.of.condition, "why": each.why} for each in self.chosen],
            "conditions": [as_plain(each) for each in self.conditions],
        }


def rank(resolved: Resolved, folder: SweepFolder, at_most: int) -> Ranking:
    """Return which conditions deserve a real trial.

    Args:
        resolved: the experiment.
        folder: its sweep, which may be incomplete.
        at_most: how many conditions to choose.
    Raises: CrosswindError: the sweep is of another experiment, or has no trial.
    """
    folder.check(resolved)
    figure = primary_of(resolved.application.figures, open_loop=False)
    found = _read(folder, figure)
    if not found:
        raise CrosswindError(
            f"{folder.path}: has no trials yet; simulate them with `crosswind simulate --store {folder.path}`"
        )
    names = [condition.name for condition in resolved.conditions]
    baseline = statistics.median(values) if (values := found.get(names[0], _NONE).values) else None
    conditions = [_simulated(name, found[name], baseline) for name in names if name in found]
    levels = {condition.name: condition.factors for condition in resolved.conditions}
    missing = len(names) - len(conditions)
    return Ranking(figure, names[0], conditions, missing, chosen(conditions, levels, names[0], at_most))


@dataclass(frozen=True)
class _Trials:
    trials: int
    refused: str | None
    values: list[float]
    timeouts: float | None


_NONE = _Trials(0, None, [], None)


def _read(folder: SweepFolder, figure: Measure) -> dict[str, _Trials]:
    """Return the trials of each condition."""
    files = ", ".join(literal(file) for file in folder.files())
    if not files:
        return {}
    select = f"""
        WITH trial AS (
            SELECT condition, trial, any_value(refused) AS refused,
                sum(value) FILTER (metric = $metric AND statistic = $statistic) AS figure,
                sum(value) FILTER (metric = 'timeouts') AS late,
                sum(value) FILTER (metric = 'operations') AS operations,
                sum(value) FILTER (metric = '{TCP}' AND statistic IN ('timeouts', 'probes')) AS timers,
                sum(value) FILTER (metric = '{TCP}' AND statistic = 'sent') AS sent
            FROM read_parquet([{files}]) GROUP BY ALL)
        SELECT condition, count(*), any_value(refused), list(figure) FILTER (figure IS NOT NULL),
            CASE WHEN sum(operations) > 0 THEN sum(late) / sum(operations)
                WHEN sum(sent) > 0 THEN sum(timers) / sum(sent) END
        FROM trial GROUP BY condition"""
    asked = {"metric": figure.metric, "statistic": figure.statistic}
    with query() as connection, blaming(folder.path / "trials", "simulate into another folder"):
        rows = connection.execute(select, asked).fetchall()
    return {name: _Trials(count, why, values or [], share) for name, count, why, values, share in rows}


def _simulated(name: str, trials: _Trials, baseline: float | None) -> Simulated:
    values = trials.values
    value = statistics.median(values) if values else None
    return Simulated(
        condition=name,
        trials=trials.trials,
        refused=trials.refused,
        value=value,
        effect=value / baseline if value and baseline else None,
        spread=max(values) / min(values) if len(values) > 1 and min(values) > 0 else None,
        timeouts=trials.timeouts,
    )
