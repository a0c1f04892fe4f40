"""Statistics of trials: plain numbers in, small dataclasses out.

Two kinds of numbers are kept apart. *Arrays of operations* of one trial may be described (`quantile`,
`box_plot`, `ecdf`, `tail_probability`). *One value per trial* (`PerTrial`) is what an interval may be
computed from: operations of one trial share its network, its machine and its moment, so a million of them are
one observation.

What a certificate asks is whether an emulation keeps a law that is known: curves of traffic
(`arrival_curve_excess`, `service_curve_lateness_ns`), distances from a distribution (`ks_distance`,
`wasserstein_distance`), queueing (`MD1`), and equivalence within a margin (`tost_paired`).
"""

from crosswind.stats.arrival_curve import Excess, arrival_curve_excess
from crosswind.stats.boxplot import BoxPlot, box_plot
from crosswind.stats.distance import ks_bound, ks_distance, wasserstein_distance
from crosswind.stats.ecdf import Curve, ccdf, ecdf
from crosswind.stats.equivalence import Equivalence, tost_paired
from crosswind.stats.fairness import jain_index
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval, trials_needed
from crosswind.stats.mdone import MD1
from crosswind.stats.quantile import quantile, quantiles
from crosswind.stats.ratio import RatioInterval, RatioNeedsTrials, ratio_interval
from crosswind.stats.runs import run_lengths
from crosswind.stats.service_curve import service_curve_lateness_ns
from crosswind.stats.tail import tail_probability
from crosswind.stats.trials import NotPerTrial, PerTrial

__all__ = [
    "MD1",
    "BoxPlot",
    "Curve",
    "Equivalence",
    "Excess",
    "Interval",
    "NeedsTrials",
    "NotPerTrial",
    "PerTrial",
    "RatioInterval",
    "RatioNeedsTrials",
    "arrival_curve_excess",
    "box_plot",
    "ccdf",
    "ecdf",
    "jain_index",
    "ks_bound",
    "ks_distance",
    "quantile",
    "quantile_interval",
    "quantiles",
    "ratio_interval",
    "run_lengths",
    "service_curve_lateness_ns",
    "tail_probability",
    "tost_paired",
    "trials_needed",
    "wasserstein_distance",
]
