"""The share of cases in which something happens, with the exact binomial interval.

Source: Clopper and Pearson, Biometrika 1934.
"""

from __future__ import annotations

from crosswind.stats.bounded import Bounded
from crosswind.stats.values import Refused


def share_interval(count: int, among: int, confidence: float = 0.95) -> Bounded:
    """Return the share `count / among` of independent cases.

    Args:
        count: in [0, among].
        among: at least 1.
        confidence: in (0, 1).
    Raises: Refused: no cases, or a count above their number.
    """
    from scipy.stats import binomtest  # Slow to import, and not needed by a `crosswind --help`.

    if among < 1 or not 0 <= count <= among:
        raise Refused(f"share: {count} of {among}; give one case or more, and a count of at most that")
    interval = binomtest(count, among).proportion_ci(confidence, method="exact")
    return Bounded(count / among, float(interval.low), float(interval.high))
