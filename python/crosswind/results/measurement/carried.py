"""Who carried the packets of a trial where it was not the emulator, and what is known of it."""

from __future__ import annotations

from pydantic import Field

from crosswind.results.part import StoredPart
from crosswind.spec.resolved.part import left_out_if_empty


class Decided(StoredPart):
    """An element of the network and the part of a backend that carries it out.

    Attributes:
        place: where the element is, such as `switch.ingress`, or `links`.
        of: its host, node or link.
        element: its kind, such as `police`.
        by: the program or kernel module that decides, such as `Open vSwitch meter`.
        how: its settings, as the backend has them.
    """

    place: str
    of: str
    element: str
    by: str
    how: str


class TrafficCheck(StoredPart):
    """A quantity that was declared, and what probe traffic measured before the first trial.

    Attributes:
        what: such as `police at switch.ingress of h0`.
        unit: as of metrics; `dscp` of a mark.
        within: the largest difference that is accepted, as a share of what was declared.
    """

    what: str
    unit: str
    declared: float
    measured: float
    within: float

    @property
    def holds(self) -> bool:
        """Whether the measured value is near enough."""
        return abs(self.measured - self.declared) <= self.within * self.declared


class Carried(StoredPart):
    """A backend in the place of the emulator.

    Attributes:
        backend: `ovs` or `tc`.
        version: of its programs.
        decided: every element of the network.
        faults: what it reported in the trial that makes it void.
    """

    backend: str
    version: str
    decided: list[Decided] = Field(default_factory=list)
    faults: list[str] = left_out_if_empty([])
