"""Statistics of trials: functions of plain numbers that return small dataclasses.

There are two kinds of numbers. *Arrays of operations* of one trial can be described (`quantile`, `box_plot`,
`ecdf`, `tail_probability`). *One value per trial* (`PerTrial`) is needed for an interval: operations of one
trial share its network, its machine and its time, so a million of them are one observation.

Groups of trials are compared by rank (`mann_whitney`, `kruskal_wallis`), by difference (`hodges_lehmann`) or
by ratio (`ratio_interval`). `holm` corrects for the number of comparisons, and `confirm` gives the number of
trials that an interval needs. A question without an answer raises an error with its reason. A question that
needs more trials returns their number.

Certificates compare samples with a known distribution: by distance (`ks_distance`, `wasserstein_distance`)
and by equivalence within a margin (`ks_equivalence`, `tost_paired`).
"""

from crosswind.stats.batch_means import batch_mean
from crosswind.stats.between import GroupsNeedTrials, RatioInterval, ShiftInterval
from crosswind.stats.bounded import Bounded, difference_of, ratio_of
from crosswind.stats.boxplot import BoxPlot, box_plot
from crosswind.stats.confirm import Confirm, ConfirmCurve, confirm, confirm_curve
from crosswind.stats.correction import hochberg, holm
from crosswind.stats.decide import more_trials_to_decide
from crosswind.stats.dip import dip, dip_p
from crosswind.stats.distance import ks_bound, ks_distance, wasserstein_distance
from crosswind.stats.ecdf import Curve, ccdf, ecdf
from crosswind.stats.equivalence import Alike, Equivalence, alike, tost_paired
from crosswind.stats.fairness import jain_index
from crosswind.stats.fewer import FewerTrials, fewer_trials
from crosswind.stats.guard import (
    GUARD_TRIALS_MIN,
    Guard,
    RefusedComparison,
    RefusedInterval,
    guard,
    guard_together,
    guarded_interval,
    guarded_ratio,
)
from crosswind.stats.hodges_lehmann import hodges_lehmann
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval
from crosswind.stats.kruskal_wallis import KruskalWallis, kruskal_wallis
from crosswind.stats.law_equivalence import (
    DistanceBound,
    ks_equivalence,
    samples_for_margin,
    wasserstein_equivalence,
)
from crosswind.stats.ljung_box import autocorrelations
from crosswind.stats.mann_whitney import MannWhitney, mann_whitney
from crosswind.stats.matched_guard import matched_guard
from crosswind.stats.modes import Mode, modes
from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.quantile import quantile, quantiles
from crosswind.stats.ranks import Ranks, quantile_ranks, trials_needed
from crosswind.stats.ratio import ratio_interval
from crosswind.stats.runs import run_lengths
from crosswind.stats.share import share_interval
from crosswind.stats.spread import coefficient_of_variation
from crosswind.stats.stopping import LOOKS, StoppingLook, StoppingRule
from crosswind.stats.student_mean import student_mean
from crosswind.stats.tail import tail_probability
from crosswind.stats.trials import NotPerTrial, PerTrial
from crosswind.stats.values import Refused

__all__ = [
    "GUARD_TRIALS_MIN",
    "LOOKS",
    "Alike",
    "Bounded",
    "BoxPlot",
    "Confirm",
    "ConfirmCurve",
    "Curve",
    "DistanceBound",
    "Equivalence",
    "FewerTrials",
    "GroupsNeedTrials",
    "Guard",
    "Interval",
    "KruskalWallis",
    "MannWhitney",
    "Mode",
    "NeedsTrials",
    "NotPerTrial",
    "PerTrial",
    "Ranks",
    "RatioInterval",
    "Refused",
    "RefusedComparison",
    "RefusedInterval",
    "ShiftInterval",
    "StoppingLook",
    "StoppingRule",
    "alike",
    "autocorrelations",
    "batch_mean",
    "box_plot",
    "ccdf",
    "coefficient_of_variation",
    "confirm",
    "confirm_curve",
    "difference_of",
    "dip",
    "dip_p",
    "ecdf",
    "fewer_trials",
    "guard",
    "guard_together",
    "guarded_interval",
    "guarded_ratio",
    "hochberg",
    "hodges_lehmann",
    "holm",
    "jain_index",
    "kruskal_wallis",
    "ks_bound",
    "ks_distance",
    "ks_equivalence",
    "mann_whitney",
    "matched_guard",
    "modes",
    "more_trials_to_decide",
    "normal_scores",
    "quantile",
    "quantile_interval",
    "quantile_ranks",
    "quantiles",
    "ratio_interval",
    "ratio_of",
    "run_lengths",
    "samples_for_margin",
    "share_interval",
    "student_mean",
    "tail_probability",
    "tost_paired",
    "trials_needed",
    "wasserstein_distance",
    "wasserstein_equivalence",
]
