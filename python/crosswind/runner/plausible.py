"""Whether the numbers of a trial can be true, for any application: exit status 0 proves nothing.

Several load generators exit with 0 although all of their requests failed. Each application checks its own
tool in `Load.outcome`; what must hold for all applications is checked here.
"""

import math
from collections.abc import Iterator, Sequence

from crosswind.results import Metric
from crosswind.runner.figures import value_of
from crosswind.spec.resolved import ResolvedFigure
from crosswind.testbed import TestbedError

# As `crosswind-load --error-share-max` (contracts.md, section 4): above it a load has not met its target.
ERROR_SHARE_MAX = 0.01


def check_plausible(
    metrics: Sequence[Metric], figures: Sequence[ResolvedFigure], *, may_fail: bool = False
) -> None:
    """Check the numbers of a trial.

    Args:
        figures: of the application, as resolved.json has them.
        may_fail: any share of the operations may have failed, but not all.
    Raises: TestbedError: names each number that cannot be true.
    """
    if wrong := [*_operations(metrics, may_fail), *_numbers(metrics), *_figures(metrics, figures)]:
        raise TestbedError("; ".join(wrong) + "; the logs of the trial have the output of its tools")


def _operations(metrics: Sequence[Metric], may_fail: bool) -> Iterator[str]:
    done, errors = _total(metrics, "operations"), _total(metrics, "errors") or 0
    if done == 0:
        yield f"no operation succeeded, {errors:g} failed"
    elif done is not None and not may_fail and errors > (done + errors) * ERROR_SHARE_MAX:
        yield f"{errors:g} of {done + errors:g} operations failed, more than {ERROR_SHARE_MAX:.0%}"


def _numbers(metrics: Sequence[Metric]) -> Iterator[str]:
    for metric in metrics:
        if not math.isfinite(metric.value):
            yield f"{metric.metric} ({metric.statistic}) is {metric.value}, which is not a number"


def _figures(metrics: Sequence[Metric], figures: Sequence[ResolvedFigure]) -> Iterator[str]:
    for figure in figures:
        value, name = value_of(figure, metrics), f"{figure.metric} ({figure.statistic})"
        if value is None:
            yield f"{name} is missing, and every trial of this application has it"
        elif value < 0:
            yield f"{name} is {value:g} {figure.unit}, below zero"
        elif value == 0 and (figure.better == "higher" or figure.unit == "ns"):
            yield f"{name} is 0 {figure.unit}: nothing was done, or nothing was measured"


def _total(metrics: Sequence[Metric], name: str) -> float | None:
    values = [metric.value for metric in metrics if metric.metric == name]
    return sum(values) if values else None
