"""Read traces of a link's capacity: a rate over time, or Mahimahi's delivery opportunities. Pure functions.

**A rate over time** is CSV. Its header names two columns, time first, in one of two ways: with units of
their own (`time_s,rate_mbps`; also `_ms`, `_us`, `_ns` and `_bps`, `_kbps`, `_gbps`), and the rows have
plain numbers; or `time,rate`, and every value has its unit (`1.5s,20Mbit/s`). The first row is at time 0
and times increase. A rate of 0 is an outage; `unlimited` is a rate. A last row with the rate `end` marks
the end of the trace. Lines that are empty or begin with # are skipped. Times are rounded to whole ns
and rates to whole bit/s.

**Opportunities** are as mm-link reads them: every line is a whole number of milliseconds, not decreasing,
and is one opportunity to deliver 1500 bytes; the last line is also the period.

Source: Netravali et al. 2015, "Mahimahi", USENIX ATC, section 4, and its `link_queue.cc`.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass

from crosswind.spec.quantities import RATE, TIME, UNLIMITED, QuantityError, shown
from crosswind.spec.text_lines import LineError as TraceError
from crosswind.spec.text_lines import meant, numbered

POINTS_MAX = 1_000_000  # A condition with two such traces is still one request to the agent.
OPPORTUNITY_IP_BYTES = 1500

_TIME_COLUMNS = {f"time_{unit}": digits for unit, digits in (("s", 9), ("ms", 6), ("us", 3), ("ns", 0))}
_RATE_COLUMNS = {
    f"rate_{unit}": digits for unit, digits in (("bps", 0), ("kbps", 3), ("mbps", 6), ("gbps", 9))
}
_PLAIN = re.compile(r"[0-9]{1,18}(?:\.[0-9]{1,18})?")
_LARGEST = 2**63 - 1
_END = "end"

_Reader = Callable[[str], int]


@dataclass(frozen=True)
class RateTrace:
    """Levels: each is valid from its time to the next one's.

    Attributes:
        at_ns: increasing, from 0.
        rate_bps: one for each time; 0 is an outage, None is unlimited.
        end_ns: the end of the trace, after the last time; None where the file has none.
    """

    at_ns: tuple[int, ...]
    rate_bps: tuple[int | None, ...]
    end_ns: int | None


@dataclass(frozen=True)
class OpportunityTrace:
    """Delivery opportunities.

    Attributes:
        at_ns: increasing; the last is the period.
        count: opportunities at each time, at least 1.
    """

    at_ns: tuple[int, ...]
    count: tuple[int, ...]


def parse_rates(content: bytes) -> RateTrace:
    """Return the levels of a CSV trace.

    Raises: TraceError: the first error, with its line and the remedy.
    """
    lines = meant(content)
    header = next(lines, None)
    if header is None:
        raise TraceError(0, "is empty; write a header, such as time_s,rate_mbps, and a row for each change")
    read_time, read_rate = _columns(*header)
    at_ns: list[int] = []
    rate_bps: list[int | None] = []
    for number, text in lines:
        time, rate = _cells(number, text)
        instant = _value(number, "time", time, read_time)
        _check_order(number, time, instant, at_ns)
        if rate == _END:
            extra = next(lines, None)
            if extra is not None:
                raise TraceError(extra[0], "is after the end; put the row with `end` last")
            return _rate_trace(at_ns, rate_bps, instant)
        at_ns.append(instant)
        rate_bps.append(None if rate == UNLIMITED else _value(number, "rate", rate, read_rate))
        _check_count(number, at_ns)
    return _rate_trace(at_ns, rate_bps, None)


def parse_opportunities(content: bytes) -> OpportunityTrace:
    """Return the delivery opportunities of a Mahimahi trace.

    Raises: TraceError: the first error, with its line and the remedy.
    """
    at_ns: list[int] = []
    count: list[int] = []
    for number, text in numbered(content):
        if not re.fullmatch(r"[0-9]{1,12}", text):
            what = "is empty" if not text.strip() else f"{shown(text)} is not a whole number of milliseconds"
            raise TraceError(number, f"{what}; a Mahimahi trace has one such number on every line")
        instant = int(text) * 10**6
        if at_ns and instant < at_ns[-1]:
            raise TraceError(number, f"{text} ms is before {at_ns[-1] // 10**6} ms; sort lines by time")
        if at_ns and instant == at_ns[-1]:
            count[-1] += 1
            continue
        at_ns.append(instant)
        count.append(1)
        _check_count(number, at_ns)
    if not at_ns:
        raise TraceError(0, "is empty; write one line for each opportunity, its millisecond")
    if at_ns[-1] == 0:
        raise TraceError(0, "lasts 0 ms, because its last line is 0; the last line is also the period")
    return OpportunityTrace(tuple(at_ns), tuple(count))


def _cells(number: int, text: str) -> tuple[str, str]:
    cells = [cell.strip() for cell in text.split(",")]
    if len(cells) != 2:
        raise TraceError(number, f"{shown(text)} has {len(cells)} columns; write a time, a comma and a rate")
    return cells[0], cells[1]


def _columns(number: int, text: str) -> tuple[_Reader, _Reader]:
    time, rate = _cells(number, text)
    if (time, rate) == ("time", "rate"):
        return TIME.read, RATE.read
    if time not in _TIME_COLUMNS or rate not in _RATE_COLUMNS:
        raise TraceError(
            number,
            f"{shown(text)} is not a header; write time,rate with a unit in every value, or name units once: "
            f"{', '.join(_TIME_COLUMNS)} and {', '.join(_RATE_COLUMNS)}",
        )
    return _plain_reader(_TIME_COLUMNS[time]), _plain_reader(_RATE_COLUMNS[rate])


def _plain_reader(digits: int) -> _Reader:
    """Return a reader of decimal numbers as whole multiples of 10^-digits, rounded to the nearest."""

    def read(text: str) -> int:
        if not _PLAIN.fullmatch(text):
            raise QuantityError(f"{shown(text)} is not a plain number from 0 on, such as 12.5; write one")
        whole, _, fraction = text.partition(".")
        value = int(whole + fraction[:digits].ljust(digits, "0"))
        value += fraction[digits : digits + 1] >= "5"
        if value > _LARGEST:
            raise QuantityError(f"{shown(text)} is too large; at most {_LARGEST} in ns or bit/s")
        return value

    return read


def _value(number: int, column: str, text: str, read: _Reader) -> int:
    try:
        value = read(text)
    except QuantityError as error:
        raise TraceError(number, f"{column} {error}") from None
    if column == "rate" and value == 0 and re.search("[1-9]", text):
        raise TraceError(
            number, f"rate {shown(text)} rounds to 0 bit/s, an outage; write 0, or at least 1 bit/s"
        )
    return value


def _check_order(number: int, text: str, instant_ns: int, before_ns: list[int]) -> None:
    if not before_ns and instant_ns != 0:
        raise TraceError(
            number,
            f"the first time is {shown(text)}; subtract it from all times, so that the trace begins at 0",
        )
    if before_ns and instant_ns <= before_ns[-1]:
        what = "repeats the time before it" if instant_ns == before_ns[-1] else "is before the time above it"
        raise TraceError(number, f"time {shown(text)} {what}; times must increase")


def _check_count(number: int, at_ns: list[int]) -> None:
    if len(at_ns) > POINTS_MAX:
        raise TraceError(
            number, f"is point {len(at_ns)}; at most {POINTS_MAX}: cut the trace or make it coarser"
        )


def _rate_trace(at_ns: list[int], rate_bps: list[int | None], end_ns: int | None) -> RateTrace:
    if not at_ns:
        raise TraceError(0, "has no rows; write one for each change of rate, the first at time 0")
    if all(rate == 0 for rate in rate_bps):
        raise TraceError(0, "has no rate above 0, so nothing would ever pass; write one")
    return RateTrace(tuple(at_ns), tuple(rate_bps), end_ns)
