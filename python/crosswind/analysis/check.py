"""Check whether a run is slower than another by more than is allowed: for continuous integration.

The check uses the first figure of the application, under every condition. A run passes where the whole
interval of the slowdown is within the limit, and is a regression where all of it is outside. In between, it
needs more trials: too few trials are no pass. A run whose trials are not independent (as the guard finds)
does not pass either, and more trials would not help. Nor does a run with trials that finally failed: those
that ended may be the fast ones.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from crosswind.analysis.comparable import NotComparable
from crosswind.analysis.compare import Compared, RunComparison, compare
from crosswind.errors import Exit
from crosswind.stats import RatioInterval, RefusedComparison, more_trials_to_decide

Outcome = Literal["pass", "regression", "undecided", "failed", "refused"]


@dataclass(frozen=True)
class Checked:
    """The check of the first figure under one condition."""

    compared: Compared
    slowdown: tuple[float, float, float] | None  # times slower: low, estimate, high; None without an interval
    outcome: Outcome
    more_trials: int | None  # to add on each side; 0 where it is decided, None where hardly any would decide


@dataclass(frozen=True)
class Check:
    """The check of a run against its base."""

    comparison: RunComparison
    allowed: float  # the slowdown that is allowed, as a share
    checked: list[Checked]

    @property
    def exit(self) -> Exit:
        """REGRESSION if there is one, UNDECIDED if any is undecided, failed or refused, else DONE."""
        outcomes = {checked.outcome for checked in self.checked}
        if "regression" in outcomes:
            return Exit.REGRESSION
        return Exit.DONE if outcomes <= {"pass"} else Exit.UNDECIDED


def check(run: Path, base: Path, allowed: float, *, force: bool = False) -> Check:
    """Check the run in `run` against the one in `base`.

    Args:
        run: a results folder.
        base: a results folder.
        allowed: the largest slowdown that is no regression, as a share above 0 (0.05 is 5 %).
        force: whether networks, machines, applications or conditions may differ.
    Raises: NotComparable: the runs differ in more than their numbers, or a condition of the base is missing
    or
        has no counted trial.
    """
    comparison = compare(base, run, force=force)
    if comparison.only_base:
        missing = ", ".join(comparison.only_base)
        raise NotComparable(f"{run}: lacks conditions of {base}: {missing}; run them too")
    figures = [c for c in comparison.compared if c.measure.key == comparison.primary.key]
    known = {compared.condition for compared in figures}
    if unknown := ", ".join(name for name in comparison.common if name not in known):
        raise NotComparable(
            f"{run} and {base}: one of them has no counted trial of {unknown}, so these cannot pass "
            "(crosswind report gives the reason)"
        )
    return Check(comparison, allowed, [_checked(compared, allowed) for compared in figures])


def _checked(compared: Compared, allowed: float) -> Checked:
    ratio, limit = compared.ratio, 1 + allowed
    if isinstance(ratio, RefusedComparison):
        return Checked(compared, None, "refused", None)
    failed = compared.lost[1] > 0
    if not isinstance(ratio, RatioInterval):
        return Checked(compared, None, "failed" if failed else "undecided", compared.more_trials)
    slower = (ratio.low, ratio.estimate, ratio.high)
    if compared.measure.better == "higher":
        slower = (1 / ratio.high, 1 / ratio.estimate, 1 / ratio.low)
        limit = 1 / limit
    if slower[0] > 1 + allowed:
        return Checked(compared, slower, "regression", 0)
    if failed:
        return Checked(compared, slower, "failed", None)
    if slower[2] <= 1 + allowed:
        return Checked(compared, slower, "pass", 0)
    more = more_trials_to_decide(ratio, min(compared.trials), against=limit)
    return Checked(compared, slower, "undecided", more)
