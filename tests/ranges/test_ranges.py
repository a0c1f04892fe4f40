"""The range of a figure holds what an undisturbed run would have measured, and is not much wider.

Each case is run twice in virtual time with the same random numbers: with disturbances, and without. What a
figure needed is how far its disturbed value is from the other one, and at least 1 % of its own interval.
"""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

import numpy as np
import pytest
from numpy.typing import NDArray
from queueing import MS, NEVER, Case, Pauses, System, drawn_case
from scipy.stats import binom

from crosswind.results.disturbances import Disturbances, joined
from crosswind.results.ranges import Durations, Range, throughput
from crosswind.results.samples import SLOW_NS
from crosswind.results.touched import Touched

QUANTILES = {"P50": 0.5, "P90": 0.9, "P95": 0.95, "P99": 0.99, "P99.9": 0.999, "max": 1.0}
STEAL = ("none", "placed", "unplaced")


@dataclass(frozen=True)
class Outcome:
    """A figure of a case; `interval` is the width of its 95 % interval in the trial, 0 where it has none."""

    measured: float
    truth: float
    range: Range
    interval: float

    @property
    def tolerance(self) -> float:
        return self.interval / 100

    @property
    def covered(self) -> bool:
        return self.range.low - self.tolerance <= self.truth <= self.range.high + self.tolerance

    @property
    def needed(self) -> float:
        return max(abs(self.measured - self.truth), self.tolerance)

    @property
    def width(self) -> float:
        return self.range.high - self.range.low

    @property
    def used(self) -> float:
        """The share of the range that was needed, on the side of the truth."""
        below, above = self.measured - self.range.low, self.range.high - self.measured
        side = below if self.truth < self.measured else above
        return abs(self.measured - self.truth) / max(side, self.tolerance, 1e-9)


def outcomes(case: Case) -> dict[str, Outcome]:
    """Return the figures of a case."""
    system, open_loop = case.system, case.system.intended_ns is not None
    begun_ns, finished_ns = system.run(case.network, case.cpu)
    true_begun_ns, true_finished_ns = system.run(NEVER, NEVER)
    spans = joined(np.array(case.placed, dtype=np.int64).reshape(-1, 2))
    disturbed = Disturbances(system.window_ns, *spans, case.unplaced_ns)
    touched = Touched(begun_ns, finished_ns, disturbed, open_loop=open_loop)
    length_ns, true_ns = finished_ns - begun_ns, true_finished_ns - true_begun_ns
    many, durations = len(length_ns), Durations(touched, length_ns)
    found = {}
    for name, p in QUANTILES.items():
        measured, truth = float(np.quantile(length_ns, p)), float(np.quantile(true_ns, p))
        interval = 0.0 if p == 1 else _interval(length_ns, p)
        found[name] = Outcome(measured, truth, durations.quantile(p, measured), interval)
    mean = float(length_ns.mean())
    found["mean"] = Outcome(
        mean,
        float(true_ns.mean()),
        durations.mean(mean),
        3.92 * float(length_ns.std()) / np.sqrt(many),
    )
    limits = {"over 100 ms": SLOW_NS} | {
        f"over {name}": int(np.quantile(true_ns, QUANTILES[name])) for name in ("P90", "P99")
    }
    for name, limit_ns in limits.items():
        share = float((length_ns > limit_ns).mean())
        found[name] = Outcome(
            share,
            float((true_ns > limit_ns).mean()),
            durations.share_over(limit_ns, share),
            3.92 * np.sqrt(share * (1 - share) / many),
        )
    rate = many / float(finished_ns.max() - begun_ns.min())
    found["throughput"] = Outcome(
        rate,
        len(true_ns) / float(true_finished_ns.max() - true_begun_ns.min()),
        throughput(touched, rate),
        3.92 * rate / np.sqrt(many),
    )
    return found


def _interval(length_ns: NDArray[np.int64], p: float) -> float:
    """Return the width of the interval of a quantile, by order statistics."""
    ordered, many = np.sort(length_ns), len(length_ns)
    low, high = (min(max(int(binom.ppf(q, many, p)), 1), many) for q in (0.025, 0.975))
    return float(ordered[min(high, many - 1)] - ordered[low - 1])


def check(cases: int, steal: str, first: int = 0) -> None:
    """Fail where ranges of a figure cover too seldom or are too wide; print the figures.

    Args:
        first: the seed of the first case.
    """
    by_figure: defaultdict[str, list[Outcome]] = defaultdict(list)
    for seed in range(first, first + cases):
        case = drawn_case(seed, steal)
        loop = "closed" if case.system.intended_ns is None else "open"
        for name, outcome in outcomes(case).items():
            by_figure[f"{loop} {name}"].append(outcome)
            by_figure[name].append(outcome)
            by_figure["all"].append(outcome)
    print(f"\n{cases} cases, steal {steal}: covered, widths / needed, wider than 95 % of cases need")
    for name, of_figure in by_figure.items():
        covered = np.mean([outcome.covered for outcome in of_figure])
        used = float(np.quantile([outcome.used for outcome in of_figure], 0.95))
        scaled = [outcome for outcome in of_figure if outcome.interval]
        each = np.array([outcome.width / outcome.needed for outcome in scaled])
        widths = sum(outcome.width / outcome.interval for outcome in scaled)
        needed = sum(outcome.needed / outcome.interval for outcome in scaled)
        line = f"{name:18} {covered:6.3f} "
        if scaled:
            p10, p50, p90 = np.quantile(each, (0.1, 0.5, 0.9))
            line += f"{widths / needed:6.2f}  P10 {p10:.2f} P50 {p50:.2f} P90 {p90:.2f}"
        print(f"{line}  {1 / max(used, 1e-3):.2f}")
        if not name.startswith(("open ", "closed ")):
            # A maximum is one operation, and has no interval that its width could be compared with.
            assert covered >= 0.95, f"{name} under steal {steal}"
            assert name == "max" or widths <= 3 * needed, f"{name} under steal {steal}"


@pytest.mark.parametrize("steal", STEAL)
def test_ranges_hold_the_undisturbed_figure_in_95_of_100_cases_and_are_at_most_3_times_too_wide(
    steal: str,
) -> None:
    check(200, steal)


@pytest.mark.long
@pytest.mark.parametrize("steal", STEAL)
def test_so_they_do_in_2000_cases(steal: str) -> None:
    # The constants were chosen on the seeds of the 200 cases; none of these has been seen.
    check(2000, steal, first=1_000_000)


def test_without_a_disturbance_a_range_is_the_figure() -> None:
    system = drawn_case(3, "none").system
    begun_ns, finished_ns = system.run(NEVER, NEVER)
    open_loop = system.intended_ns is not None
    touched = Touched(begun_ns, finished_ns, Disturbances(system.window_ns), open_loop=open_loop)
    durations = Durations(touched, finished_ns - begun_ns)
    assert [durations.quantile(0.99, 5.0), durations.mean(4.0)] == [Range(5.0, 5.0), Range(4.0, 4.0)]
    assert durations.share_over(MS, 0.25) == Range(0.25, 0.25)
    assert throughput(touched, 7.0) == Range(7.0, 7.0)


def test_a_stall_that_touches_one_operation_of_a_thousand_moves_its_maximum_and_not_its_median() -> None:
    # One client, an operation of 1 ms after the other. The one at 500 ms stands still for 60 ms.
    service_ns = np.full(3000, MS)
    system = System(1, 1, 0, 1000 * MS, 0, service_ns, None)
    stall = [(500 * MS + 1, 560 * MS + 1)]
    begun_ns, finished_ns = system.run(NEVER, Pauses(stall))
    disturbed = Disturbances(system.window_ns, *joined(np.array(stall)))
    touched = Touched(begun_ns, finished_ns, disturbed, open_loop=False)
    durations = Durations(touched, finished_ns - begun_ns)
    assert durations.quantile(1.0, 61.0 * MS) == Range(1.0 * MS, 61.0 * MS)
    assert durations.quantile(0.5, 1.0 * MS) == Range(1.0 * MS, 1.0 * MS)
    assert durations.share_over(2 * MS, 1 / 940) == Range(0.0, 1 / 940)
    # 940 operations in 1 s; in the 60 ms it would have been 60 more, or one more at the edges.
    found = throughput(touched, 940.0)
    assert found.low == 940.0
    assert 1000.0 <= found.high <= 1002.0


def test_the_backlog_of_an_open_loop_is_touched_until_it_is_worked_off() -> None:
    # 500 operations a second of 1 ms: after 60 ms there are 30 too many, which takes another 60 ms.
    intended_ns = np.arange(500) * 2 * MS
    system = System(1, 1, 0, 1000 * MS, 0, np.full(500, MS), intended_ns)
    stall = [(400 * MS, 460 * MS)]
    begun_ns, finished_ns = system.run(NEVER, Pauses(stall))
    disturbed = Disturbances(system.window_ns, *joined(np.array(stall)))
    touched = Touched(begun_ns, finished_ns, disturbed, open_loop=True)
    slow = np.flatnonzero(finished_ns - begun_ns > MS)
    assert set(slow) <= set(touched.index)
    assert len(slow) == 60
    # Those due within the stall and four of its lengths after it.
    assert len(touched.index) == 150
    length_ns = finished_ns - begun_ns
    p95 = Durations(touched, length_ns).quantile(0.95, float(np.quantile(length_ns, 0.95)))
    assert p95.low == MS
