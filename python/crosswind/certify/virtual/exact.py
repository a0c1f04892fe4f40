"""Exact models of elements: about ten lines each, in exact arithmetic, without code of the engine."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from fractions import Fraction

NS_PER_S = 10**9


def wire_bytes(ip_bytes: int) -> int:
    """Return the bytes of a packet on an Ethernet wire: with header, FCS, padding, preamble and gap.

    Source: IEEE 802.3-2022, 3.1.1 and 4.4.2.
    """
    return max(64, ip_bytes + 18) + 20


def credited_ns(
    arrivals: Iterable[int], bits: int, budget_bits: int, rates_bps: tuple[int, int, int]
) -> Iterator[Fraction]:
    """Yield when packets of equal size leave a credit bucket that starts full and has an unlimited queue.

    Args:
        arrivals: instants in ns, ascending.
        rates_bps: high, low and refill.
    """
    high, low, refill = rates_bps
    level, sent, free = Fraction(budget_bits), Fraction(0), Fraction(0)
    for at_ns in arrivals:
        begun = max(Fraction(at_ns), free)
        # Until `free` the last packet was being sent. The level does not fall below 0 at the low rate.
        level = max(Fraction(0), level + (free - sent) * refill / NS_PER_S)
        level = min(Fraction(budget_bits), level + (begun - free) * refill / NS_PER_S)
        rate = high if level >= bits else low
        level, sent, free = level - bits, begun, begun + Fraction(bits * NS_PER_S, rate)
        yield begun


def serialised_ns(arrivals: Iterable[tuple[int, int]], rate_bps: int) -> Iterator[Fraction]:
    """Yield when the last bit of each packet has left a FIFO link (Lindley 1952).

    Args:
        arrivals: instants in ns, ascending, and wire bytes.
    """
    free = Fraction(0)
    for at_ns, size in arrivals:
        free = max(Fraction(at_ns), free) + Fraction(size * 8 * NS_PER_S, rate_bps)
        yield free


def policed(arrivals: Iterable[tuple[int, int]], rate_bps: int, burst_bytes: int) -> Iterator[bool]:
    """Yield whether each packet passes a token bucket that starts full; only then does it cost tokens.

    Args:
        arrivals: instants in ns, ascending, and IP bytes.
    """
    tokens, before = Fraction(burst_bytes), 0
    for at_ns, size in arrivals:
        earned = Fraction(rate_bps * (at_ns - before), 8 * NS_PER_S)
        tokens, before = min(Fraction(burst_bytes), tokens + earned), at_ns
        if passes := tokens >= size:
            tokens -= size
        yield passes


def shaped_ns(arrivals: Iterable[tuple[int, int]], rate_bps: int, burst_bytes: int) -> Iterator[Fraction]:
    """Yield when each packet leaves a token bucket that starts full and has an unlimited queue.

    Args:
        arrivals: instants in ns, ascending, and IP bytes.
    """
    tokens, now = Fraction(burst_bytes), Fraction(0)
    byte_ns = Fraction(8 * NS_PER_S, rate_bps)
    for at_ns, size in arrivals:
        begun = max(Fraction(at_ns), now)
        tokens = min(Fraction(burst_bytes), tokens + (begun - now) / byte_ns)
        now = begun + max(Fraction(0), size - tokens) * byte_ns
        tokens = max(tokens, Fraction(size)) - size
        yield now


def fluid_ns(arrivals: Iterable[tuple[int, int]], levels: list[tuple[int, int]]) -> Iterator[Fraction]:
    """Yield when the last bit of each packet has left a FIFO link whose rate changes.

    Args:
        arrivals: instants in ns, ascending, and wire bytes.
        levels: (ns, bit/s), ascending; the last is above 0.
    """
    ends = [*(at_ns for at_ns, _ in levels[1:]), None]
    now, level = Fraction(0), 0
    for at_ns, size in arrivals:
        now, left = max(now, Fraction(at_ns)), Fraction(size * 8 * NS_PER_S)
        while True:
            rate_bps, end_ns = levels[level][1], ends[level]
            if end_ns is None or (now <= end_ns and left <= rate_bps * (end_ns - now)):
                now += left / rate_bps if left else 0
                break
            left -= rate_bps * max(Fraction(0), end_ns - now)
            now, level = max(now, Fraction(end_ns)), level + 1
        yield now


def opportune_ns(
    arrivals: list[tuple[int, int]], times_ns: Iterable[int], each_bytes: int
) -> list[int | None]:
    """Return when packets leave at delivery opportunities; None for those that never do.

    Args:
        arrivals: instants in ns, ascending, and IP bytes.
        times_ns: of the opportunities, ascending.
        each_bytes: that an opportunity carries.
    """
    left_ns: list[int | None] = [None] * len(arrivals)
    next_packet, left_bytes = 0, 0
    for time_ns in times_ns:
        granted = each_bytes
        while granted and next_packet < len(arrivals) and arrivals[next_packet][0] < time_ns:
            left_bytes = left_bytes or arrivals[next_packet][1]
            sent = min(granted, left_bytes)
            granted, left_bytes = granted - sent, left_bytes - sent
            if not left_bytes:
                left_ns[next_packet] = time_ns
                next_packet += 1
    return left_ns
