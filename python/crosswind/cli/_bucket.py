"""A token bucket as a line on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosswind.fingerprint.bucket.token_bucket import Range, TokenBucket
    from crosswind.fingerprint.trace.traffic_trace import TrafficTrace


def bucket_text(bucket: TokenBucket, trace: TrafficTrace) -> str:
    """Return what a trace says of the bucket behind it, in one line."""
    from crosswind.doctor.quantities import rate_text

    if bucket.low_bps is None or bucket.budget_bits is None or bucket.emptied_s is None:
        sent = float(next(trace.phases()).bits.sum())
        return (
            f"token bucket: not emptied at {rate_text(bucket.high_bps.value)}; if there is one, it held "
            f"at least {sent / 1e9:.4g} Gbit less what came back meanwhile"
        )
    refill = "not known" if bucket.refill_bps is None else f"{_interval(bucket.refill_bps, 1e6)} Mbit/s"
    return (
        f"token bucket ({bucket.kind}): {rate_text(bucket.high_bps.value)}, and after "
        f"{bucket.emptied_s:.4g} s {rate_text(bucket.low_bps.value)}; "
        f"budget {_interval(bucket.budget_bits, 1e9)} Gbit, refill {refill}"
    )


def _interval(found: Range, unit: float) -> str:
    return f"{found.value / unit:.4g} ({found.low / unit:.4g} to {found.high / unit:.4g})"
