"""One table: what every function does with values that are not what it hopes for. An answer or a refusal."""

import math

import numpy as np
import pytest

from crosswind.errors import CrosswindError
from crosswind.stats import (
    GroupsNeedTrials,
    NeedsTrials,
    NotPerTrial,
    PerTrial,
    Refused,
    augmented_dickey_fuller,
    bartels,
    bootstrap_ratio,
    box_plot,
    ccdf,
    coefficient_of_variation,
    confirm,
    dip_test,
    e_divisive,
    ecdf,
    guard,
    hodges_lehmann,
    holm,
    jain_index,
    kpss,
    kruskal_wallis,
    ks_two_samples,
    ljung_box,
    log_linear,
    mann_kendall,
    mann_whitney,
    modes,
    normal_scores,
    pelt,
    permutation_cusum,
    quantile,
    quantile_interval,
    quantile_regression,
    quartile_dispersion,
    ratio_interval,
    robust_variation,
    runs_test,
    shapiro_wilk,
    tail_probability,
    turning_points,
    welch,
)

FUNCTIONS = {
    "quantile": lambda x: quantile(x, 0.9),
    "box_plot": box_plot,
    "quantile_interval": lambda x: quantile_interval(PerTrial.numbered(x), 0.5),
    "confirm": lambda x: confirm(x, within=0.1),
    "variation": coefficient_of_variation,
    "robust_variation": robust_variation,
    "quartile_dispersion": quartile_dispersion,
    "mann_whitney": lambda x: mann_whitney(PerTrial.numbered(x), PerTrial.numbered(x)),
    "hodges_lehmann": lambda x: hodges_lehmann(PerTrial.numbered(x), PerTrial.numbered(x)),
    "ratio_interval": lambda x: ratio_interval(PerTrial.numbered(x), PerTrial.numbered(x)),
    "bootstrap_ratio": lambda x: bootstrap_ratio(PerTrial.numbered(x), PerTrial.numbered(x), seed=1),
    "kruskal_wallis": lambda x: kruskal_wallis([PerTrial.numbered(x), PerTrial.numbered(x)]),
    "welch": lambda x: welch([PerTrial.numbered(x), PerTrial.numbered(x)]),
    "quantile_regression": lambda x: quantile_regression(x, np.ones((np.size(x), 1)), 0.5),
    "log_linear": lambda x: log_linear(x, highest=10**6, unit="ns"),
    "holm": holm,
    "guard": lambda x: guard(PerTrial.numbered(x)),
    "ecdf": ecdf,
    "ccdf": ccdf,
    "tail_probability": lambda x: tail_probability(x, 0.5),
    "modes": modes,
    "jain_index": jain_index,
    "ks_two_samples": lambda x: ks_two_samples(x, GOOD),
    "normal_scores": normal_scores,
    "augmented_dickey_fuller": augmented_dickey_fuller,
    "kpss": kpss,
    "ljung_box": ljung_box,
    "shapiro_wilk": shapiro_wilk,
    "dip_test": dip_test,
    "e_divisive": e_divisive,
    "bartels": bartels,
    "mann_kendall": mann_kendall,
    "pelt": pelt,
    "permutation_cusum": permutation_cusum,
    "runs_test": runs_test,
    "turning_points": turning_points,
}
GOOD = [0.1, 0.3, 0.2, 0.4, 0.7, 0.5, 0.8, 0.6]
CALCULATE = {"augmented_dickey_fuller", "kpss", "ljung_box", "shapiro_wilk", "dip_test", "e_divisive"}
RANK = {"bartels", "mann_kendall", "pelt", "permutation_cusum", "runs_test", "turning_points"}
DESCRIBE = {"ecdf", "ccdf", "tail_probability", "modes", "ks_two_samples", "normal_scores", "guard"}
RANKS_ANSWER_INFINITY = {
    *("quantile", "box_plot", "quantile_interval", "mann_whitney", "kruskal_wallis"),
    *RANK,
    *DESCRIBE,
}
ANSWER_NEGATIVE_VALUES = {
    *("quantile", "box_plot", "quantile_interval", "confirm", "mann_whitney", "hodges_lehmann"),
    *("kruskal_wallis", "welch", "quantile_regression"),
    *CALCULATE,
    *RANK,
    *DESCRIBE,
}
ANSWER_NOTHING = {
    *("quantile_interval", "hodges_lehmann", "ratio_interval"),
    *("log_linear", "guard", "jain_index"),
}
REFUSALS = {
    "NaN": ([*GOOD, math.nan], dict.fromkeys(FUNCTIONS, "NaN|nan")),
    "text": (["fast", "slow"], dict.fromkeys(FUNCTIONS, "could not convert|give numbers")),
    "infinite": (
        [*GOOD, math.inf],
        {name: "inf" for name in FUNCTIONS if name not in RANKS_ANSWER_INFINITY},
    ),
    "negative": (
        [-value for value in GOOD],
        {
            name: r"negative|has no ratio|in \[0, 1\]"
            for name in FUNCTIONS
            if name not in ANSWER_NEGATIVE_VALUES
        },
    ),
    "constant": ([0.5] * 8, {"welch": "all alike"}),
    "zero": (
        [0.0] * 8,
        {
            **dict.fromkeys(("variation", "robust_variation", "quartile_dispersion"), "a share of 0"),
            **dict.fromkeys(("ratio_interval", "bootstrap_ratio"), "has no ratio"),
            "confirm": "quantile is 0",
            "welch": "all alike",
        },
    ),
    "empty": (
        [],
        {
            name: r"0 of them|at least one|of shape \(0|groups of"
            for name in FUNCTIONS
            if name not in ANSWER_NOTHING
        },
    ),
    "one": (
        [0.5],
        dict.fromkeys(
            ("confirm", "variation", "bootstrap_ratio", "welch", *CALCULATE, *RANK), "1 of them; .*at least"
        ),
    ),
}
CASES = [(case, name) for case in REFUSALS for name in FUNCTIONS]


@pytest.mark.parametrize(("case", "name"), CASES)
def test_every_function_answers_or_refuses_with_its_reason(case, name):
    values, refusals = REFUSALS[case]
    if name in refusals:
        with pytest.raises(CrosswindError, match=refusals[name]) as refusal:
            FUNCTIONS[name](values)
        assert isinstance(refusal.value, ValueError)
    else:
        assert FUNCTIONS[name](values) is not None


def test_too_few_values_are_an_answer_that_says_how_many():
    assert isinstance(FUNCTIONS["quantile_interval"]([0.5]), NeedsTrials)
    assert isinstance(FUNCTIONS["hodges_lehmann"]([]), GroupsNeedTrials)


def test_ten_million_values_are_described_and_never_taken_for_trials():
    values = np.random.default_rng(1).random(10_000_000)
    assert quantile(values, 0.99) == pytest.approx(0.99, abs=1e-3)
    assert coefficient_of_variation(values) == pytest.approx(1 / math.sqrt(3), abs=1e-3)
    assert log_linear(values * 10_000, highest=10**6, unit="ns").quantile(0.5) == pytest.approx(
        5000, rel=2e-3
    )
    with pytest.raises(NotPerTrial, match="10000000 values: nobody makes so many trials"):
        PerTrial.numbered(values)
    with pytest.raises(Refused, match="reduce each trial to its quantiles first"):
        quantile_regression(values, np.ones((values.size, 1)), 0.5)


def test_groups_too_large_to_pair_are_refused_before_memory_is():
    group = PerTrial.numbered(np.arange(1.0, 6001.0))
    with pytest.raises(Refused, match="36000000 pairs"):
        hodges_lehmann(group, group)
    with pytest.raises(Refused, match="above 10000 take ratio_interval"):
        bootstrap_ratio(PerTrial.numbered(np.ones(10_001)), group, seed=1)
