"""The result of a trial in the figures of its application."""

from collections.abc import Iterable

from crosswind.results import Metric
from crosswind.spec.resolved import ResolvedFigure
from crosswind.text.units import quantity


def value_of(figure: ResolvedFigure, metrics: Iterable[Metric]) -> float | None:
    """Return the value of a figure, summed over nodes; None where no node has it."""
    wanted = (figure.metric, figure.statistic)
    values = [metric.value for metric in metrics if (metric.metric, metric.statistic) == wanted]
    return sum(values) if values else None


def figures_text(figures: Iterable[ResolvedFigure], metrics: Iterable[Metric]) -> str:
    """Return the figures of a trial in one line, such as `P99 206 ms, P50 2.00 ms`."""
    metrics = list(metrics)
    texts = (f"{figure.label} {quantity(value_of(figure, metrics), figure.unit)}" for figure in figures)
    # A plain terminal shows the spaces of a page as question marks.
    return ", ".join(texts).replace("\u00a0", " ").replace("\u202f", "")
