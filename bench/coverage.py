"""Check statistics on synthetic series with a known truth.

No network is needed. A nominal 95 % interval must contain the truth in 93 to 97 of 100 series. A series whose
trials are not independent must be refused, and independent series must not. A series with two modes must be
reported as two. `--rounds` repeats each with other series.
"""

from collections.abc import Callable, Iterator
from functools import partial

import numpy as np
from numpy.typing import NDArray

from bench.figures import Figure, figure
from crosswind.stats import (
    Interval,
    PerTrial,
    StoppingLook,
    StoppingRule,
    guard,
    modes,
    quantile_interval,
)

SERIES = 400  # of each kind and round; the standard error of a share is 1.1 % at 95 %
COVERED, RARE, OFTEN = "93 to 97", "at most 7", "at least 80"
# With few trials the next rank covers too little, so they cover more than necessary.
COVERED_FEW = "at least 93"
SPREAD = 0.2  # sigma of the lognormal distribution with median 1
P90 = float(np.exp(1.2815515655446004 * SPREAD))

Values = NDArray[np.float64]
Distribution = Callable[[np.random.Generator, int], Values]
# Target, distribution of the series, its length, test of a result.
Claim = tuple[str, Distribution, int, Callable[[Values], bool]]


def lognormal(generator: np.random.Generator, n: int) -> Values:
    """Return independent values with median 1."""
    return generator.lognormal(0, SPREAD, n)


def normal(generator: np.random.Generator, n: int) -> Values:
    """Return independent values around 1 with a coefficient of variation of 5 %."""
    return generator.normal(1, 0.05, n)


def two_modes(generator: np.random.Generator, n: int) -> Values:
    """Return independent values around 80 or 120, with equal probability."""
    return generator.choice([80.0, 120.0], n) + generator.normal(0, 2, n)


def autocorrelated(generator: np.random.Generator, n: int) -> Values:
    """Return values with a correlation of 0.8 from one to the next."""
    steps = generator.normal(size=n + 50)
    deviation = np.zeros(n + 50)
    for place in range(1, n + 50):
        deviation[place] = 0.8 * deviation[place - 1] + steps[place]
    return np.exp(SPREAD / 2 * deviation[50:])


def drifting(generator: np.random.Generator, n: int) -> Values:
    """Return values that rise to twice the level from the first to the last."""
    return lognormal(generator, n) * np.linspace(1, 2, n)


def stepping(generator: np.random.Generator, n: int) -> Values:
    """Return values that double after three fifths, as when a budget is used up."""
    return lognormal(generator, n) * np.where(np.arange(n) < 0.6 * n, 1, 2)


def coverage(rounds: int) -> Iterator[Figure]:
    """Yield how often each result is right, in per cent of the series."""
    for p, truth, sizes in ((0.5, 1.0, (10, 20, 50)), (0.9, P90, (50, 100))):
        for n in sizes:
            exact = quantile_interval(in_order(np.arange(n, dtype=np.float64)), p)
            assert isinstance(exact, Interval)
            yield _shares(
                f"the interval of P{100 * p:.0f} over {n} lognormal trials holds the truth",
                (
                    COVERED if exact.coverage < 0.97 else COVERED_FEW,
                    lognormal,
                    n,
                    partial(_holds, p=p, truth=truth),
                ),
                rounds,
                exact=round(100 * exact.coverage, 2),
            )
    for n in (10, 20, 50):
        yield _shares(f"the guard refuses {n} independent trials", (RARE, lognormal, n, _refused), rounds)
        yield _shares(f"the guard refuses {n} trials with a step", (OFTEN, stepping, n, _refused), rounds)
    for n in (20, 50):
        yield _shares(f"the guard refuses {n} drifting trials", (OFTEN, drifting, n, _refused), rounds)
        yield _shares(f"the guard refuses {n} like neighbours", (OFTEN, autocorrelated, n, _refused), rounds)
        yield _shares(f"{n} trials with two modes are reported as two", (OFTEN, two_modes, n, _two), rounds)
    yield from _stopping(rounds)


def _shares(name: str, claim: Claim, rounds: int, **beside: object) -> Figure:
    wanted, law, n, right = claim
    shares = [
        100 * float(np.mean([right(law(generator(turn, number), n)) for number in range(SERIES)]))
        for turn in range(rounds)
    ]
    return figure(name, "%", shares, wanted, series=SERIES, **beside)


def _holds(values: Values, p: float, truth: float) -> bool:
    answer = quantile_interval(in_order(values), p)
    return isinstance(answer, Interval) and answer.low <= truth <= answer.high


def _refused(values: Values) -> bool:
    return guard(in_order(values)).refused


def _two(values: Values) -> bool:
    return len(modes(values)) == 2


def _stopping(rounds: int) -> Iterator[Figure]:
    """Yield how often the interval of a stopped series contains the truth, and how often a stop is wrong."""
    for name, law, within in (
        ("lognormal trials, 5 %", lognormal, 0.05),
        ("normal trials, 1 %", normal, 0.01),
    ):
        rule = StoppingRule(0.5, within, 0.95, at_least=6, at_most=300)
        ends = [[_end(rule, law, turn, number) for number in range(SERIES)] for turn in range(rounds)]
        stopped = [[values for look, values in turn if look.stop] for turn in ends]
        yield figure(
            f"the interval where the rule stops holds the truth: {name}",
            "%",
            [100 * float(np.mean([_holds(values, 0.5, 1.0) for values in turn])) for turn in stopped],
            COVERED,
            series=SERIES,
            trials_median=float(np.median([look.n for turn in ends for look, _ in turn])),
            never_stopped=sum(not look.stop for turn in ends for look, _ in turn),
        )
    rule = StoppingRule(0.5, 0.05, 0.95, at_least=6, at_most=40)
    for name, law in (("two modes", two_modes), ("a step", stepping)):
        shares = [
            100 * float(np.mean([_end(rule, law, turn, number)[0].stop for number in range(SERIES)]))
            for turn in range(rounds)
        ]
        yield figure(f"the rule stops within 40 trials with {name}", "%", shares, RARE, series=SERIES)


def _end(rule: StoppingRule, law: Distribution, turn: int, number: int) -> tuple[StoppingLook, Values]:
    """Return the last look at a series, and the values so far: where the rule stops, or at `at_most`."""
    values = law(generator(turn, number), rule.at_most)
    for n in range(rule.at_least, rule.at_most + 1):
        trials = in_order(values[:n])
        # Modes and the guard take a hundred times as long as the interval, so they are tested only if it is
        # narrow.
        if rule.is_narrow(trials) and (look := rule.look(trials)).stop:
            return look, values[:n]
    return rule.look(in_order(values)), values


def generator(turn: int, number: int) -> np.random.Generator:
    """Return the generator of one series, which is the same in each run of the benchmark."""
    return np.random.default_rng((turn, number))


def in_order(values: Values) -> PerTrial:
    """Return values as one per trial."""
    return PerTrial.of({f"t{place}": float(value) for place, value in enumerate(values)})
