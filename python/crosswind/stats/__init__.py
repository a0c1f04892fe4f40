"""Statistics of trials: plain numbers in, small dataclasses out.

Two kinds of numbers are kept apart. *Arrays of operations* of one trial may be described (`quantile`,
`box_plot`, `ecdf`, `tail_probability`). *One value per trial* (`PerTrial`) is what an interval may be
computed from: operations of one trial share its network, its machine and its moment, so a million of them are
one observation.
"""

from crosswind.stats.boxplot import BoxPlot, box_plot
from crosswind.stats.ecdf import Curve, ccdf, ecdf
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval, trials_needed
from crosswind.stats.quantile import quantile, quantiles
from crosswind.stats.ratio import RatioInterval, RatioNeedsTrials, ratio_interval
from crosswind.stats.tail import tail_probability
from crosswind.stats.trials import NotPerTrial, PerTrial

__all__ = [
    "BoxPlot",
    "Curve",
    "Interval",
    "NeedsTrials",
    "NotPerTrial",
    "PerTrial",
    "RatioInterval",
    "RatioNeedsTrials",
    "box_plot",
    "ccdf",
    "ecdf",
    "quantile",
    "quantile_interval",
    "quantiles",
    "ratio_interval",
    "tail_probability",
    "trials_needed",
]
