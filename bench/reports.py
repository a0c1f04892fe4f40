"""Whether a whole report holds as often as it says: what it refuses and what it calls different, of many
conditions.

No network is needed. A report in which nothing leaks and nothing differs has to refuse a condition, or call
one different, in at most 5 of 100 cases. Beside each figure stands `alone`: the same where every condition is
judged by itself at 5 %. `--rounds` repeats each with other series.
"""

from collections.abc import Callable, Iterator, Sequence

import numpy as np

from bench.coverage import RARE, Distribution, Values, autocorrelated, drifting, in_order, lognormal, stepping
from bench.figures import Figure, figure
from crosswind.stats import guard, guard_together, holm, mann_whitney

REPORTS = 400  # of each kind and round; the standard error of a share of 5 % is 1.1 %
CONDITIONS = 10

Report = list[Values]
Found = Callable[[Report], bool | float]


def two_levels(generator: np.random.Generator, n: int) -> Values:
    """Return values that double and fall back every five trials."""
    return lognormal(generator, n) * np.where(np.arange(n) // 5 % 2, 2, 1)


def slower(generator: np.random.Generator, n: int) -> Values:
    """Return independent values around 1.3."""
    return 1.3 * lognormal(generator, n)


LEAKS: dict[str, Distribution] = {
    "like neighbours": autocorrelated,
    "a drift": drifting,
    "a step": stepping,
    "two levels in turns": two_levels,
}


def reports(rounds: int) -> Iterator[Figure]:
    """Yield how often reports are refused in part, name what leaks, and call conditions different."""
    for conditions, n in ((10, 10), (10, 20), (10, 50), (40, 20)):
        name = f"a report of {conditions} conditions of {n} independent trials refuses one"
        independent: list[Distribution] = [lognormal] * conditions
        yield _figure(
            name, RARE, independent, n, lambda r: any(_refused(r)), lambda r: any(_alone(r)), rounds
        )
    for what, law in LEAKS.items():
        for n in (10, 20, 50):
            name = f"one of {CONDITIONS} conditions of {n} trials has {what}: it is refused"
            one = [*[lognormal] * (CONDITIONS - 1), law]
            yield _figure(name, None, one, n, lambda r: _refused(r)[-1], lambda r: _alone(r[-1:])[0], rounds)
    for what, law in LEAKS.items():
        for n in (10, 20):
            name = f"all of {CONDITIONS} conditions of {n} trials have {what}: share refused"
            every = [law] * CONDITIONS
            yield _figure(
                name, None, every, n, lambda r: _share(_refused(r)), lambda r: _share(_alone(r)), rounds
            )
    name = f"a report of {CONDITIONS} equal conditions of 20 trials calls one different"
    clean: list[Distribution] = [lognormal] * CONDITIONS
    yield _figure(
        name, RARE, clean, 20, lambda r: min(_p_holm(r)) < 0.05, lambda r: min(_p_values(r)) < 0.05, rounds
    )
    for n in (10, 20):
        name = f"one of {CONDITIONS} conditions of {n} trials takes 1.3 times as long: it is called different"
        one = [*clean[1:], slower]
        yield _figure(
            name, None, one, n, lambda r: _p_holm(r)[-1] < 0.05, lambda r: _p_values(r)[-1] < 0.05, rounds
        )


def _figure(
    name: str,
    wanted: str | None,
    laws: Sequence[Distribution],
    n: int,
    found: Found,
    alone: Found,
    rounds: int,
) -> Figure:
    """Return a share of reports in per cent, of conditions judged together and of each judged alone."""
    shares: list[tuple[float, float]] = []
    for turn in range(rounds):
        made = [
            [law(np.random.default_rng((turn, number, place)), n) for place, law in enumerate(laws)]
            for number in range(REPORTS)
        ]
        together, single = (
            100 * float(np.mean([float(way(report)) for report in made])) for way in (found, alone)
        )
        shares.append((together, single))
    alone_median = float(np.median([single for _, single in shares]))
    return figure(
        name, "%", [together for together, _ in shares], wanted, alone=round(alone_median, 2), reports=REPORTS
    )


def _share(refused: list[bool]) -> float:
    return sum(refused) / len(refused)


def _refused(report: Report) -> list[bool]:
    seen = guard_together({place: in_order(values) for place, values in enumerate(report)})
    return [seen[place].refused for place in range(len(report))]


def _alone(report: Report) -> list[bool]:
    return [guard(in_order(values)).refused for values in report]


def _p_values(report: Report) -> list[float]:
    """Return those of each condition against the first."""
    baseline, *others = (in_order(values) for values in report)
    return [mann_whitney(other, baseline).p for other in others]


def _p_holm(report: Report) -> list[float]:
    return [float(p) for p in holm(_p_values(report))]
