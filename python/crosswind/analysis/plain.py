"""Results as plain data for `json.dumps`."""

import dataclasses
import math

from pydantic import JsonValue

from crosswind.spec.resolved import ResolvedPart
from crosswind.stats import (
    GroupsNeedTrials,
    Interval,
    NeedsTrials,
    RatioInterval,
    RefusedComparison,
    RefusedInterval,
    ShiftInterval,
)

_AVAILABLE = Interval | RatioInterval | ShiftInterval
_MISSING = NeedsTrials | GroupsNeedTrials | RefusedInterval | RefusedComparison


def as_plain(result: object) -> dict[str, JsonValue]:
    """Return a dataclass or a dictionary as what JSON can hold: nested dataclasses, models, paths, dates too.

    An interval has `available`: true, and what stands in its place has `available`: false. Infinities become
    null. Keys that are tuples become text.
    """
    plain = _plain(result)
    assert isinstance(plain, dict)
    return plain


def _plain(value: object) -> JsonValue:
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind: dict[str, JsonValue] = (
            {"available": isinstance(value, _AVAILABLE)} if isinstance(value, _AVAILABLE | _MISSING) else {}
        )
        return kind | {field.name: _plain(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, ResolvedPart):
        return _plain(value.as_json())
    if isinstance(value, dict):
        return {
            ": ".join(key) if isinstance(key, tuple) else key: _plain(inner) for key, inner in value.items()
        }
    if isinstance(value, list | tuple):
        return [_plain(member) for member in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)
