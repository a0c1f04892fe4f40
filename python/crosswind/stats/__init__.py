"""Statistics of trials: plain numbers in, small dataclasses out.

Two kinds of numbers are kept apart. *Arrays of operations* of one trial may be described (`quantile`,
`box_plot`, `ecdf`, `tail_probability`). *One value per trial* (`PerTrial`) is what an interval may be
computed from: operations of one trial share its network, its machine and its moment, so a million of them are
one observation.

Groups of trials are compared by rank (`mann_whitney`, `kruskal_wallis`), by difference (`hodges_lehmann`) or
as a ratio (`ratio_interval`, `bootstrap_ratio`); `holm` corrects for how many comparisons there are, and
`confirm` says how many trials an interval takes. What cannot be answered is `Refused` with its reason; what
needs more trials is an answer that says how many.

What a certificate asks is whether an emulation keeps a law that is known: curves of traffic
(`arrival_curve_excess`, `service_curve_lateness_ns`), distances from a distribution (`ks_distance`,
`wasserstein_distance`), queueing (`MD1`), and equivalence within a margin (`tost_paired`).
"""

from crosswind.stats.adf import augmented_dickey_fuller
from crosswind.stats.agreement import Kappa, cohens_kappa
from crosswind.stats.bartels import bartels
from crosswind.stats.batch_means import batch_mean
from crosswind.stats.between import GroupsNeedTrials, RatioInterval, ShiftInterval
from crosswind.stats.bootstrap import BootstrapRatio, bootstrap_ratio
from crosswind.stats.bounded import Bounded, difference_of, ratio_of
from crosswind.stats.boxplot import BoxPlot, box_plot
from crosswind.stats.confirm import Confirm, ConfirmCurve, confirm, confirm_by_subsets, confirm_curve
from crosswind.stats.correction import benjamini_hochberg, hochberg, holm
from crosswind.stats.cusum import Shift, permutation_cusum
from crosswind.stats.decide import more_trials_to_decide
from crosswind.stats.dip import dip, dip_test
from crosswind.stats.distance import ks_bound, ks_distance, wasserstein_distance
from crosswind.stats.e_divisive import Division, best_division, e_divisive
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
from crosswind.stats.histogram import Histogram, log_linear, merge
from crosswind.stats.hodges_lehmann import hodges_lehmann
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval
from crosswind.stats.kolmogorov_smirnov import ks_test, ks_two_samples
from crosswind.stats.kpss import kpss
from crosswind.stats.kruskal_wallis import KruskalWallis, kruskal_wallis
from crosswind.stats.law_equivalence import (
    Nearness,
    ks_equivalence,
    samples_for_margin,
    wasserstein_equivalence,
)
from crosswind.stats.ljung_box import autocorrelations, ljung_box
from crosswind.stats.mann_kendall import mann_kendall
from crosswind.stats.mann_whitney import MannWhitney, mann_whitney
from crosswind.stats.matched_guard import matched_guard
from crosswind.stats.modes import Mode, modes
from crosswind.stats.normal_scores import normal_scores
from crosswind.stats.pelt import pelt
from crosswind.stats.quantile import quantile, quantiles
from crosswind.stats.quantile_regression import QuantileRegression, quantile_regression
from crosswind.stats.ranks import Convention, Ranks, quantile_ranks, trials_needed
from crosswind.stats.ratio import ratio_interval
from crosswind.stats.runs import run_lengths
from crosswind.stats.runs_test import runs_test
from crosswind.stats.shapiro_wilk import shapiro_wilk
from crosswind.stats.share import share_interval
from crosswind.stats.spread import coefficient_of_variation, quartile_dispersion, robust_variation
from crosswind.stats.stopping import LOOKS, Look, StoppingRule
from crosswind.stats.student_mean import student_mean
from crosswind.stats.tail import tail_probability
from crosswind.stats.tested import Tested
from crosswind.stats.trials import NotPerTrial, PerTrial
from crosswind.stats.turning_points import turning_points
from crosswind.stats.values import Refused
from crosswind.stats.welch import Welch, welch

__all__ = [
    "GUARD_TRIALS_MIN",
    "LOOKS",
    "Alike",
    "BootstrapRatio",
    "Bounded",
    "BoxPlot",
    "Confirm",
    "ConfirmCurve",
    "Convention",
    "Curve",
    "Division",
    "Equivalence",
    "FewerTrials",
    "GroupsNeedTrials",
    "Guard",
    "Histogram",
    "Interval",
    "Kappa",
    "KruskalWallis",
    "Look",
    "MannWhitney",
    "Mode",
    "Nearness",
    "NeedsTrials",
    "NotPerTrial",
    "PerTrial",
    "QuantileRegression",
    "Ranks",
    "RatioInterval",
    "Refused",
    "RefusedComparison",
    "RefusedInterval",
    "Shift",
    "ShiftInterval",
    "StoppingRule",
    "Tested",
    "Welch",
    "alike",
    "augmented_dickey_fuller",
    "autocorrelations",
    "bartels",
    "batch_mean",
    "benjamini_hochberg",
    "best_division",
    "bootstrap_ratio",
    "box_plot",
    "ccdf",
    "coefficient_of_variation",
    "cohens_kappa",
    "confirm",
    "confirm_by_subsets",
    "confirm_curve",
    "difference_of",
    "dip",
    "dip_test",
    "e_divisive",
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
    "kpss",
    "kruskal_wallis",
    "ks_bound",
    "ks_distance",
    "ks_equivalence",
    "ks_test",
    "ks_two_samples",
    "ljung_box",
    "log_linear",
    "mann_kendall",
    "mann_whitney",
    "matched_guard",
    "merge",
    "modes",
    "more_trials_to_decide",
    "normal_scores",
    "pelt",
    "permutation_cusum",
    "quantile",
    "quantile_interval",
    "quantile_ranks",
    "quantile_regression",
    "quantiles",
    "quartile_dispersion",
    "ratio_interval",
    "ratio_of",
    "robust_variation",
    "run_lengths",
    "runs_test",
    "samples_for_margin",
    "shapiro_wilk",
    "share_interval",
    "student_mean",
    "tail_probability",
    "tost_paired",
    "trials_needed",
    "turning_points",
    "wasserstein_distance",
    "wasserstein_equivalence",
    "welch",
]
