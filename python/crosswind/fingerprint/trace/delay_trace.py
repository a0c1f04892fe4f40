"""Read a series of packet delays from a file. Pure functions.

**Delays alone**, one on a line, as `law: {samples: FILE}` reads them (`crosswind.spec.measured`). The time
between them is then unknown.

**CSV of time and delay**: when each packet was sent, and its delay. A header names two columns with units,
such as `time_ms,delay_us` (`_s`, `_ms`, `_us`, `_ns`); the rows are plain numbers. Times do not decrease.

**A fingerprint** (`crosswind fingerprint`): the one-way delays of its packets, which were sent at a constant
rate.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from crosswind.analysis.network.document import FingerprintDocument
from crosswind.fingerprint.measure.one_way import PACKETS_PER_S
from crosswind.fingerprint.trace.trace_file import TraceFileError
from crosswind.spec.measured import parse_delays
from crosswind.spec.quantities import TIME, QuantityError, shown
from crosswind.spec.text_lines import LineError, meant

_UNITS_NS = {"s": 10**9, "ms": 10**6, "us": 10**3, "ns": 1}
_TIMED = re.compile(r"time_(s|ms|us|ns) *, *delay_(s|ms|us|ns)")
_PLAIN = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")


@dataclass(frozen=True)
class DelayTrace:
    """Delays, shape (n,), n >= 1, in ns, and the time between them; None where it is unknown."""

    delay_ns: NDArray[np.float64]
    step_s: float | None


def is_delays(content: bytes) -> bool:
    """Return whether a file begins like one of delays."""
    try:
        _, first = next(meant(content), (0, ""))
    except LineError:
        return False
    if first.startswith("delay_") or _TIMED.fullmatch(first):
        return True
    try:
        TIME.read(first)
    except QuantityError:
        return False
    return True


def read_delays(name: str, content: bytes) -> DelayTrace:
    """Return the delays of a file.

    Args:
        name: of the file, for messages.
    Raises: TraceFileError: names the first wrong line and the remedy.
    """
    try:
        _, first = next(meant(content), (0, ""))
        columns = _TIMED.fullmatch(first)
        if columns is None:
            return DelayTrace(np.array(parse_delays(content), dtype=np.float64), None)
        return _timed(content, _UNITS_NS[columns[1]], _UNITS_NS[columns[2]])
    except ValueError as error:
        raise TraceFileError(f"{name}: {error}") from None


def delays_of_fingerprint(name: str, content: bytes) -> DelayTrace:
    """Return the one-way delays of a fingerprint.

    Args:
        name: of the file, for messages.
    Raises: TraceFileError: the file is no fingerprint, or has no delays.
    """
    try:
        delay = FingerprintDocument.model_validate_json(content).delay
    except ValidationError:
        delay = None
    each_ns = np.array(delay.each_ns if delay else [], dtype=np.float64)
    if not each_ns.size or not (each_ns > 0).all():
        raise TraceFileError(
            f"{name}: is no fingerprint with one-way delays; `crosswind fingerprint` measures them between "
            "ends that share a clock"
        )
    return DelayTrace(each_ns, 1 / PACKETS_PER_S)


def _timed(content: bytes, time_ns: int, delay_ns: int) -> DelayTrace:
    at_ns: list[float] = []
    delays_ns: list[float] = []
    rows = meant(content)
    next(rows)
    for number, text in rows:
        cells = [cell.strip() for cell in text.split(",")]
        if len(cells) != 2 or not all(_PLAIN.fullmatch(cell) for cell in cells):
            raise LineError(number, f"{shown(text)} is not a time and a delay; write two plain numbers")
        at_ns.append(float(Fraction(cells[0]) * time_ns))
        delays_ns.append(float(Fraction(cells[1]) * delay_ns))
        if len(at_ns) > 1 and at_ns[-1] < at_ns[-2]:
            raise LineError(number, f"{shown(cells[0])} is before the time above it; sort by time")
    if not at_ns:
        raise LineError(0, "has no rows; write one for each packet")
    step_ns = float(np.median(np.diff(at_ns))) if len(at_ns) > 1 else 0.0
    return DelayTrace(np.array(delays_ns), step_ns / 1e9 or None)
