"""Three-colour meters: elements that colour packets by rates and bursts, and do what each colour asks for."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any, Literal

from pydantic import Field, PlainValidator, WithJsonSchema

from crosswind.spec.base import On, SpecModel
from crosswind.spec.document import Path
from crosswind.spec.draft import sound_field, value_at
from crosswind.spec.quantities import (
    DSCP_NAMES,
    LimitedRate,
    QuantityError,
    Size,
    SizeOrZero,
    read_dscp,
    shown,
)
from crosswind.spec.scale import scaled

_WORDS = ("pass", "drop", "remark")


def read_colour_action(value: object) -> str | int:
    """Return `pass`, `drop` or `remark`, or the DSCP that is set, in 0..63."""
    if isinstance(value, str) and value in _WORDS:
        return value
    try:
        return read_dscp(value)
    except QuantityError:
        raise QuantityError(
            f"{shown(value)} is nothing to do with a colour; write pass, drop, remark, or a DSCP such as AF12"
        ) from None


ColourAction = Annotated[
    str | int,
    PlainValidator(read_colour_action),
    WithJsonSchema(
        {
            "description": "What is done to packets of a colour.",
            "anyOf": [
                {"enum": [*_WORDS, *DSCP_NAMES]},
                {"type": "integer", "minimum": 0, "maximum": 63},
            ],
            "examples": [*_WORDS, "AF12"],
        }
    ),
]


_Mode = Annotated[
    Literal["blind", "aware"],
    Field(description="aware: a packet's colour can only become worse; blind when absent."),
]
_Green = Annotated[
    ColourAction, Field(description="Done to what is within the committed rate; pass when absent.")
]
_Yellow = Annotated[ColourAction, Field(description="Done to what is beyond it, within the excess or peak.")]
_Red = Annotated[ColourAction, Field(description="Done to the rest.")]


class Srtcm(SpecModel):
    """Colours packets by one rate and two bursts (RFC 2697); never delays."""

    cir_bps: LimitedRate = Field(alias="cir", description="Committed rate, IP bits per second.")
    cbs_bytes: SizeOrZero = Field(alias="cbs", description="Committed burst, IP bytes; one packet, or 0B.")
    ebs_bytes: SizeOrZero = Field(alias="ebs", description="Excess burst, IP bytes; one packet, or 0B.")
    mode: _Mode = "blind"
    green: _Green = "pass"
    yellow: _Yellow
    red: _Red
    on: On = None

    def resolved(self, scale: float) -> dict[str, Any]:
        """Return the parameters as the agent takes them, scaled."""
        return {
            "cir_bps": scaled(self.cir_bps, scale),
            "cbs_bytes": scaled(self.cbs_bytes, scale),
            "ebs_bytes": scaled(self.ebs_bytes, scale),
            **_actions(self),
        }


class Trtcm(SpecModel):
    """Colours packets by a committed and a peak rate with a burst each (RFC 2698); never delays."""

    cir_bps: LimitedRate = Field(alias="cir", description="Committed rate, IP bits per second.")
    cbs_bytes: Size = Field(alias="cbs", description="Committed burst, IP bytes; at least one packet.")
    pir_bps: LimitedRate = Field(alias="pir", description="Peak rate, at least `cir`.")
    pbs_bytes: Size = Field(alias="pbs", description="Peak burst, IP bytes; at least one packet.")
    mode: _Mode = "blind"
    green: _Green = "pass"
    yellow: _Yellow
    red: _Red
    on: On = None

    def resolved(self, scale: float) -> dict[str, Any]:
        """Return the parameters as the agent takes them, scaled."""
        return {
            "cir_bps": scaled(self.cir_bps, scale),
            "cbs_bytes": scaled(self.cbs_bytes, scale),
            "pir_bps": scaled(self.pir_bps, scale),
            "pbs_bytes": scaled(self.pbs_bytes, scale),
            **_actions(self),
        }


def _actions(meter: Srtcm | Trtcm) -> dict[str, Any]:
    def of(action: str | int) -> Any:
        return {"dscp": action} if isinstance(action, int) else action

    return {"mode": meter.mode, "green": of(meter.green), "yellow": of(meter.yellow), "red": of(meter.red)}


def srtcm_findings(raw: Any) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong between the parameters of a single-rate meter."""
    if sound_field(Srtcm, "cbs_bytes", raw) == sound_field(Srtcm, "ebs_bytes", raw) == 0:
        yield ("ebs",), "is zero and so is cbs, so every packet would be red; give one of them"


def trtcm_findings(raw: Any) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong between the parameters of a two-rate meter."""
    cir_bps, pir_bps = sound_field(Trtcm, "cir_bps", raw), sound_field(Trtcm, "pir_bps", raw)
    if cir_bps is not None and pir_bps is not None and pir_bps < cir_bps:
        cir, pir = shown(value_at(raw, "cir")), shown(value_at(raw, "pir"))
        yield ("pir",), f"{pir} is below cir {cir}; what exceeds the peak is red, so give pir >= cir"
