"""The pacer: an element that stamps each packet with its departure."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from crosswind.spec.base import On, SpecModel
from crosswind.spec.quantities import PositiveDuration, Rate
from crosswind.spec.scale import scaled


class Pace(SpecModel):
    """Stamps each packet with its departure, without bursts; drops what would leave beyond a horizon."""

    rate_bps: Rate = Field(alias="rate", description="IP bits per second.")
    horizon_ns: PositiveDuration = Field(
        2_000_000_000, alias="horizon", description="What would wait so long is dropped; 2s when absent."
    )
    on: On = None

    def resolved(self, scale: float) -> dict[str, Any]:
        """Return the parameters as the agent takes them, scaled."""
        return {"rate_bps": scaled(self.rate_bps, scale), "horizon_ns": self.horizon_ns}
