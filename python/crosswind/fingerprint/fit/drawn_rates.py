"""Models of rates that are drawn repeatedly: around a mean (`constant`), or between five quantiles.

Draws are independent. A draw that lasts m samples gives neighbours a correlation of 1 - 1/m, which shows how
long it lasts. Without correlation, each sample is a draw. Noise below half a percent counts as none.

Source: Ballani et al. 2011, SIGCOMM, figure 1 (five quantiles of a cloud's bandwidth).
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.fit.fitted import Fitted, NoFit
from crosswind.fingerprint.fit.nearness import nearness
from crosswind.fingerprint.fit.rates import WIRE, Rates, lasting, on_link, require_samples, written
from crosswind.spec.quantile_law import cells_of
from crosswind.stats.ljung_box import autocorrelations
from crosswind.text.quantities import rate_text, time_text

_NO_NOISE = 0.005
_MODEL_SAMPLES = 50_000
_SEED = 1
_NORMAL_SHARES = (0.01, 0.05, 0.15, 0.3, 0.5, 0.7, 0.85, 0.95, 0.99)
_FIVE_SHARES = (0.01, 0.25, 0.5, 0.75, 0.99)


def constant_rate(rates: Rates) -> Fitted:
    """Return a mean, with normal noise around it where there is any.

    Raises: NoFit: too few samples to estimate the noise.
    """
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    mean, deviation = float(rates.bps.mean()), float(rates.bps.std())
    if deviation <= _NO_NOISE * mean:
        noise = (
            f"noise {deviation / mean:.2%}" if rates.bps.size > 1 else "noise is unknown: there is one sample"
        )
        return Fitted(
            summary=f"{rate_text(mean)}, constant",
            elements=on_link(f"steps: {{0s: {written(mean)}}}"),
            notes=[f"Mean {mean / 1e6:.6g} Mbit/s of IP; {noise}.", WIRE],
            near=nearness(rates.bps, np.full(rates.bps.size, mean), noiseless=True),
        )
    require_samples(rates)
    quantiles = [float(quantile) for quantile in stats.norm.ppf(_NORMAL_SHARES, mean, deviation)]
    if quantiles[0] <= 0:
        raise NoFit(
            f"noise of {deviation / mean:.0%} is too large to be normal: some rates would be negative"
        )
    return _drawn(
        rates,
        quantiles,
        _NORMAL_SHARES,
        f"{rate_text(mean)} with noise of {deviation / mean:.1%}",
    )


def five_quantiles(rates: Rates) -> Fitted:
    """Return the quantiles 1, 25, 50, 75 and 99 %; between them, draws are uniform.

    Raises: NoFit: too few samples.
    """
    require_samples(rates)
    quantiles = [float(quantile) for quantile in np.quantile(rates.bps, _FIVE_SHARES)]
    return _drawn(
        rates, quantiles, _FIVE_SHARES, f"rates around {rate_text(quantiles[2])}, by five quantiles"
    )


def _drawn(rates: Rates, quantiles: list[float], shares: tuple[float, ...], summary: str) -> Fitted:
    hold = _hold(rates.bps)
    hold_s = hold * rates.step_s
    ppb = [(round(1e9 * share), round(quantile)) for share, quantile in zip(shares, quantiles, strict=True)]
    law = ", ".join(
        f"{100 * share:g}%: {written(quantile)}" for share, quantile in zip(shares, quantiles, strict=True)
    )
    return Fitted(
        summary=f"{summary}, drawn every {time_text(1e9 * hold_s)}",
        elements=on_link(f"quantiles: {{{law}}}", f"hold: {lasting(hold_s)}"),
        notes=[
            f"Mean {rates.bps.mean() / 1e6:.6g} Mbit/s of IP, deviation {rates.bps.std() / 1e6:.4g}; a rate "
            f"lasts {time_text(1e9 * hold_s)}, by the correlation of neighbours.",
            WIRE,
        ],
        near=nearness(rates.bps, _draws(ppb, hold)),
    )


def _hold(bps: NDArray[np.float64]) -> int:
    """Return how many samples a draw lasts."""
    (neighbours,) = np.nan_to_num(autocorrelations(bps, 1))
    # Bartlett 1946: with independent samples, one correlation in a hundred is above this.
    return 1 if neighbours < 2.6 / np.sqrt(bps.size) else max(1, round(1 / (1 - neighbours)))


def _draws(quantiles: list[tuple[int, int]], hold: int) -> NDArray[np.float64]:
    """Return the rates that the engine would give over even steps."""
    random = np.random.default_rng(_SEED)
    cells = cells_of(quantiles)
    weights = np.array([cell.weight for cell in cells], dtype=np.float64)
    count = _MODEL_SAMPLES // hold + 1
    chosen = random.choice(len(cells), size=count, p=weights / weights.sum())
    low, high = (np.array([getattr(cell, end) for cell in cells], float) for end in ("low_bps", "high_bps"))
    given: NDArray[np.float64] = np.repeat(random.uniform(low[chosen], high[chosen]), hold)
    return given
