"""Read logs of links that phones, dishes and other tools write as CSV: capacity and delay over time.

Each format names the columns that are used; others are skipped. Times are counted from the first row, and may
not decrease; of several rows at one time the last counts. A row holds until the next one. A cell without a
value has that of the row before it, or of the first row that has one. Half of a round trip is the delay each
way. Rates are rounded to whole bit/s and times to whole ns. Lines that are empty or begin with # are skipped.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from fractions import Fraction
from types import MappingProxyType

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError, meant
from crosswind.spec.trace import POINTS_MAX

_NUMBER = re.compile(r"[+-]?(?:[0-9]{1,19}(?:\.[0-9]{0,18})?|\.[0-9]{1,18})(?:[eE][+-]?[0-9]{1,2})?")
_WITHOUT_VALUE = ("", "-", "na", "n/a", "nan", "none", "null")
_LARGEST = 2**63 - 1


@dataclass(frozen=True)
class LinkLog:
    """A log of a link.

    Attributes:
        at_ns: increasing, from 0.
        up_bps, down_bps: one for each time, 0 is an outage; None where the format has no such column.
        up_delay_ns, down_delay_ns: one way, for each time; None where the log has none.
    """

    at_ns: tuple[int, ...]
    up_bps: tuple[int, ...] | None
    down_bps: tuple[int, ...] | None
    up_delay_ns: tuple[int, ...] | None
    down_delay_ns: tuple[int, ...] | None


@dataclass(frozen=True)
class Column:
    """A column with numbers.

    Attributes:
        name: in the header.
        per_unit: base units, bit/s or ns, in one of its units.
        missing_below: a number below this one is no value, such as -1 for a lost packet.
    """

    name: str
    per_unit: Fraction
    missing_below: int = 0


@dataclass(frozen=True)
class LogFormat:
    """A format.

    Attributes:
        about: what writes it.
        time: the column of times.
        read_time: reads one, in ns; raises ValueError.
        time_example: for messages.
        up, down: rates; None where it has none.
        round_trip: delays of both directions together.
        up_delay, down_delay: of each direction.
        skipped: a column, and its value in rows without a measurement.
        one_run: a column that must be the same in all rows.
    """

    about: str
    time: str
    read_time: Callable[[str], int]
    time_example: str
    up: Column | None = None
    down: Column | None = None
    round_trip: Column | None = None
    up_delay: Column | None = None
    down_delay: Column | None = None
    skipped: tuple[str, str] | None = None
    one_run: str | None = None

    @property
    def columns(self) -> Mapping[str, Column]:
        """Its columns of numbers, by the name of the attribute."""
        named = ("up", "down", "round_trip", "up_delay", "down_delay")
        return {name: column for name in named if (column := getattr(self, name)) is not None}

    def has(self, direction: str) -> bool:
        """Whether it has a column of `up` or `down`."""
        return bool({direction, f"{direction}_delay"} & set(self.columns))


def _instant(text: str) -> int:
    """Return ns since 1970 for a time of ISO 8601, in UTC where it names no zone."""
    when = datetime.fromisoformat(text)
    since = (when if when.tzinfo else when.replace(tzinfo=UTC)) - datetime(1970, 1, 1, tzinfo=UTC)
    return (since.days * 86_400 + since.seconds) * 10**9 + since.microseconds * 1000


def _phone_time(text: str) -> int:
    return _instant(datetime.strptime(text, "%Y.%m.%d_%H.%M.%S").isoformat())


def _number_of(per_unit: int) -> Callable[[str], int]:
    def read(text: str) -> int:
        if not _NUMBER.fullmatch(text):
            raise ValueError(text)
        return round(Fraction(text) * per_unit)

    return read


_MS, _KBPS, _MBPS = Fraction(10**6), Fraction(10**3), Fraction(10**6)

FORMATS: Mapping[str, LogFormat] = MappingProxyType(
    {
        "g-nettrack": LogFormat(
            "phones with G-NetTrack Pro, such as the 4G and 5G data sets of University College Cork",
            "Timestamp",
            _phone_time,
            "2019.12.16_13.40.04",
            up=Column("UL_bitrate", _KBPS),
            down=Column("DL_bitrate", _KBPS),
            round_trip=Column("PINGAVG", _MS),
            skipped=("State", "I"),
        ),
        "lumos5g": LogFormat(
            "the data set Lumos5G of mmWave 5G: one run, downlink",
            "seq_num",
            _number_of(10**9),
            "17",
            down=Column("Throughput", _MBPS),
            one_run="run_num",
        ),
        "starlink-grpc": LogFormat(
            "starlink-grpc-tools, `dish_grpc_text.py` with a header (-H)",
            "datetimestamp_utc",
            _instant,
            "2024-01-15T10:30:00",
            up=Column("uplink_throughput_bps", Fraction(1)),
            down=Column("downlink_throughput_bps", Fraction(1)),
            round_trip=Column("pop_ping_latency_ms", _MS),
        ),
        "wetlinks": LogFormat(
            "the data set WetLinks of Starlink: `starlink.csv` of a site",
            "timestamp",
            _instant,
            "2023-10-01T12:00:00",
            up=Column("uplink", _MBPS),
            down=Column("downlink", _MBPS),
            round_trip=Column("pop_ping_latency", _MS),
        ),
        "lens": LogFormat(
            "the data set LENS of Starlink: CSV of irtt, delays of each direction and no rates",
            "timestamp",
            _number_of(1),
            "1714521600000000000",
            up_delay=Column("uplink", _MS, missing_below=1),
            down_delay=Column("downlink", _MS, missing_below=1),
        ),
    }
)


def parse_log(name: str, content: bytes) -> LinkLog:
    """Return a log in one of `FORMATS`.

    Raises: LineError: the first error, with its line, its column and the remedy.
    """
    form = FORMATS[name]
    lines = meant(content)
    head = next(lines, None)
    if head is None:
        raise LineError(0, f"is empty; a log of {name} begins with a header")
    places = _places(name, form, *head)
    at_ns: list[int] = []
    values: dict[str, list[int | None]] = {key: [] for key in form.columns}
    first_ns = 0
    for number, cells in _rows(lines, len(_cells(*head)), form, places):
        instant = _time(number, form, places, cells)
        if not at_ns:
            first_ns = instant
        _place_in_time(number, form, places, cells, at_ns, values, instant - first_ns)
        for key, column in form.columns.items():
            values[key].append(_value(number, form, places, cells, key, column))
        if len(at_ns) > POINTS_MAX:
            raise LineError(number, f"is row {len(at_ns)}; at most {POINTS_MAX}: cut the log")
    if not at_ns:
        raise LineError(0, "has no rows with measurements; a log has one for each time")
    return _log(form, at_ns, {key: _filled(of) for key, of in values.items()})


def _log(form: LogFormat, at_ns: list[int], values: Mapping[str, tuple[int, ...] | None]) -> LinkLog:
    for key in ("up", "down"):
        column, rates = form.columns.get(key), values.get(key)
        if column is not None and (rates is None or not any(rates)):
            raise LineError(0, f"column {column.name}: has no rate above 0, so nothing would ever pass")
    for key in ("up_delay", "down_delay"):
        if (column := form.columns.get(key)) is not None and values[key] is None:
            raise LineError(0, f"column {column.name}: has no delay above 0 in any row")
    round_trips = values.get("round_trip")
    half = None if round_trips is None else tuple(each // 2 for each in round_trips)
    return LinkLog(
        tuple(at_ns),
        values.get("up"),
        values.get("down"),
        values.get("up_delay") or half,
        values.get("down_delay") or half,
    )


def _places(name: str, form: LogFormat, number: int, text: str) -> dict[str, int]:
    """Return where each used column is."""
    cells = _cells(number, text)
    wanted = [form.time, *(column.name for column in form.columns.values())]
    wanted += [each for each in (form.skipped and form.skipped[0], form.one_run) if each]
    for each in wanted:
        if cells.count(each) != 1:
            has = "more than one column" if each in cells else "no column"
            raise LineError(number, f"has {has} {each}; a log of {name} has {', '.join(wanted)}")
    return {each: cells.index(each) for each in wanted}


def _rows(
    lines: Iterator[tuple[int, str]], width: int, form: LogFormat, places: Mapping[str, int]
) -> Iterator[tuple[int, list[str]]]:
    """Yield the rows with measurements."""
    run: str | None = None
    for number, text in lines:
        cells = _cells(number, text)
        if len(cells) != width:
            raise LineError(number, f"has {len(cells)} cells, and the header has {width}; write one for each")
        if form.skipped is not None and cells[places[form.skipped[0]]] == form.skipped[1]:
            continue
        if form.one_run is not None:
            here = cells[places[form.one_run]]
            if run is not None and here != run:
                where = f"column {form.one_run} ({places[form.one_run] + 1})"
                raise LineError(
                    number, f"{where}: begins run {shown(here)} after {shown(run)}; leave one run in the file"
                )
            run = here
        yield number, cells


def _place_in_time(
    number: int,
    form: LogFormat,
    places: Mapping[str, int],
    cells: list[str],
    at_ns: list[int],
    values: Mapping[str, list[int | None]],
    instant: int,
) -> None:
    """Note the time of a row; it replaces the row before it where that has the same time."""
    if at_ns and instant < at_ns[-1]:
        where = _where(form.time, places)
        raise LineError(
            number, f"{where}: {shown(cells[places[form.time]])} is before the row above it; sort rows"
        )
    if at_ns and instant == at_ns[-1]:
        for of in values.values():
            of.pop()
        return
    at_ns.append(instant)


def _time(number: int, form: LogFormat, places: Mapping[str, int], cells: list[str]) -> int:
    text = cells[places[form.time]]
    try:
        instant = form.read_time(text)
    except (ValueError, OverflowError):
        where = _where(form.time, places)
        raise LineError(number, f"{where}: {shown(text)} is not a time such as {form.time_example}") from None
    if not 0 <= instant <= _LARGEST:
        raise LineError(number, f"{_where(form.time, places)}: {shown(text)} is outside of 1970 to 2262")
    return instant


def _value(
    number: int, form: LogFormat, places: Mapping[str, int], cells: list[str], key: str, column: Column
) -> int | None:
    text = cells[places[column.name]]
    if text.casefold() in _WITHOUT_VALUE:
        return None
    where = _where(column.name, places)
    if not _NUMBER.fullmatch(text):
        raise LineError(number, f"{where}: {shown(text)} is not a number; write one, or leave the cell empty")
    value = Fraction(text) * column.per_unit
    if column.missing_below and value < column.missing_below:
        return None
    if value < 0:
        raise LineError(number, f"{where}: {shown(text)} is negative; write a number from 0 on")
    if value > _LARGEST:
        raise LineError(number, f"{where}: {shown(text)} is too large; at most {_LARGEST} in ns or bit/s")
    # A rate that rounds to 0 would be an outage that nobody measured.
    return max(1, round(value)) if value else 0


def _where(name: str, places: Mapping[str, int]) -> str:
    return f"column {name} ({places[name] + 1})"


def _filled(values: list[int | None]) -> tuple[int, ...] | None:
    """Return values where each has that of the row before it where it has none; None where none has one."""
    last = next((value for value in values if value is not None), None)
    if last is None:
        return None
    found = []
    for value in values:
        last = last if value is None else value
        found.append(last)
    return tuple(found)


def _cells(number: int, text: str) -> list[str]:
    try:
        return [cell.strip() for cell in next(csv.reader([text], strict=True))]
    except (csv.Error, StopIteration):
        raise LineError(number, f"{shown(text)} is not a line of CSV; close every quote") from None
