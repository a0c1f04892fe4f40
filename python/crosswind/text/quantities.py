"""Quantities for people: three significant digits and a unit."""

from __future__ import annotations

from datetime import UTC, datetime


def time_text(ns: float) -> str:
    """Return nanoseconds in a fitting unit: `850 ns`, `4.21 us`, `1.3 ms`, `2 s`."""
    return _scaled(ns, ((1e9, "s"), (1e6, "ms"), (1e3, "us"), (1, "ns")))


def rate_text(bps: float) -> str:
    """Return bits per second in a fitting unit, such as `9.4 Gbit/s`."""
    return _scaled(bps, ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1, "bit/s")))


def memory_text(size_bytes: float) -> str:
    """Return bytes in a fitting binary unit, such as `23.5 GiB`."""
    return _scaled(size_bytes, ((2**30, "GiB"), (2**20, "MiB"), (2**10, "KiB"), (1, "B")))


def count_text(number: float) -> str:
    """Return a count with spaces between thousands, such as `100 000`."""
    return f"{number:,.0f}".replace(",", " ")


def moment_text(instant: datetime) -> str:
    """Return an instant to the minute, such as `2026-05-04 12:00 UTC`."""
    return f"{instant.astimezone(UTC):%Y-%m-%d %H:%M} UTC"


def _scaled(value: float, units: tuple[tuple[float, str], ...]) -> str:
    # The last unit is also for values smaller than itself, zero included.
    factor, unit = next((step for step in units if abs(value) >= step[0]), units[-1])
    scaled = value / factor
    return f"{scaled:.0f} {unit}" if abs(scaled) >= 100 else f"{scaled:.3g} {unit}"
