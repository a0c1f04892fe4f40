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
    autocorrelations,
    box_plot,
    ccdf,
    coefficient_of_variation,
    confirm,
    dip_p,
    ecdf,
    guard,
    hodges_lehmann,
    holm,
    jain_index,
    kruskal_wallis,
    mann_whitney,
    modes,
    normal_scores,
    quantile,
    quantile_interval,
    ratio_interval,
    tail_probability,
)

FUNCTIONS = {
    "quantile": lambda x: quantile(x, 0.9),
    "box_plot": box_plot,
    "quantile_interval": lambda x: quantile_interval(PerTrial.numbered(x), 0.5),
    "confirm": lambda x: confirm(x, within=0.1),
    "variation": coefficient_of_variation,
    "mann_whitney": lambda x: mann_whitney(PerTrial.numbered(x), PerTrial.numbered(x)),
    "hodges_lehmann": lambda x: hodges_lehmann(PerTrial.numbered(x), PerTrial.numbered(x)),
    "ratio_interval": lambda x: ratio_interval(PerTrial.numbered(x), PerTrial.numbered(x)),
    "kruskal_wallis": lambda x: kruskal_wallis([PerTrial.numbered(x), PerTrial.numbered(x)]),
    "holm": holm,
    "guard": lambda x: guard(PerTrial.numbered(x)),
    "ecdf": ecdf,
    "ccdf": ccdf,
    "tail_probability": lambda x: tail_probability(x, 0.5),
    "modes": modes,
    "jain_index": jain_index,
    "normal_scores": normal_scores,
    "autocorrelations": lambda x: autocorrelations(x, 2),
    "dip_p": dip_p,
}
GOOD = [0.1, 0.3, 0.2, 0.4, 0.7, 0.5, 0.8, 0.6]
CALCULATE = {"autocorrelations", "dip_p"}
DESCRIBE = {"ecdf", "ccdf", "tail_probability", "modes", "normal_scores", "guard"}
RANKS_ANSWER_INFINITY = {
    *("quantile", "box_plot", "quantile_interval", "mann_whitney", "kruskal_wallis"),
    *DESCRIBE,
}
ANSWER_NEGATIVE_VALUES = {
    *("quantile", "box_plot", "quantile_interval", "confirm", "mann_whitney", "hodges_lehmann"),
    "kruskal_wallis",
    *CALCULATE,
    *DESCRIBE,
}
ANSWER_NOTHING = {
    *("quantile_interval", "hodges_lehmann", "ratio_interval"),
    *("guard", "jain_index"),
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
    "constant": ([0.5] * 8, {}),
    "zero": (
        [0.0] * 8,
        {
            "variation": "a share of 0",
            "ratio_interval": "has no ratio",
            "confirm": "quantile is 0",
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
        dict.fromkeys(("confirm", "variation", *CALCULATE), "1 of them; .*at least"),
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
    with pytest.raises(NotPerTrial, match="10000000 values: too many for trials"):
        PerTrial.numbered(values)


def test_groups_too_large_to_pair_are_refused_before_memory_is():
    group = PerTrial.numbered(np.arange(1.0, 6001.0))
    with pytest.raises(Refused, match="36000000 pairs"):
        hodges_lehmann(group, group)
