"""A service that runs a program of this machine instead of its image: `x-crosswind`.

```yaml
x-crosswind: {package: "apt:redis-server", command: [redis-server, --port, 6379]}
x-crosswind: {package: "pypi:gunicorn==23.0.0", command: [gunicorn, "app:app"]}
x-crosswind: {command: [./server]}      # a program that exists already
```

Packages are installed like those of other applications: below the cache, without root, by
`crosswind apps install EXPERIMENT`.
"""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator, Field, PlainValidator, model_validator

from crosswind.app.compose.words import read_words
from crosswind.app.requirements import DebianPackages, Program, PythonPackages
from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import QuantityError, shown

_APT = re.compile(r"apt:(?P<name>[a-z0-9][a-z0-9.+-]+)")
_PYPI = re.compile(r"pypi:(?P<name>[A-Za-z0-9][A-Za-z0-9._-]*(?:\[[A-Za-z0-9,._-]+\])?==[A-Za-z0-9.+!_-]+)")


def _package(value: object) -> str:
    if isinstance(value, str) and (_APT.fullmatch(value) or _PYPI.fullmatch(value)):
        return value
    raise QuantityError(
        f"{shown(value)} is not a package; write such as apt:redis-server or pypi:gunicorn==23.0.0"
    )


def _command(value: object) -> list[str]:
    words = read_words(value)
    if not words:
        raise QuantityError("has no command; write such as command: [redis-server, --port, 6379]")
    return words


def _packages(value: object) -> object:
    return [value] if isinstance(value, str) else value


class OnHost(SpecModel):
    """The program that runs instead of an image, with the files of this machine."""

    command: Annotated[list[str], PlainValidator(_command)]
    packages: Annotated[
        list[Annotated[str, PlainValidator(_package)]], BeforeValidator(_packages), Field(alias="package")
    ] = Field(default_factory=list)

    @model_validator(mode="after")
    def _is_from_one_place(self) -> OnHost:
        if len({text.partition(":")[0] for text in self.packages}) > 1:
            raise ValueError("has packages of both apt and pypi; write those of only one of them")
        return self

    @property
    def requirement(self) -> DebianPackages | PythonPackages | None:
        """The packages as a requirement; None if the program must already exist."""
        debian = tuple(match["name"] for text in self.packages if (match := _APT.fullmatch(text)))
        python = tuple(match["name"] for text in self.packages if (match := _PYPI.fullmatch(text)))
        if debian:
            return DebianPackages(debian[0], debian, (self.program_name,))
        return PythonPackages(re.split(r"[\[=]", python[0])[0], python) if python else None

    @property
    def program_name(self) -> str:
        """The first word of the command."""
        return self.command[0]

    def program(self) -> Program | None:
        """Return the installed program; None if it is not from a package."""
        requirement = self.requirement
        return None if requirement is None else requirement.program(self.program_name)
