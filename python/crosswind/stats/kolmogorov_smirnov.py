"""Kolmogorov-Smirnov: whether few samples could come from a law, or two lots of them from the same."""

from collections.abc import Callable

from numpy.typing import ArrayLike, NDArray

from crosswind.stats.series import series_of
from crosswind.stats.tested import Tested


def ks_test(samples: ArrayLike, cdf: Callable[[NDArray], NDArray]) -> Tested:  # type: ignore[type-arg]
    """Test that samples come from a law that was known before them; D with its exact p.

    The law's parameters must not come from the samples. Samples or laws in steps make the test too lenient:
    compare with the law in steps (`ks_distance` with `step`). With a million packets every real law is
    rejected: ask `ks_equivalence` instead whether it is near enough.

    Args:
        samples: shape (n,), any unit.
        cdf: F(x) of a continuous law, for an array.
    Source: Simard and L'Ecuyer 2011, as in scipy.
    """
    from scipy import stats

    found = stats.kstest(series_of(samples, 1), cdf)
    return Tested(float(found.statistic), float(found.pvalue), "exact")


def ks_two_samples(a: ArrayLike, b: ArrayLike) -> Tested:
    """Test that two lots of independent samples come from one law; exact up to 10 000 a side.

    Args:
        a: shape (m,), any unit.
        b: shape (n,), same unit.
    Source: Hodges 1958, as in scipy.
    """
    from scipy import stats

    one, other = series_of(a, 1), series_of(b, 1)
    exact = max(one.size, other.size) <= 10_000
    found = stats.ks_2samp(one, other, method="exact" if exact else "asymp")
    return Tested(float(found.statistic), float(found.pvalue), "exact" if exact else "asymptotic")
