"""Points and sittings of regimes that were never measured."""

from __future__ import annotations

from crosswind.fingerprint.regime.points import RegimePoint
from crosswind.fingerprint.regime.record import RegimeSitting, SittingBegin

S = 1_000_000_000


def point(
    begin_ns: int, length_s: int, payload_bytes: int, retransmits: int = 0, steal_s: float = 0.0
) -> RegimePoint:
    """Return a point that both ends spent some CPU time on."""
    return RegimePoint(
        begin_ns=begin_ns,
        end_ns=begin_ns + length_s * S,
        payload_bytes=payload_bytes,
        retransmits=retransmits,
        rtt_us=300.0,
        sender_cpu_s=0.01,
        receiver_cpu_s=0.03,
        steal_s=steal_s,
        clock_set_s=0.0,
    )


def sitting(points: list[RegimePoint], gap_s: float | None = None, ended: str | None = None) -> RegimeSitting:
    """Return a sitting with these points."""
    begin = SittingBegin(began="", boot="boot", monotonic_ns=0, at_ns=0, gap_s=gap_s)
    return RegimeSitting(begin, tuple(points), ended)
