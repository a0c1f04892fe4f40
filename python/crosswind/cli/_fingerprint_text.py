"""The text output of `crosswind fingerprint`."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crosswind.fingerprint.fingerprint import Fingerprint


def fingerprint_text(found: Fingerprint) -> str:
    """Return a fingerprint as a few lines of text."""
    from crosswind.cli._bucket import bucket_text
    from crosswind.stats import quantile
    from crosswind.text.quantities import memory_text, rate_text, time_text

    lines = [
        f"{found.between[0]} to {found.between[1]}, {found.way}"
        + (f", condition {found.condition}" if found.condition is not None else "")
    ]
    if found.idle is not None:
        lines.append(f"round trips: {time_text(quantile(found.idle.round_trip_ns, 0.5))} at the median")
    if delay := found.delay_quantiles_ns():
        lines.append(
            f"delay, one way: {time_text(delay['p50'])} at the median, {time_text(delay['p99'])} at p99; "
            f"{found.lost} packets lost"
        )
    if found.loaded is not None:
        answered_ns = found.loaded.round_trip_ns
        loaded = time_text(quantile(answered_ns, 0.5)) + " at the median" if answered_ns else "no answer"
        lines.append(f"round trips during a bulk transfer: {loaded}")
    if (bulk := found.bulk) is not None:
        lines.append(
            f"bulk transfer: {rate_text(bulk.goodput_bps)} of payload over {len(bulk.each_bps)} connections, "
            f"Jain's index {bulk.jain:.3f}, "
            f"{'no number of' if bulk.retransmits is None else bulk.retransmits} retransmissions"
        )
    for number in found.capacity:
        goodput, jain = number.goodput_bps, number.jain
        lines.append(
            f"{number.connections:4} connections: {rate_text(goodput.median)} "
            f"({rate_text(goodput.least)} to {rate_text(goodput.most)}), "
            f"Jain's index {jain.median:.3f} ({jain.least:.3f} to {jain.most:.3f})"
        )
    for size in found.writes:
        lines.append(
            f"writes of {memory_text(size.write_bytes):>7}: {rate_text(size.stream.goodput_bps)}, "
            f"a message and its answer {time_text(quantile(size.messages.round_trip_ns, 0.5))}"
        )
    if found.token_bucket is not None and found.trace is not None:
        lines.append(bucket_text(found.token_bucket, found.trace))
    return "\n".join(lines)
