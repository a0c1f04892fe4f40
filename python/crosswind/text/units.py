"""Numbers for people: one unit per column, three significant digits."""

import math
from collections.abc import Iterable
from dataclasses import dataclass


@dataclass(frozen=True)
class Unit:
    """A unit for a whole column; a value is divided by `size`. Counts are `whole`."""

    name: str
    size: float
    whole: bool = False

    def show(self, value: float | None) -> str:
        """Return the number without the unit; `-` for None."""
        if self.whole and value is not None and float(value).is_integer():
            return count(int(value))
        return number(None if value is None else value / self.size)


DURATIONS = (Unit("s", 1e9), Unit("ms", 1e6), Unit("us", 1e3), Unit("ns", 1.0))  # values in ns
RATES = (Unit("Gbit/s", 1e9), Unit("Mbit/s", 1e6), Unit("kbit/s", 1e3), Unit("bit/s", 1.0))  # values in bit/s
# The units in which the unit of a metric (contracts.md, section 5) is shown; any other is shown as it is.
_SHOWN_IN = {
    "ns": DURATIONS,
    "bit/s": RATES,
    "bit": (Unit("Gbit", 1e9), Unit("Mbit", 1e6), Unit("kbit", 1e3), Unit("bit", 1.0)),
    "share": (Unit("%", 0.01),),
    "B": (Unit("GB", 1e9), Unit("MB", 1e6), Unit("kB", 1e3), Unit("B", 1.0)),
    "B/s": (Unit("GB/s", 1e9), Unit("MB/s", 1e6), Unit("kB/s", 1e3), Unit("B/s", 1.0)),
    "flop/s": (Unit("Tflop/s", 1e12), Unit("Gflop/s", 1e9), Unit("Mflop/s", 1e6), Unit("flop/s", 1.0)),
    "1/s": (Unit("million/s", 1e6), Unit("per second", 1.0)),
    "count": (Unit("", 1.0, whole=True),),
    "1": (Unit("", 1.0),),
}


def units_of(unit: str) -> tuple[Unit, ...]:
    """Return the units in which values of a metric are shown, the largest first."""
    return _SHOWN_IN.get(unit, (Unit(unit, 1.0),))


def column_unit(values: Iterable[float | None], units: tuple[Unit, ...] = DURATIONS) -> Unit:
    """Return the one unit for all of `values`.

    It is the largest unit in which the smallest value is at least 1, or the next larger where the largest
    value would have six digits before the point: a column from 449 us to 204 ms reads best as 0.449 and 204
    ms.
    """
    known = [value for value in values if value is not None and 0 < value < math.inf]
    if not known:
        return units[min(1, len(units) - 1)]
    index = next((i for i, unit in enumerate(units) if min(known) >= unit.size), len(units) - 1)
    while index > 0 and max(known) >= 1e5 * units[index].size:
        index -= 1
    return units[index]


def duration(value: float | None) -> str:
    """Return a duration in ns with a fitting unit."""
    return _alone(value, DURATIONS)


def exact_seconds(value_ns: int) -> str:
    """Return an instant in seconds, not rounded: one that was drawn has milliseconds."""
    return f"{value_ns / 1e9:.9f}".rstrip("0").rstrip(".") + "\N{NO-BREAK SPACE}s"


def quantity(value: float | None, unit: str) -> str:
    """Return a metric's value with a fitting unit."""
    return _alone(value, units_of(unit))


def in_unit(value: float, unit: str) -> str:
    """Return a value of a monitor, in its unit (contracts.md, section 3), as text."""
    match unit:
        case "ns":
            return duration(value)
        case "per-mille":
            return percent(value / 1000)
        case _:
            return f"{count(round(value))}\u00a0{unit}"


def rate(value: float | None) -> str:
    """Return a rate in bit/s with a fitting unit."""
    return _alone(value, RATES)


def number(value: float | None) -> str:
    """Return three significant digits, with narrow non-breaking spaces between thousands; `-` for None."""
    if value is None or math.isnan(value):
        return "-"
    if math.isinf(value):
        return "unbounded"
    if value == 0:
        return "0"
    digits = max(0, 2 - math.floor(math.log10(abs(value))))
    if digits > 6:
        return f"{value:.2g}"
    return f"{value:,.{digits}f}".replace(",", "\u202f")


def count(value: int | None) -> str:
    """Return a whole number, with spaces between thousands; `-` for None."""
    return "-" if value is None else f"{value:,}".replace(",", "\u202f")


def percent(share: float | None) -> str:
    """Return a share as a percentage with two significant digits; `-` for None."""
    if share is None or math.isnan(share):
        return "-"
    if share in (0, 1):
        return f"{share:.0%}".replace("%", "\u00a0%")
    digits = max(0, 1 - math.floor(math.log10(100 * share)))
    return f"{100 * share:.{min(digits, 4)}f}\u00a0%"


def times(ratio: float | None) -> str:
    """Return a ratio such as `1.42 x`; `-` for None."""
    return "-" if ratio is None else f"{number(ratio)}\u00a0\u00d7"


def short_names(names: Iterable[str]) -> dict[str, str]:
    """Return name -> the name without the folder (`icpe23/`) that all names share."""
    names = list(names)
    folders = {name.rpartition("/")[0] for name in names}
    return {name: name.rpartition("/")[2] if len(folders) == 1 else name for name in names}


def wrapped(name: str, columns: int) -> list[str]:
    """Return `name` as lines of at most `columns` characters, broken at hyphens."""
    lines = [""]
    for part in name.replace("-", "-\0").split("\0"):
        if lines[-1] and len(lines[-1]) + len(part) > columns:
            lines.append("")
        lines[-1] += part
    return lines


def _alone(value: float | None, units: tuple[Unit, ...]) -> str:
    if value is None:
        return "-"
    unit = next((unit for unit in units if abs(value) >= unit.size), units[-1])
    return f"{unit.show(value)}\u00a0{unit.name}".rstrip()
