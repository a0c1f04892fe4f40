"""The parameters of `compose`: the compose file, what is measured, and what the file does not say."""

from __future__ import annotations

import hashlib
import posixpath
from collections.abc import Callable, Collection, Iterator
from typing import Annotated

from pydantic import (
    AfterValidator,
    Discriminator,
    Field,
    PlainSerializer,
    PlainValidator,
    Tag,
    ValidationInfo,
    WithJsonSchema,
)

from crosswind.app.command.files import CopiedFile
from crosswind.app.command.measured import MeasuredParameters
from crosswind.app.command.readiness import Ready
from crosswind.app.command.variables import variable_findings
from crosswind.app.compose.file import ComposeFile, read_compose, service_names
from crosswind.app.compose.files import ComposeFiles
from crosswind.app.compose.outside import OutsideLoad
from crosswind.app.compose.service import Service, node_name, nodes_of
from crosswind.spec.base import ReadingContext
from crosswind.spec.command_line import EnvironmentText
from crosswind.spec.named_file import NamedFile
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.problems import SpecErrors
from crosswind.spec.quantities import QuantityError, shown
from crosswind.text.nearest import did_you_mean

_COMPLETED = "service_completed_successfully"


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise QuantityError(
            f"{shown(path)} is relative; an image is not stored with the results: write it from /"
        )
    return path


def _file(value: object, info: ValidationInfo) -> NamedFile[ComposeFile]:
    """Read the compose file, if the context has files; other keys have the variables and profiles."""
    if not isinstance(value, str) or not value or "\0" in value:
        raise QuantityError(f"{shown(value)} is not a file; write its path, relative to this file")
    if value.startswith("/"):
        raise QuantityError(f"{shown(value)} is absolute; write it relative to the experiment's folder")
    name = posixpath.normpath(value)
    if not isinstance(info.context, ReadingContext):
        return NamedFile(name, "", None)
    load = info.data.get("load")
    try:
        content = info.context.named_file(name)
        says = read_compose(
            name,
            ComposeFiles(info.context.named_file, info.context.files_below),
            variables=info.data.get("variables", {}),
            profiles=info.data.get("profiles", []),
            wanted=[load] if isinstance(load, str) else [],
        )
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise QuantityError(f"{shown(value)} cannot be read: {reason}; name a file that can") from None
    except SpecErrors as errors:
        found = "".join(f"\n  {problem}" for problem in errors.problems)
        raise QuantityError(f"{shown(value)} cannot be run:{found}") from None
    return NamedFile(name, hashlib.sha256(content).hexdigest(), says)


class ComposeParameters(MeasuredParameters):
    """A compose file, and its measurement."""

    load: Annotated[
        Annotated[str, Tag("a service")] | Annotated[OutsideLoad, Tag("a command")],
        Discriminator(lambda value: "a service" if isinstance(value, str) else "a command"),
    ] = Field(
        description="The service whose end ends the measured phase; or a command that is not a service, on a "
        "separate node."
    )
    # Before `file`, which needs them.
    variables: dict[str, EnvironmentText] = Field(
        default_factory=dict,
        description="Values of `${NAME}` in the compose file, which override those of the .env beside it. "
        "Variables of the shell are not used, because they are not part of the experiment.",
    )
    profiles: list[str] = Field(default_factory=list, description="Active profiles of the compose file.")
    file: Annotated[
        NamedFile[ComposeFile],
        PlainValidator(_file),
        PlainSerializer(vars),
        WithJsonSchema(
            {"type": "string", "minLength": 1, "description": "A file.", "examples": ["compose.yaml"]}
        ),
    ] = Field(description="The compose file; every service is a node with its name.")
    ready: dict[str, Ready] = Field(
        default_factory=dict,
        description="When a service is ready, instead of its healthcheck; without both, when it listens.",
    )
    images: dict[str, Annotated[str, AfterValidator(_absolute)]] = Field(
        default_factory=dict,
        description="Image files, as docker or podman saves or exports them; these tools provide all other "
        "images.",
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside this one, copied into the folder of each service without an image.",
    )

    @property
    def says(self) -> ComposeFile:
        """The compose file."""
        assert self.file.says is not None
        return self.file.says

    @property
    def services(self) -> dict[str, Service]:
        """The services of the file."""
        return self.says.services

    @property
    def load_node(self) -> str:
        """The node of the load."""
        return self.load.node if isinstance(self.load, OutsideLoad) else node_name(self.load)

    @property
    def nodes(self) -> dict[str, str]:
        """The service of each node, in the order of the file, without a load that is not a service."""
        return {node: name for name, service in self.services.items() for node in nodes_of(name, service)}

    @property
    def one_shots(self) -> set[str]:
        """The services whose end others wait for."""
        return {
            name
            for service in self.services.values()
            for name, dependency in service.depends_on.items()
            if dependency.condition == _COMPLETED
        }

    @property
    def node_limits(self) -> dict[str, NodeLimits]:
        """The limits in the file, by node."""
        return {node: self.services[name].limits for node, name in self.nodes.items()}

    def findings(self, nodes: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield contradictions between the compose file, the other parameters and the nodes."""
        yield from self._load_findings(nodes)
        lacking = [node for node in (*self.nodes, self.load_node) if node not in nodes]
        if lacking:
            places = ", ".join(f"{node}: PLACE" for node in lacking)
            yield (
                ("file",),
                f"has services without a node ({', '.join(lacking)}); place them, such as nodes: "
                f"{{{places}}}, or, in a star, leave `hosts` out",
            )
        yield from self._readiness_findings()
        used = {service.own_image for service in self.services.values()}
        for image in self.images:
            if image not in used:
                known = ", ".join(sorted(image for image in used if image)) or "none"
                yield ("images", image), f"is not the image of a service; images are {known}"

    def _load_findings(self, nodes: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        yield from self.metric_findings()
        if isinstance(self.load, str):
            yield from self.part_findings(self.load, self.services, "service")
            if self.load in self.services and self.services[self.load].replicas != 1:
                yield (
                    ("load",),
                    f"{shown(self.load)} has several replicas, but a load must have one; write one",
                )
            return
        if self.load.node in self.nodes:
            name = self.nodes[self.load.node]
            yield (
                ("load", "node"),
                f"{shown(self.load.node)} is the node of {name}; write another one, such as node: client",
            )
        has_duration = self.duration_ns is not None
        for place, words in (
            (("load", "command"), self.load.command),
            (("warm_up_command",), self.warm_up_command or []),
        ):
            for word in words:
                for message in variable_findings(word, nodes, has_duration=has_duration):
                    yield place, message
        for variable, text in self.load.environment.items():
            for message in variable_findings(text, nodes, has_duration=has_duration):
                yield ("load", "environment", variable), message

    def _readiness_findings(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for name in self.ready:
            if name not in self.services:
                remedy = did_you_mean(name, self.services) or f"services are {', '.join(self.services)}"
                yield ("ready", name), f"is not a service; {remedy}"
            elif name == self.load:
                yield ("ready", name), "is the load, but `ready` is for servers; leave it out"
        for name, service in self.services.items():
            if isinstance(self.load, str) and self.load in service.depends_on:
                yield (
                    ("load",),
                    f"is a dependency of {name}, but the load starts last; remove the dependency",
                )


def node_names(raw: object, read: Callable[[str], bytes], below: Callable[[str], list[str]]) -> list[str]:
    """Return the nodes of an experiment with these parameters, which may have errors."""
    try:
        parameters = ComposeParameters.model_validate(raw, context=ReadingContext(read, below))
    except ValueError:
        return _nodes_of_unsound(raw, read)
    return list(dict.fromkeys((*parameters.nodes, parameters.load_node)))


def _nodes_of_unsound(raw: object, read: Callable[[str], bytes]) -> list[str]:
    """Return the nodes that can be found despite errors, so that only the errors are reported."""
    load = raw.get("load") if isinstance(raw, dict) else None
    own = [str(load.get("node", "load"))] if isinstance(load, dict) else []
    file = raw.get("file") if isinstance(raw, dict) else None
    try:
        services = service_names(read(file), file) if isinstance(file, str) else []
    except OSError:
        services = []
    return list(dict.fromkeys((*map(node_name, services), *own))) or ["load"]
