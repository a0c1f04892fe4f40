"""Read a compose file: its services, or everything that is wrong with it. Pure functions."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from crosswind.app.compose.order import start_order
from crosswind.app.compose.service import Service
from crosswind.spec.base import SpecModel
from crosswind.spec.document import Document, Path, parse_document
from crosswind.spec.nearest import did_you_mean
from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError
from crosswind.spec.translate import describe, problems_of

# What would be filled in from the environment of whoever runs compose: no part of the file, so of no result.
_FROM_OUTSIDE = re.compile(r"(?<!\$)(?:\$\$)*\$(?:\{[^}]*\}|[A-Za-z_]\w*)")
# Extensions that say of themselves that they mean nothing.
_EXTENSION = "x-"


class ComposeFile(SpecModel):
    """A compose file, as far as it is understood."""

    services: dict[str, Service] = Field(min_length=1)
    volumes: dict[str, dict[str, Any] | None] = Field(default_factory=dict)
    # Obsolete, and a word for the whole; neither changes what runs.
    version: str | float | int | None = None
    name: str | None = None


def parse_compose(content: bytes) -> ComposeFile:
    """Return what a compose file says.

    Raises: LineError: everything that is wrong with it, each with line and column.
    """
    try:
        document = parse_document(content, "compose")
        return _read(document)
    except SpecErrors as errors:
        found = "".join(
            f"\n  {problem.line}:{problem.column}: {problem.message}" for problem in errors.problems
        )
        raise LineError(0, f"cannot be honoured:{found}") from None


def _read(document: Document) -> ComposeFile:
    problems = list(_from_outside(document, (), document.data))
    data = _plain(_without_extensions(document.data))
    models: dict[Any, Any] = {}
    file = None
    try:
        file = TypeAdapter(ComposeFile).validate_python(data, context=models)
    except ValidationError as error:
        problems += problems_of(error, replace(document, data=data), (), models)
    if file is not None:
        problems += [document.problem(path, describe(path, message)) for path, message in _findings(file)]
    if problems or file is None:
        raise SpecErrors(problems)
    return file


def _findings(file: ComposeFile) -> Iterator[tuple[Path, str]]:
    for name, service in file.services.items():
        place = ("services", name)
        for other, dependency in service.depends_on.items():
            on = file.services.get(other)
            if on is None:
                meant = did_you_mean(other, file.services) or f"services are {', '.join(file.services)}"
                yield (*place, "depends_on", other), f"is no service; {meant}"
            elif dependency.condition == "service_healthy" and on.healthcheck is None:
                yield (
                    (*place, "depends_on", other),
                    f"has to be healthy, and {other} has no healthcheck; add one to it",
                )
        for index, mount in enumerate(service.volumes):
            if not mount.is_bind and mount.source not in file.volumes:
                message = f"{shown(mount.source)} is no volume of the file; add volumes: {{{mount.source}: }}"
                yield (*place, "volumes", index), message
    for name, options in file.volumes.items():
        if options:
            yield (
                ("volumes", name),
                "has options; volumes here are folders that are empty at the start of a trial",
            )
    circle = start_order(file.services)[1]
    if circle:
        yield ("services", circle[0], "depends_on"), f"leads in a circle: {' -> '.join(circle)}; break it"


def _from_outside(document: Document, path: Path, value: Any) -> Iterator[Problem]:
    if isinstance(value, dict):
        for key, item in value.items():
            yield from _from_outside(document, (*path, key), item)
    elif isinstance(value, list):
        for index, item in enumerate(value):
            yield from _from_outside(document, (*path, index), item)
    elif isinstance(value, str) and _FROM_OUTSIDE.search(value):
        message = f"{shown(value)} takes a value from outside the file; write it, or $$ for a dollar sign"
        yield document.problem(path, describe(path, message))


def _without_extensions(data: Any) -> Any:
    if not isinstance(data, dict):
        return data
    kept = {key: value for key, value in data.items() if not key.startswith(_EXTENSION)}
    services = kept.get("services")
    if isinstance(services, dict):
        kept["services"] = {
            name: {key: value for key, value in service.items() if not key.startswith(_EXTENSION)}
            if isinstance(service, dict)
            else service
            for name, service in services.items()
        }
    return kept


def _plain(data: Any) -> Any:
    """Return the data with single dollar signs, where the file has two for each."""
    if isinstance(data, dict):
        return {key: _plain(value) for key, value in data.items()}
    if isinstance(data, list):
        return [_plain(value) for value in data]
    return data.replace("$$", "$") if isinstance(data, str) else data
