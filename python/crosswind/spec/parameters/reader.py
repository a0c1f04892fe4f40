"""What every reader of a parameter offers, and what it is given."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, Protocol, runtime_checkable

from pydantic import JsonValue

from crosswind.spec.base import Annotation, SpecModel
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding, Setting


@dataclass(frozen=True)
class Around:
    """What surrounds a written value where it is checked.

    Attributes:
        setting: what the condition meets.
        place: where the element stands.
        model: what reads the element's parameters.
        element: these, as they are written.
    """

    setting: Setting
    place: str
    model: type[SpecModel]
    element: JsonValue


@dataclass(frozen=True)
class Sending:
    """What surrounds a value where it is turned into what the agent takes.

    Attributes:
        scale: what rates and sizes are multiplied by.
        uplink_bps: before scaling; None is unlimited.
        element: the parameters of the element that has it.
    """

    scale: float
    uplink_bps: int | None
    element: SpecModel


class Reader(Protocol):
    """Reads one value. Pydantic validates with its annotation, and makes the schema from it.

    Each reader declares the type of the values that its annotation reads.
    """

    @property
    def annotation(self) -> Annotation:
        """The type, with its validators."""

    def sent(self, name: str, value: Any, sending: Sending) -> Parameters:
        """Return the keys that the agent takes for a value that was read; mostly one, `name`."""

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong with a written value that the annotation alone cannot show."""


@runtime_checkable
class Spread(Protocol):
    """Reads several keys that stand in an element's mapping itself, as one parameter."""

    @property
    def model(self) -> type[SpecModel]:
        """Has these keys; the model of the whole mapping inherits them."""

    def sent_from(self, name: str, given: Any, sending: Sending) -> Parameters:
        """Return the keys that the agent takes; `given` is the whole mapping, as it was read."""

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the whole mapping, as it is written."""
