"""A condition: treatments by place, interference, and what changes over time."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Discriminator, Field, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.element import Element
from crosswind.spec.interference import Interference
from crosswind.spec.quantities import PositiveDuration

PLACES = (
    "host.egress",
    "link",
    "switch.ingress",
    "switch.egress",
    "host.ingress",
)  # In the order packets pass.


class Places(SpecModel):
    """Elements by place, in the order they apply."""

    host_egress: list[Element] | None = Field(None, alias="host.egress", description="What a node sends.")
    link: list[Element] | None = Field(None, description="In front of the wire, each way.")
    switch_ingress: list[Element] | None = Field(None, alias="switch.ingress", description="Up from a host.")
    switch_egress: list[Element] | None = Field(None, alias="switch.egress", description="Down to a host.")
    host_ingress: list[Element] | None = Field(
        None, alias="host.ingress", description="What a node receives."
    )

    def by_place(self) -> dict[str, list[Element]]:
        """Return the places that are given, in the order packets pass them."""
        given = {field.alias or name: getattr(self, name) for name, field in Places.model_fields.items()}
        return {place: given[place] for place in PLACES if given[place] is not None}


def _one_or_many(value: Any) -> str:
    return "many" if isinstance(value, list) else "one"


class Condition(Places):
    """Treatments by place, plus interference, plus a timeline. Empty: nothing is done to packets."""

    summary: str = Field("", description="One line: what it models.")
    interference: (
        Annotated[
            Annotated[Interference, Tag("one")] | Annotated[list[Interference], Tag("many")],
            Discriminator(_one_or_many),
        ]
        | None
    ) = Field(None, description="Competing traffic.")
    at: dict[PositiveDuration, Places] | None = Field(
        None,
        description="Later changes, by time from the start of the measurement; other places stay.",
    )

    def interferences(self) -> list[Interference]:
        """Return the interference as a list, whichever way it was written."""
        if self.interference is None:
            return []
        return self.interference if isinstance(self.interference, list) else [self.interference]
