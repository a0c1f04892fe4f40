"""Correct all claims of a report together: at most 5 of 100 reports make any false claim.

Half of the 5 % is for the first figure, which gives the answers; the others share the rest. So the first
figure is nearly as sensitive beside ten others as alone.
"""

from collections import Counter
from collections.abc import Collection, Hashable, Mapping, Sequence
from typing import TypeVar

from crosswind.curves import BucketHistory
from crosswind.stats import Guard, PerTrial, guard_together, holm, mann_whitney

Name = TypeVar("Name", bound=Hashable)
Figure = TypeVar("Figure", bound=Hashable)


def guards(
    series: Mapping[Figure, Mapping[Name, PerTrial]],
    buckets: Mapping[Name, Sequence[BucketHistory]],
    first: Figure | None = None,
) -> dict[Figure, dict[Name, Guard]]:
    """Return figure -> condition -> whether its trials are independent.

    Args:
        series: figure -> condition -> trials.
        buckets: of the conditions, those that outlive trials.
        first: the figure of the answers; None gives all figures equal shares.
    """
    known = [figure for figure, trials in series.items() if any(map(len, trials.values()))]
    shares = _shares(known, first)
    return {
        figure: guard_together(trials, buckets, shares.get(figure, 1.0)) for figure, trials in series.items()
    }


def corrected(
    pairs: Mapping[tuple[Figure, Name], tuple[PerTrial, PerTrial]], first: Figure | None = None
) -> dict[tuple[Figure, Name], float]:
    """Return the p values of comparisons (Mann-Whitney), corrected for all of them (Holm, weighted).

    Args:
        pairs: (figure, condition) -> the compared trials.
        first: the figure of the answers; None gives all figures equal shares.
    """
    if not pairs:
        return {}
    within = Counter(figure for figure, _ in pairs)
    shares = _shares(within, first)
    p = holm(
        [mann_whitney(*sides).p for sides in pairs.values()],
        [shares[figure] / within[figure] for figure, _ in pairs],
    )
    return dict(zip(pairs, p.tolist(), strict=True))


def _shares(figures: Collection[Figure], first: Figure | None) -> dict[Figure, float]:
    """Return the share of the error for each figure; the sum is 1."""
    others = len(figures) - (first in figures)
    if first not in figures or not others:
        return dict.fromkeys(figures, 1 / max(1, len(figures)))
    return {figure: 0.5 if figure == first else 0.5 / others for figure in figures}
