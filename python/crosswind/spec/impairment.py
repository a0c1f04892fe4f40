"""What goes wrong with single packets besides being lost or late."""

from __future__ import annotations

from pydantic import Field

from crosswind.spec.base import On, SpecModel
from crosswind.spec.quantities import PositiveDuration, PositivePartsPerBillion


class Duplicate(SpecModel):
    """Sends some packets on twice."""

    share_ppb: PositivePartsPerBillion = Field(alias="share", description="Of the packets.")
    on: On = None


class Corrupt(SpecModel):
    """Flips one bit of some packets, as they are handed over; checksums are the receiver's to check."""

    share_ppb: PositivePartsPerBillion = Field(alias="share", description="Of the packets.")
    on: On = None


class Reorder(SpecModel):
    """Holds some packets back for a time, so that those behind them overtake."""

    share_ppb: PositivePartsPerBillion = Field(alias="share", description="Of the packets.")
    time_ns: PositiveDuration = Field(alias="time", description="How long they are held back.")
    on: On = None
