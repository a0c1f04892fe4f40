"""What an experiment says of a compose file: where it is, what is measured, and what the file leaves open."""

from __future__ import annotations

import posixpath
from collections.abc import Collection, Iterator
from typing import Annotated

from pydantic import AfterValidator, Field

from crosswind.app.command.files import CopiedFile
from crosswind.app.command.measured import MeasuredParameters
from crosswind.app.command.readiness import Ready
from crosswind.app.compose.file import ComposeFile, parse_compose
from crosswind.app.compose.service import Mount, Service
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.nearest import did_you_mean
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.quantities import QuantityError, shown

_COMPLETED = "service_completed_successfully"


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise QuantityError(
            f"{shown(path)} is relative; an image is not kept with the results: write it from /"
        )
    return path


class ComposeParameters(MeasuredParameters):
    """A compose file, and what is measured of it."""

    file: Annotated[NamedFile[ComposeFile], *named_file(parse_compose, "compose.yaml")] = Field(
        description="The compose file; every service is a node of its name."
    )
    ready: dict[str, Ready] = Field(
        default_factory=dict, description="How a service is known to be ready that has no healthcheck."
    )
    images: dict[str, Annotated[str, AfterValidator(_absolute)]] = Field(
        default_factory=dict,
        description="Image files, as docker or podman saves or exports them; these two are asked for others.",
    )
    files: list[CopiedFile] = Field(
        default_factory=list,
        description="Files beside this one that services bind, or without image have in their folder.",
    )

    @property
    def services(self) -> dict[str, Service]:
        """The services of the file."""
        assert self.file.says is not None
        return self.file.says.services

    @property
    def one_shots(self) -> set[str]:
        """The services that others wait for to end."""
        return {
            name
            for service in self.services.values()
            for name, dependency in service.depends_on.items()
            if dependency.condition == _COMPLETED
        }

    @property
    def node_limits(self) -> dict[str, NodeLimits]:
        """What the file limits services to, by service."""
        return {name: service.limits for name, service in self.services.items()}

    def kept_path(self, mount: Mount) -> str:
        """Return the path of what a service binds, from the experiment file's folder."""
        return posixpath.normpath(posixpath.join(posixpath.dirname(self.file.file), mount.source))

    def findings(self, nodes: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield what does not fit between the compose file, the rest of the parameters and the nodes."""
        yield from self.load_findings(self.services, "service")
        lacking = [name for name in self.services if name not in nodes]
        if lacking:
            places = ", ".join(f"{name}: h{number}" for number, name in enumerate(self.services))
            yield (
                ("file",),
                f"has services without a node ({', '.join(lacking)}); nodes are called like services: "
                f"nodes: {{{places}}}",
            )
        yield from self._readiness_findings()
        for name, service in self.services.items():
            for mount in service.volumes:
                if mount.is_bind and not mount.source.startswith("/") and not self._is_kept(mount):
                    path = self.kept_path(mount)
                    yield (
                        ("file",),
                        f"has {name} bind {shown(mount.source)}, which is not kept with the results; name "
                        f"it, or the files in it: files: [{path}]",
                    )
        used = {service.image for service in self.services.values()}
        for image in self.images:
            if image not in used:
                known = ", ".join(sorted(image for image in used if image)) or "none"
                yield ("images", image), f"is the image of no service; images are {known}"

    def _readiness_findings(self) -> Iterator[tuple[tuple[str | int, ...], str]]:
        for name in self.ready:
            if name not in self.services:
                remedy = did_you_mean(name, self.services) or f"services are {', '.join(self.services)}"
                yield ("ready", name), f"is no service; {remedy}"
            elif name == self.load:
                yield ("ready", name), "is the load, and `ready` is for servers; leave it out"
        for name, service in self.services.items():
            if self.load in service.depends_on:
                yield (
                    ("load",),
                    f"is what {name} depends on; the load starts last",
                )
            known = name in self.ready or service.healthcheck is not None or name in self.one_shots
            if name != self.load and not known:
                yield (
                    ("file",),
                    f"does not say when {name} is ready; add a healthcheck there, or say it here: "
                    f"ready: {{{name}: {{port: 8080}}}}",
                )

    def _is_kept(self, mount: Mount) -> bool:
        path = self.kept_path(mount)
        return any(file.file == path or file.file.startswith(f"{path}/") for file in self.files)
