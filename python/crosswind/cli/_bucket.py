"""A token bucket as a line on a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosswind.fingerprint.token_bucket import TokenBucket
    from crosswind.fingerprint.traffic_trace import TrafficTrace


def bucket_text(bucket: TokenBucket, trace: TrafficTrace) -> str:
    """Return what a trace says of the bucket behind it, in one line."""
    from crosswind.doctor.quantities import rate_text

    if bucket.low_bps is None or bucket.budget_bits is None or bucket.emptied_s is None:
        sent = float(next(trace.phases()).bits.sum())
        return (
            f"token bucket: none was emptied at {rate_text(bucket.high_bps.value)}; if there is one, it held "
            f"at least {sent / 1e9:.4g} Gbit less what came back meanwhile"
        )
    refill = "not known" if bucket.refill_bps is None else rate_text(bucket.refill_bps.value)
    return (
        f"token bucket ({bucket.kind}): {rate_text(bucket.high_bps.value)} for {bucket.emptied_s:.4g} s, "
        f"then {rate_text(bucket.low_bps.value)}; budget {bucket.budget_bits.value / 1e9:.4g} Gbit, "
        f"refill {refill}"
    )
