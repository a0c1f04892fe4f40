"""What carries the packets of an experiment: the emulator, Open vSwitch, or the kernel's traffic control."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import ResolvedBackend
from crosswind.text.nearest import did_you_mean

CROSSWIND: Literal["crosswind"] = "crosswind"
NAMES = (CROSSWIND, "ovs", "tc")


class OpenVSwitch(SpecModel):
    """How Open vSwitch carries what it can carry in two ways."""

    police: Literal["meter", "ingress-policing"] = Field(
        "meter", description="What becomes of `police`: OpenFlow meters, or policing by the kernel at a port."
    )


class OpenVSwitchBackend(SpecModel):
    """Open vSwitch with its settings."""

    ovs: OpenVSwitch


def _name_or_settings(raw: object) -> object:
    if raw in NAMES or isinstance(raw, dict | OpenVSwitchBackend):
        return raw
    remedy = did_you_mean(raw, NAMES) if isinstance(raw, str) else ""
    raise QuantityError(f"{shown(raw)} is not a backend; {remedy or 'write one of ' + ', '.join(NAMES)}")


BackendEntry = Annotated[
    Annotated[Literal["crosswind", "ovs", "tc"], Tag("a name")]
    | Annotated[OpenVSwitchBackend, Tag("with settings")],
    Discriminator(lambda raw: "a name" if isinstance(raw, str) else "with settings"),
    BeforeValidator(
        _name_or_settings, json_schema_input_type=Literal["crosswind", "ovs", "tc"] | OpenVSwitchBackend
    ),
]


def resolved_backend(entry: OpenVSwitchBackend | str) -> ResolvedBackend | None:
    """Return `backend` of the resolved experiment; None: the emulator."""
    if entry == CROSSWIND:
        return None
    if entry == "tc":
        return ResolvedBackend(name="tc")
    settings = entry.ovs if isinstance(entry, OpenVSwitchBackend) else OpenVSwitch.model_validate({})
    return ResolvedBackend(name="ovs", police=settings.police)
