"""Rates on an even grid of time, without rests: the basis of distributions and correlations."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.nearness import correlation_time
from crosswind.text.quantities import time_text

# Ethernet adds 38 bytes to a packet of 1500: a capacity counts bits on the wire.
_WIRE_SHARE = 1538 / 1500
WIRE = "A link's capacity counts bits on the wire: rates are multiplied by 1538/1500, as for full packets."
_SAMPLES_MIN = 20
_SAMPLES_MAX = 100_000


@dataclass(frozen=True)
class Rates:
    """Shape (n,), n >= 1, IP bits per second, `step_s` apart; rests are cut out."""

    bps: NDArray[np.float64]
    step_s: float

    @classmethod
    def of(cls, trace: TrafficTrace) -> Rates:
        """Return the rates of a trace, with the same volume."""
        lasts = trace.end_s - trace.begin_s
        at_s = np.concatenate([[0.0], np.cumsum(lasts)])
        volume = np.concatenate([[0.0], np.cumsum(trace.bits)])
        step_s = max(float(np.median(lasts)), at_s[-1] / _SAMPLES_MAX)
        count = max(1, round(at_s[-1] / step_s))
        # Whole steps have to fill the trace: samples of 1 s that began late may last 59.9 s.
        step_s = float(at_s[-1]) / count
        grid = np.linspace(0, at_s[-1], count + 1)
        return cls(np.diff(np.interp(grid, at_s, volume)) / step_s, step_s)


def require_samples(rates: Rates) -> None:
    """Refuse a trace that is too short for a distribution.

    Raises: NoFit: fewer than 20 samples, or fewer than 20 autocorrelation times.
    """
    if rates.bps.size < _SAMPLES_MIN:
        raise NoFit(
            f"{rates.bps.size} samples are too few for a distribution; measure at least {_SAMPLES_MIN}"
        )
    correlated = correlation_time(rates.bps)
    if rates.bps.size < _SAMPLES_MIN * correlated:
        raise NoFit(
            f"rates are correlated over {time_text(1e9 * correlated * rates.step_s)}, and a trace of "
            f"{time_text(1e9 * rates.bps.size * rates.step_s)} is too short for a distribution: measure for "
            f"at least {time_text(1e9 * _SAMPLES_MIN * correlated * rates.step_s)}, or fit parts of the "
            "trace if its level changes"
        )


def written(ip_bps: float) -> str:
    """Return a rate of IP bits as a file writes the capacity of a link."""
    return f"{round(ip_bps * _WIRE_SHARE)}bit/s"


def lasting(seconds: float) -> str:
    """Return a time as a file writes it, in the largest unit without a fraction, down to ns."""
    ns = round(1e9 * seconds)
    size, unit = next(
        each for each in ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")) if not ns % each[0]
    )
    return f"{ns // size}{unit}"


def on_link(*keys: str) -> str:
    """Return the YAML of a capacity with these keys, from every host to the switch."""
    lines = "\n".join(f"      {line}" for key in keys for line in key.splitlines())
    return f"link:\n  - capacity:\n      direction: up\n{lines}"
