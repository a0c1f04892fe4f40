"""Shapiro-Wilk: whether values could come from a normal law."""

from numpy.typing import ArrayLike

from crosswind.stats.series import is_constant, series_of
from crosswind.stats.tested import CONSTANT, Tested
from crosswind.stats.values import Refused

VALUES_MAX = 5000  # Royston's approximation of p holds up to here.


def shapiro_wilk(values: ArrayLike) -> Tested:
    """Test normality; ties make it say no too often.

    Args:
        values: shape (n,), 3 <= n <= 5000, finite, any unit.
    Raises: Refused: too few or too many values. With more, draw a sample: every real law differs from a
        normal one, and enough values prove it.
    Source: Shapiro and Wilk 1965; Royston 1995.
    """
    from scipy import stats

    series = series_of(values, 3, finite=True)
    if series.size > VALUES_MAX:
        raise Refused(f"values: {series.size} of them; at most {VALUES_MAX}, so draw a sample")
    if is_constant(series):
        return CONSTANT
    found = stats.shapiro(series)
    return Tested(float(found.statistic), float(found.pvalue), "asymptotic")
