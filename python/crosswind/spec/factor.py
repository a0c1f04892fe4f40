"""Factors: what varies between conditions, as a list of levels or as a range."""

from __future__ import annotations

import math
from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag, TypeAdapter, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import SpecModel
from crosswind.spec.level import Level, LevelValue, level_of

Spacing = Literal["linear", "log"]


class LevelRange(SpecModel):
    """Levels from one quantity to another of the same kind, both included."""

    begin: LevelValue = Field(alias="from", description="The lowest level.")
    end: LevelValue = Field(alias="to", description="The highest level.")
    count: int | None = Field(
        None,
        alias="levels",
        ge=2,
        le=100,
        description="How many; absent with a Latin hypercube, which cuts the range itself.",
    )
    spacing: Spacing = Field(
        "linear",
        description="Equal differences, or equal ratios. Others than the ends have three digits.",
    )

    @model_validator(mode="after")
    def _ends_fit(self) -> LevelRange:
        low, high = self.begin, self.end
        if low.number is None or high.number is None or low.unit != high.unit:
            raise _unfit(f'"{low.text}" to "{high.text}" is not a range; write two quantities of one kind')
        if low.number >= high.number:
            raise _unfit(f'"{low.text}" is not below "{high.text}"; swap them')
        if self.spacing == "log" and low.number <= 0:
            raise _unfit(f'"{low.text}" has no logarithm; begin above zero, or write spacing: linear')
        return self

    def at(self, share: float) -> Level:
        """Return the level at `share` of the range, in [0, 1]; the ends are as written."""
        low, high = self.begin.number, self.end.number
        assert low is not None
        assert high is not None
        assert self.begin.unit is not None
        if share in (0, 1):
            return self.end if share else self.begin
        if self.spacing == "log":
            return level_of(math.exp(math.log(low) + share * math.log(high / low)), self.begin.unit)
        return level_of(low + share * (high - low), self.begin.unit)

    def levels(self) -> list[Level]:
        """Return the levels of the range; its ends where it has no count."""
        count = self.count or 2
        return [self.at(index / (count - 1)) for index in range(count)]


def _unfit(message: str) -> PydanticCustomError:
    return PydanticCustomError("element", "{message}", {"message": message})


def _list_or_range(value: object) -> str:
    return "range" if isinstance(value, dict | LevelRange) else "list"


Factor = Annotated[
    Annotated[list[LevelValue], Field(min_length=1, max_length=100), Tag("list")]
    | Annotated[LevelRange, Tag("range")],
    Discriminator(_list_or_range),
]
FACTOR: TypeAdapter[list[Level] | LevelRange] = TypeAdapter(Factor)


def levels_of(factor: list[Level] | LevelRange) -> list[Level]:
    """Return the levels of a factor in their order."""
    return factor.levels() if isinstance(factor, LevelRange) else factor


def unit_of(levels: list[Level]) -> str | None:
    """Return the unit of all levels; None where levels are names."""
    units = {level.unit for level in levels}
    return next(iter(units)) if len(units) == 1 else None
