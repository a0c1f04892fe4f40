"""Machines that a provider makes for a run: what a provider declares about itself, and its part of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, ClassVar

from pydantic import Field, JsonValue, ValidationInfo

from crosswind.spec.base import made_model
from crosswind.spec.installed import PROVIDERS
from crosswind.spec.resolved import ResolvedMachine
from crosswind.spec.setting import Finding
from crosswind.spec.testbed.carried import Carried
from crosswind.spec.testbed.placed import PlacedMachines


class ProviderParameters(PlacedMachines, ABC):
    """What a file says of the machines that a provider makes."""

    @abstractmethod
    def machines(self) -> list[ResolvedMachine]:
        """Return the machines that are to be made, with their cores where the file says so.

        Names are m0, m1 and so on.
        """

    def findings(self) -> Iterator[Finding]:
        """Yield what is wrong between several keys, each with its path below the provider's name."""
        yield from ()


class DeclaredProvider(ABC):
    """A provider of machines, as a file sees it, with the parameters of one testbed."""

    name: ClassVar[str]
    summary: ClassVar[str]
    Parameters: ClassVar[type[ProviderParameters]]

    # Any: a subclass declares its own model.
    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters


@dataclass(frozen=True)
class Provided:
    """The testbed of a file that names a provider."""

    provider: str
    parameters: ProviderParameters
    carried: Carried

    def values(self) -> dict[str, JsonValue]:
        """Return the parameters as plain values in base units."""
        values: dict[str, JsonValue] = self.parameters.model_dump(mode="json")
        return values


def provider_names() -> list[str]:
    """Return the names of the installed providers, sorted."""
    return PROVIDERS.names()


def declared_provider(name: str) -> type[DeclaredProvider]:
    """Return the provider of this name; it is one of `provider_names()`."""
    return PROVIDERS.find(name, DeclaredProvider)


def provided(raw: object, info: ValidationInfo) -> Provided:
    """Return what `raw`, a mapping with the name of a provider, says."""
    assert isinstance(raw, dict)
    name = next(key for key in raw if key in provider_names())
    read = _model_of(name).model_validate(raw, context=info.context)
    return Provided(name, getattr(read, name), read)


@cache
def _model_of(name: str) -> type[Carried]:
    """Return the model of a testbed of this provider."""
    parameters = declared_provider(name).Parameters
    made = made_model("Testbed", None, {name: (parameters, Field())}, (Carried,))
    assert issubclass(made, Carried)
    return made


def numbered(count: int) -> list[str]:
    """Return the names of `count` machines."""
    return [f"m{number}" for number in range(count)]
