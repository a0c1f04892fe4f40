"""What was found in a network, as the text of a condition that emulates it."""

from __future__ import annotations

from crosswind.doctor.quantities import rate_text, time_text
from crosswind.errors import CrosswindError
from crosswind.fingerprint.token_bucket import Range, TokenBucket
from crosswind.fingerprint.traffic_trace import TrafficTrace

# Ours: a trace of rates does not say how much waits.
_BUFFER = "2MiB"


class NoFit(CrosswindError):
    """Nothing that can be emulated was found; the message says what was, and what would help."""


def credit_condition(name: str, source: str, trace: TrafficTrace, found: TokenBucket) -> str:
    """Return a file with one condition: a credit bucket on everything that a host sends.

    Args:
        name: of the condition.
        source: the file that was measured, for the header.
    Raises: NoFit: the bucket was not emptied.
    """
    length_s = float(trace.end_s[-1] - trace.begin_s[0])
    seen = f"{trace.bits.size} samples of {time_text(1e9 * length_s)}"
    if found.low_bps is None or found.budget_bits is None or found.emptied_s is None:
        at_least = (
            ""
            if found.at_least_bits is None
            else f" If there is a bucket, it held at least {found.at_least_bits / 1e9:.4g} Gbit."
        )
        raise NoFit(
            f"{source}: {seen} at {rate_text(found.high_bps.value)} and no fall to a lower rate: no bucket "
            f"was emptied.{at_least} Measure for longer, or write the rate as the link's"
        )
    # The low rate is what a bucket gives back, so a larger estimate of the refill is noise.
    refill = min(found.refill_bps.value, found.low_bps.value) if found.refill_bps else found.low_bps.value
    told = (
        ""
        if found.refill_bps
        else ", taken to be the low rate: no rest was followed by a phase that emptied it"
    )
    return f"""\
# Models: what the sender of {source} was given: {seen}.
# Source: measured; the bucket was empty after {found.emptied_s:.3f} s ({found.kind}).
# 95 % intervals: high {_interval(found.high_bps, 1e6)}, low {_interval(found.low_bps, 1e6)} Mbit/s; budget
# {_interval(found.budget_bits, 1e9)} Gbit, which is what it held when the trace began.
# Refill {_interval(found.refill_bps, 1e6) + " Mbit/s" if found.refill_bps else rate_text(refill)}{told}.
# The size of the queue is not in a trace of rates: {_BUFFER} are ours.

{name}:
  summary: {rate_text(found.high_bps.value)} until {found.budget_bits.value / 1e9:.4g} Gbit are spent, then {rate_text(found.low_bps.value)}
  host.egress:
    - credit:
        budget: {found.budget_bits.value / 1e9:.6f}Gbit
        high: {found.high_bps.value / 1e6:.6f}Mbit/s
        low: {found.low_bps.value / 1e6:.6f}Mbit/s
        refill: {refill / 1e6:.6f}Mbit/s
        buffer: {_BUFFER}
"""  # noqa: E501


def _interval(found: Range, unit: float) -> str:
    return f"{found.value / unit:.5g} ({found.low / unit:.5g} to {found.high / unit:.5g})"
