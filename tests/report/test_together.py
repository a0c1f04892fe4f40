"""What one report claims of all its conditions, judged together."""

import math

import numpy as np
import pytest

from crosswind.analysis.together import corrected, guards
from crosswind.stats import PerTrial

REPORTS = 100
AT_MOST = 0.05 + 3 * math.sqrt(0.05 * 0.95 / REPORTS)


def report(seed, conditions=10, n=20, figures=3):
    """Return figure -> condition -> trials that depend on nothing; the figures of a trial are alike."""
    generator = np.random.default_rng(seed)
    shared = generator.normal(0, 0.2, (conditions, n))
    values = {figure: shared + generator.normal(0, 0.1, (conditions, n)) for figure in range(figures)}
    return {
        f"figure {figure}": {
            f"condition {name}": PerTrial.numbered(np.exp(row)) for name, row in enumerate(rows)
        }
        for figure, rows in values.items()
    }


def test_a_clean_report_refuses_nothing_in_19_of_20_cases():
    def refuses(seed):
        found = guards(report(seed), {}, "figure 0")
        return any(seen.refused for of_figure in found.values() for seen in of_figure.values())

    assert np.mean([refuses(seed) for seed in range(REPORTS)]) <= AT_MOST


def test_a_report_of_equal_conditions_calls_none_different_in_19_of_20_cases():
    def differs(seed):
        pairs = {
            (figure, name): (trials, of_figure["condition 0"])
            for figure, of_figure in report(seed).items()
            for name, trials in of_figure.items()
            if name != "condition 0"
        }
        return min(corrected(pairs, "figure 0").values()) < 0.05

    assert np.mean([differs(seed) for seed in range(REPORTS)]) <= AT_MOST


def test_the_first_figure_has_half_of_the_error_and_one_alone_all_of_it():
    a, b = PerTrial.numbered([1, 2, 3, 4, 5, 6]), PerTrial.numbered([11, 12, 13, 14, 15, 16])
    p = 2 / math.comb(12, 6)
    assert corrected({("first", "x"): (a, b)}, "first") == {("first", "x"): pytest.approx(p)}
    alike = {(figure, "x"): (a, a) for figure in ("second", "third")}
    both = corrected({("first", "x"): (a, b), **alike}, "first")
    assert both["first", "x"] == pytest.approx(2 * p)
    assert corrected({}, "first") == {}


def test_a_figure_that_no_trial_has_uses_none_of_the_error():
    known = {"figure 0": {"a": PerTrial.numbered(np.random.default_rng(1).normal(size=12))}}
    alone = guards(known, {}, "figure 0")
    beside = guards(known | {"empty": {"a": PerTrial((), ())}}, {}, "figure 0")
    assert beside["figure 0"] == alone["figure 0"]
