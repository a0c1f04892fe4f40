"""A token bucket as a line on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosswind.analysis.network.token_bucket import TokenBucket
    from crosswind.analysis.network.traffic_trace import TrafficTrace
    from crosswind.stats import Bounded


def bucket_text(bucket: TokenBucket, trace: TrafficTrace) -> str:
    """Return a line with the token bucket that was found in a trace."""
    from crosswind.fingerprint.bucket.bursts import too_coarse
    from crosswind.fingerprint.bucket.knee import SAMPLES_MIN
    from crosswind.text.quantities import rate_text

    phases = list(trace.phases())
    coarse = too_coarse(phases)
    if bucket.low_bps is None or bucket.budget_bits is None or bucket.emptied_s is None:
        if coarse:
            on_s = float(phases[0].end_s[-1] - phases[0].begin_s[0])
            return (
                f"token bucket: undecided; each on-period has fewer than {SAMPLES_MIN} samples, too few to "
                "show two rates, or a bucket that became empty after the second on-period; "
                f"use samples of a tenth of an on-period (--point {100 * on_s:.4g}ms)"
            )
        sent = float(phases[0].bits.sum())
        return (
            f"token bucket: not emptied at {rate_text(bucket.high_bps.value)}; if there is one, it held "
            f"at least {sent / 1e9:.4g} Gbit, less the refill of that time"
        )
    refill = "unknown" if bucket.refill_bps is None else f"{_interval(bucket.refill_bps, 1e6)} Mbit/s"
    return (
        f"token bucket ({bucket.kind}): {rate_text(bucket.high_bps.value)}, and after "
        f"{bucket.emptied_s:.4g} s {rate_text(bucket.low_bps.value)}; "
        f"budget {_interval(bucket.budget_bits, 1e9)} Gbit, refill {refill}"
        + (
            f"; with fewer than {SAMPLES_MIN} points in an on-period, the refill rate is used as the low rate"
            if coarse
            else ""
        )
    )


def _interval(found: Bounded, unit: float) -> str:
    return f"{found.value / unit:.4g} ({found.low / unit:.4g} to {found.high / unit:.4g})"
