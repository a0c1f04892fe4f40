"""Rates on an even grid of time, as laws and correlations are read from: a trace without its rests."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.fit.nearness import correlation_time
from crosswind.text.quantities import time_text

# Ethernet around a packet of 1500 bytes: a capacity counts wire bits.
_WIRE_SHARE = 1538 / 1500
WIRE = "A link's capacity is in wire bits: rates are times 1538/1500, as for full packets."
_SAMPLES_MIN = 20
_SAMPLES_MAX = 100_000


@dataclass(frozen=True)
class Rates:
    """Shape (n,), n >= 1, IP bits per second, `step_s` apart; rests are cut out."""

    bps: NDArray[np.float64]
    step_s: float

    @classmethod
    def of(cls, trace: TrafficTrace) -> Rates:
        """Return the rates of a trace; its volume is kept, but for what is behind the last whole step."""
        lasts = trace.end_s - trace.begin_s
        at_s = np.concatenate([[0.0], np.cumsum(lasts)])
        volume = np.concatenate([[0.0], np.cumsum(trace.bits)])
        step_s = max(float(np.median(lasts)), at_s[-1] / _SAMPLES_MAX)
        count = max(1, round(at_s[-1] / step_s))
        # So that whole steps fill it: samples of 1 s that began late give 59.9 of them.
        step_s = float(at_s[-1]) / count
        grid = np.linspace(0, at_s[-1], count + 1)
        return cls(np.diff(np.interp(grid, at_s, volume)) / step_s, step_s)


def require_samples(rates: Rates) -> None:
    """Refuse what is too short for a law.

    Raises: NoFit: fewer than 20 samples, or fewer that are worth a new one.
    """
    if rates.bps.size < _SAMPLES_MIN:
        raise NoFit(f"{rates.bps.size} samples say too little of a law; measure {_SAMPLES_MIN} and more")
    resemble = correlation_time(rates.bps)
    if rates.bps.size < _SAMPLES_MIN * resemble:
        raise NoFit(
            f"rates resemble each other over {time_text(1e9 * resemble * rates.step_s)}, and the trace lasts "
            f"{time_text(1e9 * rates.bps.size * rates.step_s)}, which says too little of a law: measure for "
            f"{time_text(1e9 * _SAMPLES_MIN * resemble * rates.step_s)} and more, or take its parts if it "
            "changes for good"
        )


def written(ip_bps: float) -> str:
    """Return a rate of IP bits as the capacity of a link is written."""
    return f"{round(ip_bps * _WIRE_SHARE)}bit/s"


def lasting(seconds: float) -> str:
    """Return a time as it is written, in whole nanoseconds and the largest unit that has no fraction."""
    ns = round(1e9 * seconds)
    size, unit = next(
        each for each in ((10**9, "s"), (10**6, "ms"), (10**3, "us"), (1, "ns")) if not ns % each[0]
    )
    return f"{ns // size}{unit}"


def on_link(*keys: str) -> str:
    """Return a capacity with these keys, from every host to the switch."""
    lines = "\n".join(f"      {line}" for key in keys for line in key.splitlines())
    return f"link:\n  - capacity:\n      direction: up\n{lines}"
