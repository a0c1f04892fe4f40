"""Fit an element `delay` to measured delays: constant, normal, or a histogram, with a half-life.

The half-life is the engine's: delays that far apart have a correlation of one half. At a lag t the
correlation of normal scores is (1 + a) exp(-a), a = 1.678 t / half-life (`crates/engine/src/delay/drift.rs`).
A histogram has an edge at each of many quantiles, more of them in the tails, so that its quantiles are those
of the measurement. A frequent value has a bin of its own.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from crosswind.fingerprint.fit.fitted import Fitted, NoFit
from crosswind.fingerprint.fit.nearness import correlation_time, nearness
from crosswind.fingerprint.trace.delay_trace import DelayTrace
from crosswind.stats.ljung_box import autocorrelations
from crosswind.text.quantities import time_text

# Tolerance of the quantiles of a model; delays that vary by less are constant.
_SAME_NS, _SAME_SHARE = 2000.0, 0.01
_SHARES = (0.01, 0.1, 0.5, 0.9, 0.99)
_SAMPLES_MIN = 100
_TAIL_SHARES = (0.0, 0.001, 0.002, 0.005)
_BINS = 100
_AT_HALF_LIFE = 1.678_346_990_016_661
_LAGS = 50
_MODEL_SAMPLES = 20_000
_SEED = 1

_Quantile = Callable[[NDArray[np.float64]], NDArray[np.float64]]


def constant_delay(trace: DelayTrace) -> Fitted:
    """Return the median, where nearly all delays are the same.

    Raises: NoFit: delays vary by more than 2 us and 1 %.
    """
    low, middle, high = np.quantile(trace.delay_ns, (0.01, 0.5, 0.99))
    if high - low > 2 * (_SAME_NS + _SAME_SHARE * middle):
        raise NoFit(f"delays vary from {time_text(low)} (p1) to {time_text(high)} (p99)")
    return Fitted(
        summary=f"a delay of {time_text(middle)}",
        elements=_element(f"time: {round(middle)}ns"),
        notes=[_PLACE],
        near=nearness(trace.delay_ns, np.full(trace.delay_ns.size, middle), noiseless=True),
    )


def normal_delay(trace: DelayTrace) -> Fitted:
    """Return mean and standard deviation.

    Raises: NoFit: too few delays, or all the same, or quantiles that no normal distribution has.
    """
    _require(trace)
    from scipy import stats  # Slow to import, and not needed by a `crosswind --help`.

    mean, deviation = float(trace.delay_ns.mean()), float(trace.delay_ns.std())
    if deviation < 1:
        raise NoFit("delays do not vary")

    def quantile(p: NDArray[np.float64]) -> NDArray[np.float64]:
        quantiles: NDArray[np.float64] = np.maximum(0, stats.norm.ppf(p, mean, deviation))
        return quantiles

    _require_quantiles(trace, quantile)
    return _varying(
        trace,
        f"normal delays of {time_text(mean)}, deviation {time_text(deviation)}",
        [f"time: {round(mean)}ns", f"jitter: {round(deviation)}ns", "law: normal"],
        quantile,
    )


def histogram_delay(trace: DelayTrace) -> Fitted:
    """Return the measured distribution.

    Raises: NoFit: too few delays.
    """
    _require(trace)
    edges = _edges(trace.delay_ns)
    counts, _ = np.histogram(trace.delay_ns, edges)
    upto = np.concatenate([[0.0], np.cumsum(counts)]) / counts.sum()
    bins = ", ".join(
        f"{{low: {low}ns, high: {high}ns, count: {count}}}"
        for low, high, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    )
    return _varying(
        trace,
        f"delays around {time_text(float(np.median(trace.delay_ns)))}, as measured",
        [f"law: {{histogram: [{bins}]}}"],
        # The engine draws whole ns.
        lambda p: np.floor(np.interp(p, upto, edges)),
    )


def _edges(delay_ns: NDArray[np.float64]) -> NDArray[np.int64]:
    """Return the edges of bins, ascending, in whole ns."""
    inner = np.linspace(0.01, 0.99, _BINS - 1)
    shares = np.concatenate([_TAIL_SHARES, inner, [1 - share for share in reversed(_TAIL_SHARES)]])
    edges = np.quantile(delay_ns, shares, method="inverted_cdf").round().astype(np.int64)
    values, counts = np.unique(delay_ns.round().astype(np.int64), return_counts=True)
    frequent = values[counts > delay_ns.size / _BINS]
    return np.unique(np.concatenate([edges, frequent, frequent + 1, [edges[-1] + 1]]))


def _varying(trace: DelayTrace, summary: str, keys: list[str], quantile: _Quantile) -> Fitted:
    half_life_s = _half_life_s(trace)
    step_s = trace.step_s
    apart = (
        "the time between measurements is unknown, so delays are independent"
        if step_s is None
        else "packets as far apart as the measured ones have independent delays"
        if half_life_s is None
        else f"delays {time_text(1e9 * half_life_s)} apart have a correlation of one half"
    )
    if half_life_s is not None:
        keys = [*keys, f"half_life: {round(1e9 * half_life_s)}ns"]
    given = _given(quantile, half_life_s, step_s)
    measured = trace.delay_ns
    if step_s is None:
        # Their order in time is unknown: only the distribution counts.
        measured = np.random.default_rng(_SEED).permutation(measured)
    return Fitted(
        summary, _element(*keys), [f"Correlation in time: {apart}.", _PLACE], nearness(measured, given)
    )


def _half_life_s(trace: DelayTrace) -> float | None:
    """Return the half-life of delays, or None where they show no correlation."""
    from scipy import optimize, stats

    if trace.step_s is None or trace.delay_ns.size < 4 * _LAGS:
        return None
    ranks = stats.rankdata(trace.delay_ns)
    scores = stats.norm.ppf((ranks - 0.5) / ranks.size)
    found = np.nan_to_num(autocorrelations(scores, _LAGS))
    if found[0] < 0.1 + 3 / np.sqrt(scores.size):
        return None
    # Long lags are noise: fit up to the first correlation below a fifth, and a few more.
    low = np.flatnonzero(found < 0.2)
    lags = np.arange(1, min(_LAGS, 3 + (int(low[0]) if low.size else _LAGS)) + 1)

    def misfit(log_half_life: float) -> float:
        a = _AT_HALF_LIFE * lags / np.exp(log_half_life)
        return float((((1 + a) * np.exp(-a) - found[: lags.size]) ** 2).sum())

    best = optimize.minimize_scalar(misfit, bounds=(np.log(0.1), np.log(20 * _LAGS)), method="bounded")
    return float(np.exp(best.x)) * trace.step_s


def _given(quantile: _Quantile, half_life_s: float | None, step_s: float | None) -> NDArray[np.float64]:
    """Return the delays that the engine gives packets one step apart, which it keeps in order."""
    from scipy import stats

    random = np.random.default_rng(_SEED)
    if half_life_s is None or step_s is None:
        delays = quantile(random.uniform(size=_MODEL_SAMPLES))
    else:
        delays = quantile(stats.norm.cdf(_drift(_AT_HALF_LIFE * step_s / half_life_s, random)))
    if step_s is None:
        return delays
    at_ns = np.arange(delays.size) * 1e9 * step_s
    kept: NDArray[np.float64] = np.maximum.accumulate(at_ns + delays) - at_ns
    return kept


def _drift(a: float, random: np.random.Generator) -> NDArray[np.float64]:
    """Return the position of the engine's drift at steps of `a`, exactly as in its `drift.rs`."""
    motion = np.exp(-a) * np.array([[1 + a, a], [-a, 1 - a]])
    noise = np.linalg.cholesky(np.eye(2) - motion @ motion.T + 1e-12 * np.eye(2))
    shocks = random.normal(size=(_MODEL_SAMPLES, 2)) @ noise.T
    state = random.normal(size=2)
    positions = np.empty(_MODEL_SAMPLES)
    for number in range(_MODEL_SAMPLES):
        positions[number] = state[0]
        state = motion @ state + shocks[number]
    return positions


def _require(trace: DelayTrace) -> None:
    if trace.delay_ns.size < _SAMPLES_MIN:
        raise NoFit(
            f"{trace.delay_ns.size} delays are too few for a distribution; measure at least {_SAMPLES_MIN}"
        )


def _require_quantiles(trace: DelayTrace, quantile: _Quantile) -> None:
    """Refuse a distribution whose quantiles differ from the measured ones.

    Raises: NoFit: one is more than 2 us + 1 % outside the measured quantile plus or minus three standard
    errors.
    """
    independent = trace.delay_ns.size / correlation_time(trace.delay_ns)
    for share, given in zip(_SHARES, quantile(np.array(_SHARES)), strict=True):
        strays = 3 * float(np.sqrt(share * (1 - share) / independent))
        low, measured, high = np.quantile(
            trace.delay_ns, (max(0, share - strays), share, min(1, share + strays))
        )
        allowed = _SAME_NS + _SAME_SHARE * measured
        if not low - allowed <= given <= high + allowed:
            raise NoFit(f"its p{100 * share:g} is {time_text(given)}, and {time_text(measured)} was measured")


_PLACE = "Packets that a host sends get the delay once. For round-trip times, write `on:` with one node."


def _element(*keys: str) -> str:
    body = "\n".join(f"      {key}" for key in keys)
    return f"host.egress:\n  - delay:\n{body}"
