"""Read measured delays, netem's distributions and recorded losses. Pure functions.

**Delays** are one on each line, each with its unit (`1.25ms`), or plain numbers under a header that names it:
`delay_ns`, `delay_us`, `delay_ms` or `delay_s`. They are rounded to whole ns.

**A distribution of netem** (`.dist`, as iproute2 installs them in /usr/lib/tc) is whole numbers from -32768
to 32767, any number of them on a line: quantiles of the distribution, in 1/8192 of the jitter.

**Losses** are marks, one for each packet in the order of sending, any number of them on a line: 0 for
received, 1 for lost.

Empty lines, and lines that begin with #, are skipped in all three.

Source: iproute2, netem/README.distribution and tc/q_netem.c (get_distribution).
"""

from __future__ import annotations

import re
from fractions import Fraction

from crosswind.spec.quantities import TIME, QuantityError, shown
from crosswind.spec.text_lines import LineError, meant

SAMPLES_MAX = 65_536
DIST_ENTRIES_MAX = 16_384  # The kernel's NETEM_DIST_MAX.
DIST_SCALE = 8192  # The kernel's NETEM_DIST_SCALE.
LOSSES_MAX = 1_000_000

_UNITS_NS = {"delay_ns": 1, "delay_us": 10**3, "delay_ms": 10**6, "delay_s": 10**9}
_PLAIN = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_ENTRY = re.compile(r"-?[0-9]{1,5}")


def parse_delays(content: bytes) -> tuple[int, ...]:
    """Return measured delays in ns, in the order of the file.

    Raises: LineError: the first error, with its line and the remedy.
    """
    samples_ns: list[int] = []
    unit_ns: int | None = None
    for number, text in meant(content):
        if unit_ns is None and not samples_ns and text in _UNITS_NS:
            unit_ns = _UNITS_NS[text]
            continue
        samples_ns.append(_delay(number, text, unit_ns))
        if len(samples_ns) > SAMPLES_MAX:
            raise LineError(number, f"is one delay too many; at most {SAMPLES_MAX}: remove some")
    if not samples_ns:
        raise LineError(0, "has no delay; write one on each line, with its unit")
    return tuple(samples_ns)


def _delay(number: int, text: str, unit_ns: int | None) -> int:
    if unit_ns is None:
        try:
            return TIME.read(text)
        except QuantityError as error:
            raise LineError(number, f"{error}, or name it once in a header: {', '.join(_UNITS_NS)}") from None
    if not _PLAIN.fullmatch(text):
        raise LineError(number, f"{shown(text)} is not a plain number from 0 on, such as 12.5; write one")
    return round(Fraction(text) * unit_ns)


def parse_dist(content: bytes) -> tuple[int, ...]:
    """Return the entries of a netem distribution, in 1/8192 of the jitter.

    Raises: LineError: the first error, with its line and the remedy.
    """
    entries: list[int] = []
    for number, text in meant(content):
        for word in text.split():
            if not _ENTRY.fullmatch(word) or not -32768 <= int(word) <= 32767:
                raise LineError(
                    number, f"{shown(word)} is not a whole number from -32768 to 32767; write one"
                )
            entries.append(int(word))
        if len(entries) > DIST_ENTRIES_MAX:
            raise LineError(number, f"has one entry too many; netem reads at most {DIST_ENTRIES_MAX}")
    if not entries:
        raise LineError(0, "has no entry; write a table of whole numbers")
    return tuple(entries)


def spread_dist(entries: tuple[int, ...], jitter_ns: int) -> list[int]:
    """Return each entry times `jitter_ns` / 8192, rounded half away from 0 as the kernel does (tabledist)."""
    half = DIST_SCALE // 2
    return [(abs(entry) * jitter_ns + half) // DIST_SCALE * (1 if entry >= 0 else -1) for entry in entries]


def parse_losses(content: bytes) -> str:
    """Return a pattern of marks, 0 for received and 1 for lost.

    Raises: LineError: the first error, with its line and the remedy.
    """
    parts: list[str] = []
    count = 0
    for number, text in meant(content):
        marks = "".join(text.split())
        if set(marks) - {"0", "1"}:
            raise LineError(number, f"{shown(text)} is not a row of marks; write 0 (received) and 1 (lost)")
        parts.append(marks)
        count += len(marks)
        if count > LOSSES_MAX:
            raise LineError(number, f"has one mark too many; at most {LOSSES_MAX}: cut the file")
    pattern = "".join(parts)
    if "0" not in pattern:
        raise LineError(0, "has no received packet; write at least one 0")
    return pattern
