"""A condition: elements by place, interference, and changes over time."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import Discriminator, Field, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.element import Element
from crosswind.spec.faults.keys import IN_A_STEP, FaultKeys
from crosswind.spec.faults.nemesis import Nemesis
from crosswind.spec.interference import Interference
from crosswind.spec.places import PLACES
from crosswind.spec.quantities import PositiveDuration


def _everywhere_or_by_name(value: object) -> str:
    # A mapping without a list is an element whose hyphen is missing.
    is_by_name = isinstance(value, dict) and (not value or any(isinstance(of, list) for of in value.values()))
    return "by name" if is_by_name else "everywhere"


# The elements of a place, or of each name that `on` may have there.
Elements = Annotated[
    Annotated[list[Element], Tag("everywhere")]
    | Annotated[dict[str, list[Element]], Field(min_length=1), Tag("by name")],
    Discriminator(_everywhere_or_by_name),
]


class Places(SpecModel):
    """Elements by place, in the order they apply: a list, or lists by the name that `on` would have."""

    host_egress: Elements | None = Field(None, alias="host.egress", description="Packets that a node sends.")
    link: Elements | None = Field(None, description="In front of the wire of a host, each way.")
    switch_ingress: Elements | None = Field(None, alias="switch.ingress", description="Up from a host.")
    wan: Elements | None = Field(None, description="In front of each link between two zones.")
    switch_egress: Elements | None = Field(None, alias="switch.egress", description="Down to a host.")
    host_ingress: Elements | None = Field(
        None, alias="host.ingress", description="Packets that a node receives."
    )

    def by_place(self) -> dict[str, list[Element]]:
        """Return the elements of the places that are given, in the order packets pass them."""
        return {place: [element for element, _ in found] for place, found in self.placed().items()}

    def placed(self) -> dict[str, list[tuple[Element, list[str] | None]]]:
        """Return the same, each element with the name of its list; None where the lists have no names."""
        given = {field.alias or name: getattr(self, name) for name, field in Places.model_fields.items()}
        return {place: list(_placed(given[place])) for place in PLACES if given[place] is not None}


def _placed(elements: list[Element] | dict[str, list[Element]]) -> Iterator[tuple[Element, list[str] | None]]:
    if isinstance(elements, list):
        yield from ((element, None) for element in elements)
    else:
        yield from ((element, [name]) for name, below in elements.items() for element in below)


def _one_or_many(value: object) -> str:
    return "many" if isinstance(value, list) else "one"


class Step(FaultKeys, Places):
    """What changes at an instant of the measurement: elements of places, and faults."""


class Condition(Places):
    """Elements by place, interference, a timeline and faults. An empty condition does nothing to packets."""

    elsewhere = IN_A_STEP

    summary: str = Field("", description="One line: what it models.")
    interference: (
        Annotated[
            Annotated[Interference, Tag("one")] | Annotated[list[Interference], Tag("many")],
            Discriminator(_one_or_many),
        ]
        | None
    ) = Field(None, description="Competing traffic.")
    at: dict[PositiveDuration, Step] | None = Field(
        None,
        description="Later changes and faults, by time from the start of the measurement; other places do "
        "not change.",
    )
    faults: Nemesis | None = Field(None, description="Faults that are drawn by a seed.")

    def interferences(self) -> list[Interference]:
        """Return the interference as a list, also where it is written as one."""
        if self.interference is None:
            return []
        return self.interference if isinstance(self.interference, list) else [self.interference]
