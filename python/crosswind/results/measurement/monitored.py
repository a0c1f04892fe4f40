"""What elements of the kind `monitor` measured: histograms, counts and values over time."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, Strict

from crosswind.results.part import StoredPart

# JSON has lists where these are tuples.
_Bin = Annotated[tuple[int, int | None, int], Strict(False)]
_Step = Annotated[tuple[int, float, int], Strict(False)]


class Histogram(StoredPart):
    """A distribution; `counts` names what is counted, such as `gaps`.

    Attributes:
        sum, min, max: of the values; None where there are none, or their sum is too large.
        bins: (low, high, count), low <= value < high; no high for the open one.
    """

    what: str
    unit: str
    counts: str
    count: int
    sum: int | None = None
    min: int | None = None
    max: int | None = None
    bins: list[_Bin] = Field(default_factory=list)


class Trend(StoredPart):
    """A quantity over time.

    Attributes:
        rows: (beginning of the step in ns, mean, greatest value) of each step.
    """

    what: str
    unit: str
    step_ns: int
    rows: list[_Step] = Field(default_factory=list)


class Monitored(StoredPart):
    """What one monitor measured.

    Attributes:
        counts: by quantity and kind, such as drops by reason.
        started_ns: None where it never began.
    """

    element: str
    place: str
    of: str
    window_ns: int
    started_ns: int | None
    histograms: list[Histogram] = Field(default_factory=list)
    counts: dict[str, dict[str, int]] = Field(default_factory=dict)
    trends: list[Trend] = Field(default_factory=list)
