"""A service of a compose file: every supported key, in one form.

Source: the Compose Specification, compose-spec.io, sections services and healthcheck. README.md beside this
file lists the differences.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from crosswind.app.compose.build import Build
from crosswind.app.compose.limits import ByteValue, Cpus, Deploy
from crosswind.app.compose.mount import Mount
from crosswind.app.compose.package import OnHost
from crosswind.app.compose.words import ComposeDuration, Text, Value, Whole, Words
from crosswind.spec.base import SpecModel
from crosswind.spec.command_line import SHELL, read_command, read_text
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.quantities import QuantityError, shown

# Defaults of a healthcheck in the specification.
INTERVAL_NS = 30 * 10**9
TIMEOUT_NS = 30 * 10**9
RETRIES = 3

# A node's name has at most 32 characters, and the number of a replica needs some of them.
NODE_MAX = 28
Restart = Literal["no", "always", "on-failure", "unless-stopped"]


def _dependencies(value: object) -> object:
    """Return a list of services as a mapping in which each must only be started."""
    if isinstance(value, list):
        return {read_text(name): {"condition": "service_started"} for name in value}
    if isinstance(value, dict):
        return {name: item or {"condition": "service_started"} for name, item in value.items()}
    return value


def _test(value: object) -> list[str]:
    if isinstance(value, str):
        return [*SHELL, value]
    if isinstance(value, list) and len(value) > 1 and value[0] == "CMD":
        return read_command(value[1:])
    if isinstance(value, list) and len(value) == 2 and value[0] == "CMD-SHELL":
        return [*SHELL, read_text(value[1])]
    raise QuantityError(f"{shown(value)} is not a test; write [CMD, word, ...], [CMD-SHELL, line] or a line")


def _restart(value: object) -> str:
    policy = str(value).partition(":")[0]
    if policy not in ("no", "always", "on-failure", "unless-stopped"):
        raise QuantityError(f"{shown(value)} is not a policy; write no, always, on-failure or unless-stopped")
    return policy


class Dependency(SpecModel):
    """The condition of another service that must hold before this one starts."""

    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Health(SpecModel):
    """The healthcheck of a service."""

    test: Annotated[list[str], PlainValidator(_test)]
    interval_ns: ComposeDuration = Field(INTERVAL_NS, alias="interval")
    timeout_ns: ComposeDuration = Field(TIMEOUT_NS, alias="timeout")
    retries: Whole = RETRIES
    start_period_ns: ComposeDuration = Field(0, alias="start_period")
    start_interval_ns: ComposeDuration = Field(5 * 10**9, alias="start_interval")

    @property
    def patience_ns(self) -> int:
        """Time without a success after which the service counts as unhealthy."""
        return self.start_period_ns + max(1, self.retries) * self.interval_ns


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise QuantityError(f"{shown(path)} is relative; write it from /")
    return path


class Service(SpecModel):
    """A service, which runs on one node or on several.

    Attributes:
        image: None if it uses the files of this machine.
        build: of the image; None if the image exists already.
        on_host: the program that runs instead of the image.
        mounts: volumes, binds, secrets and configs.
        ports: on which it may listen, such as `80/tcp`; empty if the file names none.
        networks: its networks, with its other names there.
        extra_hosts: addresses by additional host names.
        replicas: the number of its nodes.
    """

    image: str | None = None
    build: Build | None = None
    on_host: OnHost | None = Field(None, alias="x-crosswind")
    command: Words = None
    entrypoint: Words = None
    environment: dict[str, Value] = Field(default_factory=dict)
    depends_on: Annotated[dict[str, Dependency], BeforeValidator(_dependencies)] = Field(default_factory=dict)
    healthcheck: Health | None = None
    user: Text | None = None
    working_dir: Annotated[str, AfterValidator(_absolute)] | None = None
    mounts: list[Mount] = Field(default_factory=list)
    memory_bytes: ByteValue | None = Field(None, alias="mem_limit")
    cpus: Cpus | None = None
    deploy: Deploy | None = None
    ports: list[str] = Field(default_factory=list)
    restart: Annotated[Restart, PlainValidator(_restart)] = "no"
    hostname: Text | None = None
    networks: dict[str, list[str]] = Field(default_factory=dict)
    extra_hosts: dict[str, str] = Field(default_factory=dict)
    replicas: int = 1

    @model_validator(mode="after")
    def _has_something_to_run(self) -> Service:
        if self.image is None and self.on_host is None and not (self.command or self.entrypoint):
            raise ValueError("has neither an image nor a command; add one of them")
        if self.image is None and self.on_host is None and self.user is not None:
            raise ValueError(
                "has a user but no image; it runs as the account for applications, so leave it out"
            )
        if self.image is None and self.on_host is None and self.mounts:
            raise ValueError("has volumes but no image; it sees the files of the host, so leave them out")
        return self

    @model_validator(mode="after")
    def _says_each_limit_once(self) -> Service:
        own, deployed = NodeLimits(self.memory_bytes, self.cpus), (self.deploy or Deploy()).limits
        for key, text in own.contradictions(deployed):
            word = "mem_limit" if key == "memory" else key
            raise ValueError(
                f"has another {word} than the {text} of its deploy.resources.limits; leave one of them out"
            )
        return self

    @property
    def limits(self) -> NodeLimits:
        """The limits of each of its nodes."""
        return NodeLimits(self.memory_bytes, self.cpus).filled((self.deploy or Deploy()).limits)

    @property
    def own_image(self) -> str | None:
        """The image that it runs; None if it uses the files of this machine."""
        return None if self.on_host is not None else self.image


def nodes_of(name: str, service: Service) -> list[str]:
    """Return the nodes of a service: one with its name, or several, numbered from the second."""
    first = node_name(name)
    return [first if number == 1 else f"{first}-{number}" for number in range(1, service.replicas + 1)]


def node_name(service: str) -> str:
    """Return the name of a service's node, which has only lower-case letters, digits and hyphens."""
    plain = re.sub(r"[^a-z0-9]+", "-", service.lower()).strip("-")
    return (plain if plain[:1].isalpha() else f"n-{plain}".strip("-"))[:NODE_MAX].rstrip("-")
