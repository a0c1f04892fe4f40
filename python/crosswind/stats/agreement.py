"""Cohen's kappa: how far two judges agree beyond what chance alone would bring."""

from __future__ import annotations

import math
from dataclasses import dataclass
from statistics import NormalDist

import numpy as np
from numpy.typing import ArrayLike

from crosswind.stats.values import Refused, finite_values


@dataclass(frozen=True)
class Kappa:
    """1 is full agreement, 0 what chance brings; NaN throughout where both judges know one answer only."""

    kappa: float
    observed: float  # share of cases that they agree on
    expected: float  # share that judges of the same habits agree on by chance
    low: float
    high: float
    confidence: float


def cohens_kappa(table: ArrayLike, confidence: float = 0.95) -> Kappa:
    """Return Cohen's kappa of a table of counts, with its asymptotic interval.

    Args:
        table: shape (k, k), k >= 2; table[i, j] cases that the first judge called i and the second j.
        confidence: in (0, 1).
    Raises: Refused: the table is not square, has a negative or infinite entry, or no cases.
    Source: Cohen 1960; variance of Fleiss, Cohen and Everitt 1969.
    """
    counts = np.asarray(table, dtype=np.float64)
    if counts.ndim != 2 or counts.shape[0] != counts.shape[1] or counts.shape[0] < 2:
        raise Refused(f"table: of shape {counts.shape}; give as many rows as columns, two or more")
    total = finite_values(counts, "table").sum()
    if counts.min() < 0 or total == 0:
        raise Refused("table: it holds counts of cases; give none below 0, and at least one above")
    share = counts / total
    rows, columns, diagonal = share.sum(axis=1), share.sum(axis=0), share.diagonal()
    observed, expected = float(diagonal.sum()), float(rows @ columns)
    if math.isclose(expected, 1):
        return Kappa(math.nan, observed, expected, math.nan, math.nan, confidence)
    kappa = (observed - expected) / (1 - expected)
    # Off the diagonal, a case called i and j lies in column i of the second judge and row j of the first.
    crossed = share * (columns[:, None] + rows[None, :]) ** 2
    variance = (
        float(diagonal @ (1 - (rows + columns) * (1 - kappa)) ** 2)
        + (1 - kappa) ** 2 * float(crossed.sum() - crossed.diagonal().sum())
        - (kappa - expected * (1 - kappa)) ** 2
    ) / ((1 - expected) ** 2 * total)
    half = NormalDist().inv_cdf((1 + confidence) / 2) * math.sqrt(max(variance, 0.0))
    return Kappa(kappa, observed, expected, kappa - half, kappa + half, confidence)
