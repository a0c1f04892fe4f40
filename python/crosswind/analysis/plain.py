"""Results as plain data for `json.dumps`."""

import dataclasses
import math
from typing import Any

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


def as_plain(value: Any) -> Any:
    """Return `value` with dataclasses, models, paths, dates and tuple keys as what JSON can hold.

    An interval, or what stands in its place, has `available`; infinities become null.
    """
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        kind = (
            {"available": isinstance(value, _AVAILABLE)} if isinstance(value, _AVAILABLE | _MISSING) else {}
        )
        return kind | {
            field.name: as_plain(getattr(value, field.name)) for field in dataclasses.fields(value)
        }
    if isinstance(value, ResolvedPart):
        return as_plain(value.as_json())
    if isinstance(value, dict):
        return {
            ": ".join(key) if isinstance(key, tuple) else key: as_plain(member)
            for key, member in value.items()
        }
    if isinstance(value, list | tuple):
        return [as_plain(member) for member in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, str | int | bool):
        return value
    return str(value)
