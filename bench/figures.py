"""Figures as they are printed: one JSON line each, with the median over rounds, interval and target."""

from __future__ import annotations

import statistics
from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field, JsonValue

from crosswind.stats import Interval, PerTrial, quantile_interval


class Figure(BaseModel):
    """A measured figure. Further keys of the line, such as controls or the noise, are read by name.

    Attributes:
        figure: its name.
        value: the median over rounds.
        interval: of the median, at 95 %; None with fewer than six rounds, which have none.
        wanted: the target, such as `at most 0.1`; None without one.
    """

    model_config = ConfigDict(frozen=True, extra="allow")
    __pydantic_extra__: dict[str, JsonValue] = Field(init=False)

    figure: str
    unit: str
    value: int | float
    interval: tuple[int | float, int | float] | None
    min: int | float
    max: int | float
    rounds: int
    wanted: str | None

    def number(self, key: str) -> float | None:
        """Return a further key that has a number; None where it is absent or null."""
        value = self.__pydantic_extra__.get(key)
        return value if isinstance(value, int | float) else None

    def numbers(self, key: str) -> list[float]:
        """Return a further key that has a list; what is no number in it is left out."""
        values = self.__pydantic_extra__.get(key)
        return [each for each in values if isinstance(each, int | float)] if isinstance(values, list) else []

    def text(self, key: str) -> str:
        """Return a further key as text."""
        return str(self.__pydantic_extra__[key])


class Skipped(BaseModel):
    """The line in place of a figure that cannot be measured on this machine; `skipped` is the reason."""

    model_config = ConfigDict(frozen=True)

    figure: str
    skipped: str


def figure(name: str, unit: str, values: Sequence[float], wanted: str | None, **beside: object) -> Figure:
    """Return a figure from one value per round; `beside` is what helps to read it, such as the noise."""
    rounds = PerTrial.of({f"round {number}": value for number, value in enumerate(values)})
    interval = quantile_interval(rounds, 0.5)
    known = isinstance(interval, Interval)
    return Figure.model_validate(
        {
            "figure": name,
            "unit": unit,
            "value": round(statistics.median(values), 4),
            "interval": (round(interval.low, 4), round(interval.high, 4)) if known else None,
            "min": round(min(values), 4),
            "max": round(max(values), 4),
            "rounds": len(values),
            "wanted": wanted,
            **beside,
        }
    )


def skipped(name: str, reason: str) -> Skipped:
    """Return the line of a figure that cannot be measured here."""
    return Skipped(figure=name, skipped=reason)
