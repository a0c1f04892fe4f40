"""Delays are drawn from the law that was asked for, and drifts are correlated as they say."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.special import ndtr, ndtri

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.stats.distance import Function, ks_bound, ks_distance, wasserstein_distance
from crosswind.testbed.plain import plain_fabric

FAMILY = "delays"
PACKETS = 20_000
GAP_NS = 1_000_000_000  # Packets that never meet: no order has to be kept.
# One false alarm in a million certificates; with a fixed seed there is none.
ALPHA = 1e-6


@dataclass(frozen=True)
class Law:
    """A delay element and the law that its delays must have, in ns.

    Attributes:
        spread_ns: scale of the law; the Wasserstein distance of this many samples from their own law is about
            the spread over the square root of their number. 0 for a constant.
    """

    name: str
    delay: Mapping[str, Any]
    cdf: Function
    quantile: Function
    spread_ns: float


def _constant(name: str, time_ns: int) -> Law:
    return Law(
        name,
        {"time_ns": time_ns},
        lambda x: (x >= time_ns).astype(np.float64),
        lambda p: np.full_like(p, time_ns),
        0.0,
    )


MEAN_NS = 100_000_000
JITTER_NS = 1_000_000
SIGMA = 0.5
ENTRIES = 4096
SAMPLES_NS = (0, 10_000, 20_000, 20_000, 500_000)
# At least ten half-lives between packets: correlated with 10^-6.
HALF_LIFE_NS = GAP_NS // 10


def _random(law: Mapping[str, Any], **more: Any) -> dict[str, Any]:
    random = {"law": dict(law), "depth": None, "order": "keep", "half_life_ns": None, **more}
    return {"time_ns": MEAN_NS, "random": random}


def _spread(name: str, of_normal: Function, **more: Any) -> Law:
    """Return a law of jitter that is an increasing function of a standard normal quantity."""
    z = np.linspace(-8, 8, 400_001)
    jitters = of_normal(z)
    word, *_ = name.split(",")
    parameters = {"jitter_ns": JITTER_NS} | ({"sigma_ppm": round(SIGMA * 1e6)} if word == "lognormal" else {})
    return Law(
        name,
        _random({word.replace("-", "_"): parameters}, **more),
        # A delay is rounded to whole ns, so up to half a ns more counts to it.
        lambda x: ndtr(np.interp((x + 0.5 - MEAN_NS) / JITTER_NS, jitters, z)),
        lambda p: MEAN_NS + JITTER_NS * of_normal(ndtri(p)),
        JITTER_NS,
    )


def _discrete(name: str, delay: Mapping[str, Any], values_ns: ArrayLike) -> Law:
    """Return a law of these values, each as likely as the others."""
    values = np.sort(np.asarray(values_ns, dtype=np.float64))
    return Law(
        name,
        delay,
        lambda x: np.searchsorted(values, x, side="right") / len(values),
        lambda p: values[(p * len(values)).astype(np.int64)],
        float(np.std(values)),
    )


def _table() -> Law:
    middles = (np.arange(ENTRIES) + 0.5) / ENTRIES
    values_ns = np.rint(MEAN_NS + JITTER_NS * ndtri(middles))
    law = {"normal": {"jitter_ns": JITTER_NS}}
    return _discrete(f"normal, table of {ENTRIES}", _random(law, depth=ENTRIES), values_ns)


def _histogram() -> Law:
    edges_ns, counts = np.array([0, 100_000, 400_000, 2_000_000]), np.array([5, 0, 1])
    bins = [
        {"low_ns": low, "high_ns": high, "count": count}
        for low, high, count in zip(
            edges_ns[:-1].tolist(), edges_ns[1:].tolist(), counts.tolist(), strict=True
        )
    ]
    below = np.concatenate([[0], counts.cumsum()]) / counts.sum()
    # No delay lies in the empty bin; probabilities have to ascend through it all the same.
    below[2] += 1e-12
    return Law(
        "histogram",
        _random({"histogram": {"bins": bins}}),
        lambda x: np.interp(x + 0.5 - MEAN_NS, edges_ns, below),
        lambda p: MEAN_NS + np.interp(p, below, edges_ns),
        1_000_000,
    )


def _pareto(z: NDArray[np.float64]) -> NDArray[np.float64]:
    pareto: NDArray[np.float64] = 4 / 3 * (ndtr(-z) ** (-1 / 3) - 1.5)
    return pareto


def _lognormal(z: NDArray[np.float64]) -> NDArray[np.float64]:
    variance = np.exp(SIGMA**2) - 1
    lognormal: NDArray[np.float64] = (np.exp(SIGMA * z - SIGMA**2 / 2) - 1) / np.sqrt(variance)
    return lognormal


LAWS = (
    _constant("constant 1 ns", 1),
    _constant("constant 50 us", 50_000),
    _constant("constant 100 ms", 100_000_000),
    _spread("uniform", lambda z: 2 * ndtr(z) - 1),
    _spread("normal", lambda z: z),
    _spread("pareto", _pareto),
    _spread("pareto-normal", lambda z: (z + 3 * _pareto(z)) / 4),
    _spread("lognormal", _lognormal),
    _spread("normal, drifting", lambda z: z, half_life_ns=HALF_LIFE_NS),
    _spread("pareto, drifting, free order", _pareto, half_life_ns=HALF_LIFE_NS, order="free"),
    _table(),
    _discrete("samples", _random({"samples": {"samples_ns": SAMPLES_NS}}), MEAN_NS + np.asarray(SAMPLES_NS)),
    _histogram(),
)


def claims() -> Iterator[Claim]:
    """Yield two distances for each law, and what a drift does to neighbours."""
    for law in LAWS:
        delays = _delays(law.delay, GAP_NS)
        yield at_most(
            FAMILY,
            f"{law.name}: distance from its law",
            "virtual",
            ks_distance(delays, law.cdf, step=1),
            ks_bound(PACKETS, ALPHA),
            "KS",
            f"Dvoretzky, Kiefer and Wolfowitz for {PACKETS} samples, one false alarm in {1 / ALPHA:.0e}",
        )
        yield at_most(
            FAMILY,
            f"{law.name}: distance that probability has to be moved",
            "virtual",
            wasserstein_distance(delays, law.quantile),
            1 + 5 * law.spread_ns / np.sqrt(PACKETS),
            "ns",
            "whole nanoseconds, and five times the spread over the root of the number of samples",
        )
    yield from _drift_claims()


def _drift_claims() -> Iterator[Claim]:
    law = {"normal": {"jitter_ns": JITTER_NS}}
    apart = _delays(_random(law, half_life_ns=GAP_NS), GAP_NS)
    yield at_most(
        FAMILY,
        "normal, drifting: correlation of delays a half-life apart, less one half",
        "virtual",
        abs(float(np.corrcoef(apart[:-1], apart[1:])[0, 1]) - 0.5),
        # Bartlett's formula for (1 + a) exp(-a): the variance is 1.2 over their number.
        float(5 * np.sqrt(1.2 / PACKETS)),
        "correlation",
        "five standard errors",
    )
    close_ns = 1000
    together = _delays(_random(law, half_life_ns=10 * JITTER_NS, order="free"), close_ns)
    yield at_most(
        FAMILY,
        "normal, drifting: packets 1 us apart that overtake, with a half-life of 10 jitters",
        "virtual",
        int(np.sum(np.diff(together) < -close_ns)),
        0,
        "packets",
        "the drift is smooth: one in 10^9",
    )


def _delays(delay: Mapping[str, Any], gap_ns: int) -> NDArray[np.float64]:
    at = np.arange(PACKETS) * gap_ns
    fabric = plain_fabric(places={"host.ingress": [{"delay": dict(delay)}]})
    return play(fabric, Packets.of(at)).departed_ns - at
