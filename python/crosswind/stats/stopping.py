"""The stopping rule: there are enough trials when the interval was narrow enough at three looks in a row.

The first narrow interval is often narrow by chance: nominal 95 % then cover 90 to 93 %. Three looks in a row
restore the coverage (94.7 to 95.7 % for lognormal and normal values). With two modes that is not enough,
because a third of such series stops inside one mode. So a series with two modes never stops, nor does one
that the guard refuses. A series that never becomes narrow ends at `at_most` trials.

`python -m bench coverage` measures the coverage of stopped series.
"""

import math
from dataclasses import dataclass
from itertools import takewhile

from crosswind.stats.guard import Guard, guard
from crosswind.stats.interval import Interval, quantile_interval
from crosswind.stats.modes import Mode, modes
from crosswind.stats.ranks import trials_needed
from crosswind.stats.trials import PerTrial, require_per_trial

LOOKS = 3


@dataclass(frozen=True)
class StoppingLook:
    """The result of the rule after `n` trials."""

    n: int
    achieved: float  # half of the interval as a share of the estimate; inf without an interval
    stop: bool
    waiting_for: str  # the reason for going on; empty if it stops
    forecast: int | None  # expected number of trials in all; None if unknown
    modes: tuple[Mode, ...]
    guard: Guard


@dataclass(frozen=True)
class StoppingRule:
    """Trials of one condition are added until half its interval is at most `within` of the estimate.

    Attributes:
        quantile: in (0, 1), over trials; 0.5 is the median.
        within: > 0, as a share of the quantile.
        confidence: in (0, 1), of the interval.
        at_least: trials before the first look.
        at_most: trials in all at most. If that leaves fewer than three looks, these are enough, because with
            a fixed number of trials there is no choice of when to stop.
    """

    quantile: float
    within: float
    confidence: float
    at_least: int
    at_most: int

    def look(self, values: PerTrial, seen: Guard | None = None) -> StoppingLook:
        """Return whether trials with these `values` are enough.

        The result depends on the values only, so an interrupted run has the same result after `resume`.

        Args:
            values: one per trial, any unit, in the order in which the trials ran; +inf or -inf if it failed.
            seen: the result of the guard, together with other conditions; judged alone when absent.
        Raises: NotPerTrial: `values` are not one per trial.
        """
        values = require_per_trial(values)
        n, looks = len(values), self._looks
        achieved, held = self._achieved(values), self._held(values)
        found, seen = modes(values.values) if n else (), seen or guard(values)
        waiting_for = self._waiting_for(achieved, held, looks, found, seen)
        return StoppingLook(
            n, achieved, not waiting_for, waiting_for, self._forecast(n, achieved, looks - held), found, seen
        )

    def is_narrow(self, values: PerTrial) -> bool:
        """Return whether the interval was narrow enough at three looks in a row.

        Args:
            values: as for `look`.
        """
        return self._held(require_per_trial(values)) == self._looks

    @property
    def _looks(self) -> int:
        return min(LOOKS, self.at_most - self.at_least + 1)

    def _held(self, values: PerTrial) -> int:
        """Return the number of last looks in a row with an interval that was narrow enough."""
        n = len(values)
        sizes = range(n, max(n - self._looks, self.at_least - 1), -1)
        shares = (self._achieved(PerTrial(values.trials[:size], values.values[:size])) for size in sizes)
        return sum(1 for _ in takewhile(lambda share: share <= self.within, shares))

    def _achieved(self, values: PerTrial) -> float:
        answer = quantile_interval(values, self.quantile, self.confidence)
        if not isinstance(answer, Interval):
            return math.inf
        # With failed trials a bound or the estimate may be infinite.
        half = (answer.high - answer.low) / 2
        if not math.isfinite(half):
            return math.inf
        return 0.0 if half == 0 else half / abs(answer.estimate) if answer.estimate else math.inf

    def _waiting_for(
        self, achieved: float, held: int, looks: int, found: tuple[Mode, ...], seen: Guard
    ) -> str:
        if seen.refused:
            return f"the guard refuses an interval: {seen.reason}"
        if found:
            low, high = found
            return f"two modes, {low.median:.4g} ({low.n} trials) and {high.median:.4g} ({high.n})"
        if achieved == math.inf:
            needed = max(self.at_least, trials_needed(self.quantile, self.confidence))
            return f"no interval yet, which needs {needed} trials that end"
        if achieved > self.within:
            return f"half the interval is {achieved:.2%} of the estimate; the target is {self.within:.2%}"
        if held < looks:
            return f"narrow enough ({achieved:.2%}) at {held} of {looks} looks in a row"
        return ""

    def _forecast(self, n: int, achieved: float, looks_left: int) -> int | None:
        """Return the trials needed in all, if the width falls with the square root of their number."""
        if achieved == math.inf:
            needed = max(self.at_least, trials_needed(self.quantile, self.confidence))
            return needed + self._looks - 1 if n < needed else None
        narrow = math.ceil(n * max(1.0, achieved / self.within) ** 2)
        return narrow + looks_left - (narrow > n) if looks_left else n
