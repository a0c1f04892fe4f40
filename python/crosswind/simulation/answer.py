"""What every answer of `crosswind-simulate` has in common."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, JsonValue


class SimulatorAnswer(BaseModel):
    """A part of the JSON that the program prints, with the same keys; unknown keys are preserved."""

    model_config = ConfigDict(extra="allow", strict=True, frozen=True, validate_by_alias=True)

    def as_json(self) -> dict[str, JsonValue]:
        """Return the answer as plain values, as the program printed it."""
        return self.model_dump(by_alias=True, exclude_unset=True)


class DelayQuantiles(SimulatorAnswer):
    """Quantiles of times, in ns: of the values themselves, by nearest rank."""

    min: int
    p50: int
    p90: int
    p99: int
    p999: int
    max: int
    mean: int
