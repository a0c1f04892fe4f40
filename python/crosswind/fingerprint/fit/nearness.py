"""How near a model is to a measurement, and whether that is near enough.

Compared are the distributions (Kolmogorov-Smirnov and Wasserstein-1 distance), the tails, and the correlation
in time. Each bound is a negligible margin, plus the random distance of a measurement of this length from the
distribution that was fitted to it. Correlated samples count as fewer, by their integrated autocorrelation
time.

Source: Lilliefors 1967 (distribution, fitted); Bartlett 1946 (autocorrelation); Sokal 1997, "Monte Carlo
methods in statistical mechanics", section 3 (integrated autocorrelation time).
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.stats.ljung_box import autocorrelations

Values = NDArray[np.float64]

# Negligible differences: probability, share of the mean, correlation.
_LAW_MARGIN, _MEAN_MARGIN, _LAG_MARGIN = 0.05, 0.02, 0.1
_VOLUME_MARGIN = 0.02
# Times 1 / sqrt(n): what samples of the fitted distribution exceed once in a hundred times, in the distance
# of the distributions, in the mean distance (in standard deviations), and in a correlation.
_LILLIEFORS, _MEAN_STRAYS, _LAG_STRAYS = 1.03, 0.7, 2.6
_LAGS_MAX = 200
_TAILS = (0.01, 0.05, 0.95, 0.99)
# Sokal's window: the sum is over this many integrated autocorrelation times.
_WINDOW = 5.0


@dataclass(frozen=True)
class Nearness:
    """Distances of a model from a measurement, each with the bound that it must not exceed.

    Attributes:
        ks: the largest distance between the distribution functions, in [0, 1].
        wasserstein: the Wasserstein-1 distance, as a share of the measured mean.
        lag: the largest distance between the autocorrelations up to a few correlation times.
        tails: at the quantiles 1, 5, 95 and 99 %: measured, and the model's.
        volume: the largest distance between the volumes carried until an instant, as a share of all. Only
            this can refuse a model without noise, since a measurement has noise. None for other models.
    """

    ks: tuple[float, float]
    wasserstein: tuple[float, float]
    lag: tuple[float, float]
    tails: dict[str, tuple[float, float]]
    volume: tuple[float, float] | None

    @property
    def refused(self) -> list[str]:
        """The distances above their bounds, in words; empty where the model fits."""
        looks = (
            {"KS distance": self.ks, "Wasserstein distance": self.wasserstein, "autocorrelation": self.lag}
            if self.volume is None
            else {"volume": self.volume}
        )
        return [
            f"{name} {found:.3g} is above {bound:.3g}"
            for name, (found, bound) in looks.items()
            if not found <= bound
        ]

    def __str__(self) -> str:
        """All distances, on one line."""
        tails = ", ".join(
            f"{name} {model / measured - 1:+.1%}" if measured else f"{name} of 0"
            for name, (measured, model) in self.tails.items()
        )
        if self.volume is not None:
            return (
                f"volume off by {self.volume[0]:.2%} (at most {self.volume[1]:.2%}); without noise: KS "
                f"{self.ks[0]:.3f}, Wasserstein {self.wasserstein[0]:.2%} of the mean, autocorrelation off "
                f"by {self.lag[0]:.2f}; tails {tails}"
            )
        return (
            f"KS {self.ks[0]:.3f} (at most {self.ks[1]:.3f}), Wasserstein {self.wasserstein[0]:.2%} of the "
            f"mean (at most {self.wasserstein[1]:.2%}), autocorrelation off by {self.lag[0]:.2f} (at most "
            f"{self.lag[1]:.2f}); tails {tails}"
        )


def nearness(measured: Values, model: Values, *, noiseless: bool = False) -> Nearness:
    """Return how near a model is.

    Args:
        measured: shape (n,), n >= 1, evenly spaced in time, any unit, of a mean above 0.
        model: shape (m,), values of the model with the same spacing; more are better. Without noise, shape
            (n,): its values at the same instants.
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    independent = max(2.0, measured.size / correlation_time(measured))
    mean = float(measured.mean())
    blur = _MEAN_STRAYS * float(measured.std()) / math.sqrt(independent) / mean
    lags = min(_LAGS_MAX, measured.size // 4, model.size // 4, math.ceil(3 * correlation_time(measured)))
    ours, theirs = (_correlations(values, lags) for values in (measured, model))
    unsure = _LAG_STRAYS * math.sqrt((1 + 2 * float((ours**2).sum())) / measured.size)
    return Nearness(
        ks=(
            float(stats.ks_2samp(measured, model).statistic),
            _LAW_MARGIN + _LILLIEFORS / math.sqrt(independent),
        ),
        wasserstein=(float(stats.wasserstein_distance(measured, model)) / mean, _MEAN_MARGIN + blur),
        lag=(float(np.abs(ours - theirs).max(initial=0.0)), _LAG_MARGIN + unsure),
        tails={
            f"p{100 * share:g}": (float(np.quantile(measured, share)), float(np.quantile(model, share)))
            for share in _TAILS
        },
        volume=(_volume(measured, model), _VOLUME_MARGIN) if noiseless else None,
    )


def _volume(measured: Values, model: Values) -> float:
    return float(np.abs(np.cumsum(model - measured)).max() / measured.sum())


def correlation_time(values: Values) -> float:
    """Return the integrated autocorrelation time in samples: 1 where they are independent.

    Args:
        values: shape (n,), n >= 2, evenly spaced.
    """
    total, lags = 1.0, 128
    while lags < 2 * values.size:
        # Few lags suffice for nearly every series, and many are slow.
        sums = 1 + 2 * np.cumsum(_correlations(values, min(lags, values.size // 2)))
        reached = np.flatnonzero(np.arange(1, sums.size + 1) >= _WINDOW * sums)
        if sums.size:
            total = float(sums[reached[0] if reached.size else -1])
        if reached.size:
            break
        lags *= 8
    return max(1.0, total)


def _correlations(values: Values, lags: int) -> Values:
    """Return the autocorrelations from lag 1 on; 0 for a constant series."""
    return np.nan_to_num(autocorrelations(values, lags)) if lags else np.empty(0)
