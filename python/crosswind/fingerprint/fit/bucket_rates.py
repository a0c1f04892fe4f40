"""A credit bucket (`crosswind.fingerprint.bucket.token_bucket`) as a model of rates.

It has two rates and no noise. Its rates over time are computed as in the engine: tokens arrive at the refill
all the time; the rate is high while there are tokens, and low without.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
from numpy.typing import NDArray

from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.fit.fitted import Fitted, NoFit
from crosswind.fingerprint.fit.nearness import nearness
from crosswind.fingerprint.fit.rates import Rates
from crosswind.stats import Bounded
from crosswind.text.quantities import rate_text

# Chosen here, since a trace of rates does not show the queue: a tenth of a second at the high rate, as for a
# path across a continent. At least ten packets, and at most what the catalogue's clouds have, 2 MiB, which
# already take 1.7 s at 10 Mbit/s.
_BUFFER_S, _BUFFER_BYTES = 0.1, (15_380, 2 * 1024**2)


def credit_bucket(trace: TrafficTrace, found: TokenBucket) -> Fitted:
    """Return a credit bucket on everything that a host sends.

    Raises: NoFit: the bucket was not emptied.
    """
    if found.low_bps is None or found.budget_bits is None or found.emptied_s is None:
        carried_bits = float(next(trace.phases()).bits.sum())
        held = (
            f"{carried_bits / 1e9:.4g} Gbit, less the refill of that time"
            if found.at_least_bits is None
            else f"{found.at_least_bits / 1e9:.4g} Gbit"
        )
        raise NoFit(
            f"{rate_text(found.high_bps.value)}, which never fell: no bucket was emptied. If there is one, "
            f"it held at least {held}. Measure for longer"
        )
    # The low rate is at least the refill, so a larger estimate of the refill is noise.
    refill = min(found.refill_bps.value, found.low_bps.value) if found.refill_bps else found.low_bps.value
    assumed = (
        ""
        if found.refill_bps
        else ", assumed to be the low rate: no rest was followed by a phase that emptied it"
    )
    refill_text = f"{_interval(found.refill_bps, 1e6)} Mbit/s" if found.refill_bps else rate_text(refill)
    high, low, budget = found.high_bps.value, found.low_bps.value, found.budget_bits.value
    buffer_bytes = round(np.clip(_BUFFER_S * high / 8, *_BUFFER_BYTES))
    rates_bps = _given(trace, high, low, min(refill, high), budget)
    given = replace(trace, bits=rates_bps * (trace.end_s - trace.begin_s))
    return Fitted(
        summary=f"{rate_text(high)} until {budget / 1e9:.4g} Gbit are spent, then {rate_text(low)}",
        elements=f"""\
host.egress:
  - credit:
      budget: {budget / 1e9:.6f}Gbit
      high: {high / 1e6:.6f}Mbit/s
      low: {low / 1e6:.6f}Mbit/s
      refill: {refill / 1e6:.6f}Mbit/s
      buffer: {buffer_bytes}B""",
        notes=[
            f"The bucket was empty after {found.emptied_s:.3f} s ({found.kind}).",
            f"95 % intervals: high {_interval(found.high_bps, 1e6)}, low {_interval(found.low_bps, 1e6)} "
            f"Mbit/s; budget {_interval(found.budget_bits, 1e9)} Gbit, as held when the trace began.",
            f"Refill {refill_text}{assumed}.",
            f"A trace of rates does not show the size of the queue: {buffer_bytes} B are assumed.",
        ],
        # Samples may be of any length, so rates are compared on an even grid.
        near=nearness(Rates.of(trace).bps, Rates.of(given).bps, noiseless=True),
    )


def _given(trace: TrafficTrace, high: float, low: float, refill: float, budget: float) -> NDArray[np.float64]:
    """Return the mean rates that a full bucket of these parameters gives over the samples of a trace."""
    tokens, now_s = budget, float(trace.begin_s[0])
    rates = []
    for begin_s, end_s in zip(trace.begin_s, trace.end_s, strict=True):
        tokens = min(budget, tokens + refill * max(0.0, begin_s - now_s))
        lasts_s, now_s = float(end_s - begin_s), float(end_s)
        fast_s = lasts_s if high <= refill else min(lasts_s, tokens / (high - refill))
        # The empty bucket gives `low`, which is at least the refill.
        tokens -= (high - refill) * fast_s
        rates.append((high * fast_s + low * (lasts_s - fast_s)) / lasts_s)
    return np.array(rates)


def _interval(found: Bounded, unit: float) -> str:
    return f"{found.value / unit:.5g} ({found.low / unit:.5g} to {found.high / unit:.5g})"
