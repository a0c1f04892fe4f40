"""How long trials will take, as far as that is known before the first one."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import fmean

from crosswind.spec import Resolved, applications
from crosswind.spec.resolved import dilation_of

# Start of a run and its report at the end.
RUN_S = 3.0
# On two cores under a load average of 15, trials of PostgreSQL and FerretDB took up to 11 s besides their
# load (2026-11-25), and 2.5 s on a quiet machine.
BUSY_TIMES = 4


@dataclass(frozen=True)
class Expected:
    """How long the trials of a run take, by what takes the time.

    Attributes:
        load_s: warm-up and measured phase; None where only a trial can show it.
        load_may_end_sooner: `load_s` is the most that a load takes.
        rests_s: between trials; None where credit buckets decide.
        set_up_s: everything else of a run, on a quiet machine.
        fingerprints_s: of the network, before and after.
    """

    load_s: float | None
    load_may_end_sooner: bool
    rests_s: float | None
    set_up_s: float
    fingerprints_s: float

    @property
    def least_s(self) -> float | None:
        """The time on a quiet machine; None where a part is unknown."""
        if self.load_s is None or self.rests_s is None:
            return None
        load_s = 0.0 if self.load_may_end_sooner else self.load_s
        return load_s + self.rests_s + self.set_up_s + self.fingerprints_s

    @property
    def most_s(self) -> float | None:
        """The time on a busy machine; None where a part is unknown."""
        if self.load_s is None or self.rests_s is None:
            return None
        return self.load_s + self.rests_s + BUSY_TIMES * self.set_up_s + self.fingerprints_s

    def as_dict(self) -> dict[str, float | bool | None]:
        """Return it as plain values, for `--json`; times in s."""
        return {"least_s": self.least_s, "most_s": self.most_s, **vars(self)}


def expected(resolved: Resolved, trials: int, fingerprints_s: float) -> Expected:
    """Return how long a number of trials take in real time, with the run around them."""
    of_trial = applications.expected(resolved.application.name, resolved.application.parameters)
    rest_s, factor = resolved.trials.rest_s, _factor(resolved)
    return Expected(
        load_s=None if of_trial.load_s is None else round(of_trial.load_s * trials * factor, 1),
        load_may_end_sooner=of_trial.load_may_end_sooner,
        rests_s=None if rest_s is None else round(rest_s * (trials - 1) * factor, 1),
        set_up_s=round(RUN_S + of_trial.set_up_s * trials, 1),
        fingerprints_s=fingerprints_s,
    )


def trial_s(resolved: Resolved) -> float | None:
    """Return the real seconds that one trial takes with its rest; None when that is unknown before the first.

    A run replaces this estimate by the duration of its own trials.
    """
    of_trial = applications.expected(resolved.application.name, resolved.application.parameters)
    rest_s = resolved.trials.rest_s
    if of_trial.load_s is None or rest_s is None:
        return None
    return (of_trial.load_s + rest_s) * _factor(resolved) + of_trial.set_up_s


def _factor(resolved: Resolved) -> float:
    """Return how many times slower than real time trials are in the mean; a block has every condition."""
    factors = [dilation_of(resolved, condition) or 1 for condition in resolved.conditions]
    return fmean(factors) if factors else resolved.factor_min


def planned_s(resolved: Resolved) -> float | None:
    """Return the seconds that the trials take that always run; None when that is unknown before the first."""
    one_s = trial_s(resolved)
    trials = resolved.trials.repeat.at_least * len(resolved.conditions)
    return None if one_s is None else one_s * trials
