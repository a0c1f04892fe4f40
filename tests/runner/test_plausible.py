"""Trials whose client ended well and measured nothing, or what cannot be true."""

import pytest

from crosswind.results import Metric
from crosswind.runner.plausible import check_plausible
from crosswind.spec.resolved import ResolvedFigure
from crosswind.testbed import TestbedError

P99 = ResolvedFigure(metric="latency", statistic="p99", unit="ns", label="P99", better="lower")
RATE = ResolvedFigure(metric="rate", statistic="mean", unit="bit/s", label="rate", better="higher")
LOST = ResolvedFigure(metric="lost", statistic="count", unit="count", label="lost", better="lower")


def metric(name: str, statistic: str, value: float, unit: str = "count") -> Metric:
    return Metric("client", name, unit, statistic, value)


def operations(done: float, errors: float) -> list[Metric]:
    return [metric("operations", "count", done), metric("errors", "count", errors)]


def test_sound_numbers_pass() -> None:
    sound = [*operations(990, 10), metric("latency", "p99", 5e6, "ns"), metric("rate", "mean", 1e6, "bit/s")]
    check_plausible([*sound, metric("lost", "count", 0)], [P99, RATE, LOST])
    check_plausible([], [])


def test_operations_that_may_fail_may_do_so_but_not_all() -> None:
    check_plausible(operations(40, 60), [], may_fail=True)
    with pytest.raises(TestbedError, match="no operation succeeded, 7 failed"):
        check_plausible(operations(0, 7), [], may_fail=True)


@pytest.mark.parametrize(
    ("metrics", "reason"),
    [
        (operations(0, 7), "no operation succeeded, 7 failed"),
        (operations(98, 2), "2 of 100 operations failed, more than 1%"),
        ([metric("rate", "mean", 0, "bit/s")], r"rate \(mean\) is 0 bit/s: nothing was done"),
        ([metric("latency", "p99", 0, "ns")], r"latency \(p99\) is 0 ns"),
        ([metric("rate", "mean", -1, "bit/s")], r"rate \(mean\) is -1 bit/s, below zero"),
        ([metric("rate", "mean", float("nan"), "bit/s")], r"rate \(mean\) is nan, which is not a number"),
        ([metric("other", "mean", 1)], r"\(p99\) is missing|\(mean\) is missing"),
    ],
)
def test_what_cannot_be_true_is_the_reason_of_a_failed_trial(metrics: list[Metric], reason: str) -> None:
    figures = [P99] if any(m.metric == "latency" for m in metrics) else [RATE]
    with pytest.raises(TestbedError, match=reason):
        check_plausible(metrics, figures)
