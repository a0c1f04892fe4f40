"""Claims: delays have the requested distribution, and drifting delays have the requested correlation."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from pydantic import JsonValue
from scipy.special import ndtr, ndtri

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.table import Packets, play
from crosswind.spec.measured import spread_dist
from crosswind.spec.resolved import Parameters
from crosswind.stats.distance import Function
from crosswind.stats.law_equivalence import ks_equivalence, samples_for_margin, wasserstein_equivalence
from crosswind.testbed.plain import plain_fabric

FAMILY = "delays"
GAP_NS = 1_000_000_000  # Packets this far apart never meet, so the order is not restricted.
# The chance of a false pass, and the chance that the exact distribution does not pass.
ALPHA = 1e-3
KS_MARGIN = 0.01
# Half of the margin is for the sampling error, half for the confidence bound.
PACKETS = samples_for_margin(KS_MARGIN / 2, ALPHA)
# As a share of the distribution's spread.
MOVED_MARGIN = 0.1
# No bound that holds for every distribution exists for the mean of a tail that is almost never drawn.
TAIL = 1e-3


@dataclass(frozen=True)
class DelayLaw:
    """A random delay element, and the distribution that its delays must have, in whole ns.

    Attributes:
        spread_ns: scale of the distribution, above 0.
    """

    name: str
    delay: Parameters
    cdf: Function
    quantile: Function
    spread_ns: float


MEAN_NS = 100_000_000
JITTER_NS = 1_000_000
SIGMA = 0.5
# NRG uses tables of 1024 and 8192 entries, netem of 4096.
TABLES = (1024, 4096, 8192)
NETEM_ENTRIES = 4096
CONSTANTS_NS = {"1 ns": 1, "50 us": 50_000, "100 ms": 100_000_000}
SAMPLES_NS = (0, 10_000, 20_000, 20_000, 500_000)
# Ten half-lives between packets, so that the correlation is below 10^-6.
HALF_LIFE_NS = GAP_NS // 10


def _random(
    law: Parameters, *, depth: int | None = None, order: str = "keep", half_life_ns: int | None = None
) -> Parameters:
    random: Parameters = {"law": law, "depth": depth, "order": order, "half_life_ns": half_life_ns}
    return {"time_ns": MEAN_NS, "random": random}


def _spread(
    name: str, of_normal: Function, *, order: str = "keep", half_life_ns: int | None = None
) -> DelayLaw:
    """Return a distribution whose jitter is an increasing function of a standard normal variable."""
    z = np.linspace(-8, 8, 400_001)
    jitters = of_normal(z)
    word, *_ = name.split(",")
    parameters: Parameters = {"jitter_ns": JITTER_NS}
    if word == "lognormal":
        parameters["sigma_ppm"] = round(SIGMA * 1e6)
    return DelayLaw(
        name,
        _random({word.replace("-", "_"): parameters}, order=order, half_life_ns=half_life_ns),
        # A delay is rounded to whole ns, so it includes values up to half a ns above it.
        lambda x: ndtr(np.interp((x + 0.5 - MEAN_NS) / JITTER_NS, jitters, z)),
        lambda p: np.rint(MEAN_NS + JITTER_NS * of_normal(ndtri(p))),
        JITTER_NS,
    )


def _discrete(name: str, delay: Parameters, values_ns: ArrayLike) -> DelayLaw:
    """Return the distribution of these values, each with the same probability."""
    values = np.sort(np.asarray(values_ns, dtype=np.float64))
    return DelayLaw(
        name,
        delay,
        lambda x: np.searchsorted(values, x, side="right") / len(values),
        lambda p: values[(p * len(values)).astype(np.int64)],
        float(np.std(values)),
    )


def _table(word: str, of_normal: Function, entries: int) -> DelayLaw:
    """Return a distribution of jitter as a table of quantiles, at the middles of `entries` equal steps."""
    values_ns = MEAN_NS + JITTER_NS * of_normal(ndtri(_middles(entries)))
    law: Parameters = {word: {"jitter_ns": JITTER_NS}}
    return _discrete(f"{word}, table of {entries}", _random(law, depth=entries), np.rint(values_ns))


def _netem() -> DelayLaw:
    """Return the normal distribution of netem: cut at 4 jitters, in steps of 1/8192 jitter (tc-netem(8))."""
    entries = np.rint(8192 * np.clip(ndtri(_middles(NETEM_ENTRIES)), -4, 4)).astype(np.int64)
    law: Parameters = {"samples": {"samples_ns": list(spread_dist(tuple(entries.tolist()), JITTER_NS))}}
    # The kernel rounds half away from 0.
    values_ns = np.sign(entries) * np.floor(np.abs(entries) * JITTER_NS / 8192 + 0.5)
    return _discrete(f"normal, as a netem distribution of {NETEM_ENTRIES}", _random(law), MEAN_NS + values_ns)


def _middles(entries: int) -> NDArray[np.float64]:
    middles: NDArray[np.float64] = (np.arange(entries) + 0.5) / entries
    return middles


def _histogram() -> DelayLaw:
    edges_ns, counts = np.array([0, 100_000, 400_000, 2_000_000]), np.array([5, 0, 1])
    bins: list[JsonValue] = [
        {"low_ns": low, "high_ns": high, "count": count}
        for low, high, count in zip(
            edges_ns[:-1].tolist(), edges_ns[1:].tolist(), counts.tolist(), strict=True
        )
    ]
    below = np.concatenate([[0], counts.cumsum()]) / counts.sum()
    # The empty bin has no delays, but the interpolation needs ascending probabilities.
    below[2] += 1e-12
    return DelayLaw(
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
    _spread("uniform", lambda z: 2 * ndtr(z) - 1),
    _spread("normal", lambda z: z),
    _spread("pareto", _pareto),
    _spread("pareto-normal", lambda z: (z + 3 * _pareto(z)) / 4),
    _spread("lognormal", _lognormal),
    _spread("normal, drifting", lambda z: z, half_life_ns=HALF_LIFE_NS),
    _spread("pareto, drifting, free order", _pareto, half_life_ns=HALF_LIFE_NS, order="free"),
    *(_table("normal", lambda z: z, entries) for entries in TABLES),
    _table("pareto", _pareto, min(TABLES)),
    _netem(),
    _discrete(
        "samples", _random({"samples": {"samples_ns": list(SAMPLES_NS)}}), MEAN_NS + np.asarray(SAMPLES_NS)
    ),
    _histogram(),
)


def claims() -> Iterator[Claim]:
    """Yield two distances for each distribution, the error of constants, and the correlation of drifts."""
    for law in LAWS:
        yield from _near(law, _delays(law.delay, GAP_NS))
    for text, time_ns in CONSTANTS_NS.items():
        yield at_most(
            FAMILY,
            f"constant {text}: largest difference",
            "virtual",
            float(np.abs(_delays({"time_ns": time_ns}, GAP_NS) - time_ns).max()),
            0,
            "ns",
            "the declared delay, in whole nanoseconds",
        )
    yield from _drift_claims()


def _near(law: DelayLaw, delays: NDArray[np.float64]) -> Iterator[Claim]:
    """Yield claims, by equivalence tests, that the delays have the requested distribution."""
    shown = f"shown with {PACKETS} delays at {1 - ALPHA:.1%} confidence (Dvoretzky, Kiefer and Wolfowitz)"
    ks = ks_equivalence(delays, law.cdf, KS_MARGIN, alpha=ALPHA, step=1)
    yield at_most(
        FAMILY,
        f"{law.name}: distance from its distribution, upper bound",
        "virtual",
        ks.upper,
        ks.margin,
        "KS",
        f"a margin of {KS_MARGIN:.0%} of probability, {shown}",
        details={"distance": ks.distance},
    )
    low_ns, high_ns = law.quantile(np.array([TAIL, 1 - TAIL])).tolist()
    moved = wasserstein_equivalence(
        np.clip(delays, low_ns, high_ns),
        lambda p: np.clip(law.quantile(p), low_ns, high_ns),
        MOVED_MARGIN * law.spread_ns,
        span=high_ns - low_ns,
        alpha=ALPHA,
    )
    yield at_most(
        FAMILY,
        f"{law.name}: Wasserstein distance from its distribution, upper bound",
        "virtual",
        moved.upper,
        moved.margin,
        "ns",
        f"a margin of {MOVED_MARGIN:.0%} of the spread, tails beyond {TAIL:.1%} cut, {shown}",
        details={"distance_ns": moved.distance},
    )


def _drift_claims() -> Iterator[Claim]:
    law: Parameters = {"normal": {"jitter_ns": JITTER_NS}}
    apart = _delays(_random(law, half_life_ns=GAP_NS), GAP_NS)
    yield at_most(
        FAMILY,
        "normal, drifting: correlation of delays one half-life apart, difference from 0.5",
        "virtual",
        abs(float(np.corrcoef(apart[:-1], apart[1:])[0, 1]) - 0.5),
        # Bartlett's formula for (1 + a) exp(-a): the variance is 1.2 over the number of packets.
        float(5 * np.sqrt(1.2 / PACKETS)),
        "correlation",
        "five standard errors",
    )
    close_ns = 1000
    together = _delays(_random(law, half_life_ns=10 * JITTER_NS, order="free"), close_ns)
    yield at_most(
        FAMILY,
        "normal, drifting: packets 1 us apart that overtake each other, half-life of 10 jitters",
        "virtual",
        int(np.sum(np.diff(together) < -close_ns)),
        0,
        "packets",
        "the drift is smooth: the chance is 1 in 10^9",
    )


def _delays(delay: Parameters, gap_ns: int) -> NDArray[np.float64]:
    at = np.arange(PACKETS) * gap_ns
    fabric = plain_fabric(places={"host.ingress": [{"delay": delay}]})
    return play(fabric, Packets.of(at)).departed_ns - at
