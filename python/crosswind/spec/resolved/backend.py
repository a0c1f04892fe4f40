"""The backend of a resolved experiment, where it is not the emulator."""

from __future__ import annotations

from typing import Literal

from crosswind.spec.resolved.part import ResolvedPart, left_out_if_empty


class ResolvedBackend(ResolvedPart):
    """A backend that carries the packets.

    Attributes:
        police: what `police` becomes in Open vSwitch.
    """

    name: Literal["ovs", "tc"]
    police: Literal["meter", "ingress-policing"] | None = left_out_if_empty(None)
