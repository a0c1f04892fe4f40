"""A model of rates that resamples the trace in blocks: it preserves distribution and correlation.

A block is ten integrated autocorrelation times long, so that at a lag of one such time nine tenths of the
correlation remain.

Source: Politis and Romano 1992, "A circular block-resampling procedure for stationary data".
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.fit.fitted import Fitted, NoFit
from crosswind.fingerprint.fit.nearness import correlation_time, nearness
from crosswind.fingerprint.fit.rates import WIRE, Rates, lasting, on_link, require_samples, written
from crosswind.text.quantities import rate_text, time_text

_BLOCK_TIMES = 10
_POINTS_MAX = 5000
_MODEL_SAMPLES = 50_000
_SEED = 1


def resampled_rates(rates: Rates) -> Fitted:
    """Return the trace as steps, and the length of a block.

    Raises: NoFit: too short for its correlation, or too long for a file of steps.
    """
    require_samples(rates)
    if rates.bps.size > _POINTS_MAX:
        raise NoFit(
            f"{rates.bps.size} samples are more than the {_POINTS_MAX} that a file of steps may have; use "
            "longer samples, or a part of the trace"
        )
    block = max(1, round(_BLOCK_TIMES * correlation_time(rates.bps)))
    block_s = block * rates.step_s
    step_ns = round(1e9 * rates.step_s)
    steps = "\n".join(
        f"  {lasting(number * step_ns / 1e9)}: {written(rate)}" for number, rate in enumerate(rates.bps)
    )
    return Fitted(
        summary=f"rates around {rate_text(float(np.median(rates.bps)))}, blocks of a trace of "
        f"{time_text(1e9 * rates.step_s * rates.bps.size)}",
        elements=on_link(
            f"resample: {lasting(block * step_ns / 1e9)}",
            f"repeat: {lasting(rates.bps.size * step_ns / 1e9)}",
            f"steps:\n{steps}",
        ),
        notes=[
            f"Mean {rates.bps.mean() / 1e6:.6g} Mbit/s of IP; rates are correlated over "
            f"{time_text(1e9 * block_s / _BLOCK_TIMES)}, and a block is ten times as long.",
            WIRE,
        ],
        near=nearness(rates.bps, _resampled(rates.bps, block)),
    )


def _resampled(bps: NDArray[np.float64], block: int) -> NDArray[np.float64]:
    """Return the rates that the engine would give over even steps."""
    random = np.random.default_rng(_SEED)
    places = random.integers(bps.size, size=_MODEL_SAMPLES // block + 1)
    given: NDArray[np.float64] = bps[(places[:, np.newaxis] + np.arange(block)) % bps.size].ravel()
    return given
