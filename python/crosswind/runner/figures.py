"""The result of a trial in the figures of its application."""

from collections.abc import Collection, Iterable

from crosswind.results import Metric
from crosswind.spec.resolved import ResolvedFigure
from crosswind.stream import FigureOfTrial


def value_of(figure: ResolvedFigure, metrics: Iterable[Metric]) -> float | None:
    """Return the value of a figure, summed over nodes; None where no node has it."""
    wanted = (figure.metric, figure.statistic)
    values = [metric.value for metric in metrics if (metric.metric, metric.statistic) == wanted]
    return sum(values) if values else None


def figures_of(figures: Iterable[ResolvedFigure], metrics: Collection[Metric]) -> tuple[FigureOfTrial, ...]:
    """Return the figures that a trial has."""
    return tuple(
        FigureOfTrial(name=figure.label, value=value, unit=figure.unit)
        for figure in figures
        if (value := value_of(figure, metrics)) is not None
    )
