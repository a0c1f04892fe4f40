"""Correct the p values of several tests for the number of tests.

Without an effect, ten tests at 5 % each still find one in 40 % of cases. Holm's rule limits the probability
of any false claim to alpha, even if the tests depend on each other.
scipy has neither Holm's nor Hochberg's rule, only those for the false discovery rate.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.stats.values import Refused, finite_values


def holm(p_values: ArrayLike, weights: ArrayLike | None = None) -> NDArray[np.float64]:
    """Return corrected p values in the given order; each below alpha is a claim, with total error alpha.

    Args:
        p_values: shape (m,), m >= 1, in [0, 1].
        weights: shape (m,), > 0; a test with twice the weight gets twice the error. Equal when absent.
    Raises: Refused: one is NaN or outside [0, 1].
    Source: Holm, Scandinavian Journal of Statistics 1979; section 4 for weights.
    """
    p = _p_values(p_values)
    weight = np.ones_like(p) if weights is None else np.asarray(weights, dtype=np.float64)
    order = np.argsort(p / weight, kind="stable")
    left = weight[order][::-1].cumsum()[::-1]  # of this test and those after it
    corrected = np.empty_like(p)
    corrected[order] = np.minimum(np.maximum.accumulate(p[order] * left / weight[order]), 1)
    return corrected


def hochberg(p_values: ArrayLike) -> NDArray[np.float64]:
    """Return corrected p values in the given order; like `holm`, but smaller where many of them are small.

    If all m are below alpha, all are claims; Holm needs alpha / m for the first.

    Args:
        p_values: shape (m,), m >= 1, in [0, 1].
    Raises: Refused: one is NaN or outside [0, 1].
    Source: Hochberg, Biometrika 1988; independent or positively dependent tests
        (Sarkar, Annals of Statistics 1998).
    """
    p = _p_values(p_values)
    falling = np.argsort(-p, kind="stable")
    corrected = np.empty_like(p)
    corrected[falling] = np.minimum.accumulate(p[falling] * np.arange(1, p.size + 1))
    return corrected


def _p_values(values: ArrayLike) -> NDArray[np.float64]:
    p = finite_values(values, "p values")
    if p.min() < 0 or p.max() > 1:
        raise Refused(f"p values: from {p.min():g} to {p.max():g}; a probability lies in [0, 1]")
    return p
