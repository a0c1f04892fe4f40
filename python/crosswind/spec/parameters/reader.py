"""The interface of readers of parameters."""

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
    """The context in which a written value is checked.

    Attributes:
        setting: of the condition.
        place: of the element.
        model: reads the element's parameters.
        element: these parameters, as written.
    """

    setting: Setting
    place: str
    model: type[SpecModel]
    element: JsonValue


@dataclass(frozen=True)
class Sending:
    """The context in which a value is sent to the agent.

    Attributes:
        scale: factor of rates and sizes.
        uplink_bps: before scaling; None: unlimited.
        element: the parameters of the element that has the value.
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
        """Return the keys that the agent takes for a value as read; usually one, `name`."""

    def findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong with a written value that the annotation alone cannot show."""


@runtime_checkable
class SeveralKeys(Protocol):
    """Reads several keys of an element's mapping as one parameter."""

    @property
    def model(self) -> type[SpecModel]:
        """The model with these keys, which the model of the whole mapping inherits."""

    def sent_from(self, name: str, given: Any, sending: Sending) -> Parameters:
        """Return the keys that the agent takes; `given` is the whole mapping as read."""

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield what is wrong in the whole mapping as written."""
