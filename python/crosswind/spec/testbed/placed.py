"""What machines of every origin have in common: what is placed on them, and the network between them."""

from __future__ import annotations

from pydantic import Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import Duration, PositiveDuration
from crosswind.spec.testbed.machine_name import MachineName


class Underlay(SpecModel):
    """What the network between the machines does; `crosswind doctor --testbed` shows its round trips."""

    delay_ns: PositiveDuration = Field(
        200_000,
        alias="delay",
        description="Between two machines, one way; 999 of 1000 packets take no longer. 200us when absent.",
    )
    clock_error_ns: Duration = Field(
        100_000,
        alias="clock_error",
        description="By which the machines' clocks may differ; 100us when absent.",
    )


class PlacedMachines(SpecModel):
    """Machines that have parts of a network."""

    place: dict[str, MachineName] = Field(
        default_factory=dict,
        description="The machine of hosts and switches (or zones); a host that is absent is where its switch "
        "is. Chosen when empty.",
    )
    underlay: Underlay = Field(
        default_factory=lambda: Underlay.model_validate({}), description="The network between the machines."
    )
