"""A service of a compose file, as it runs: every key that is followed, in one form.

Source: the Compose Specification, compose-spec.io, sections services and healthcheck. What differs stands in
README.md beside this file.
"""

from __future__ import annotations

import re
from typing import Annotated, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from crosswind.app.command.command_line import SHELL, read_command, read_text
from crosswind.app.compose.build import Build
from crosswind.app.compose.limits import ByteValue, Cpus, Deploy
from crosswind.app.compose.mount import Mount
from crosswind.app.compose.package import OnHost
from crosswind.app.compose.words import ComposeDuration, Text, Value, Whole, Words
from crosswind.spec.base import SpecModel
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.quantities import QuantityError, shown

# What the specification says of a healthcheck whose keys are absent.
INTERVAL_NS = 30 * 10**9
TIMEOUT_NS = 30 * 10**9
RETRIES = 3

# A node's name has 32 characters, of which a replica's number takes some.
NODE_MAX = 28
Restart = Literal["no", "always", "on-failure", "unless-stopped"]


def _dependencies(value: object) -> object:
    """Let a list of services stand for the mapping in which each only has to be started."""
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
        raise QuantityError(f"{shown(value)} is no policy; write no, always, on-failure or unless-stopped")
    return policy


class Dependency(SpecModel):
    """What has to be true of another service before this one starts."""

    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Health(SpecModel):
    """How a service is known to be ready."""

    test: Annotated[list[str], PlainValidator(_test)]
    interval_ns: ComposeDuration = Field(INTERVAL_NS, alias="interval")
    timeout_ns: ComposeDuration = Field(TIMEOUT_NS, alias="timeout")
    retries: Whole = RETRIES
    start_period_ns: ComposeDuration = Field(0, alias="start_period")
    start_interval_ns: ComposeDuration = Field(5 * 10**9, alias="start_interval")

    @property
    def patience_ns(self) -> int:
        """After this time without a success the service counts as unhealthy."""
        return self.start_period_ns + max(1, self.retries) * self.interval_ns


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise QuantityError(f"{shown(path)} is relative; write it from /")
    return path


class Service(SpecModel):
    """A service: what runs on its node, or on several.

    Attributes:
        image: that it runs; None where it runs on the files of this machine.
        build: how the image is made; None where it is there already.
        on_host: what runs in the place of its image.
        mounts: what it sees beside its image.
        ports: at one of which it listens, such as `80/tcp`; empty where the file names none.
        networks: by name of each that it is in, how it is called there beside its own name.
        extra_hosts: names of other addresses.
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
                "has a user and no image; it runs as the account for applications, so leave it out"
            )
        if self.image is None and self.on_host is None and self.mounts:
            raise ValueError("has volumes and no image; it sees the host's files, so leave them out")
        return self

    @model_validator(mode="after")
    def _says_each_limit_once(self) -> Service:
        own, deployed = NodeLimits(self.memory_bytes, self.cpus), (self.deploy or Deploy()).limits
        for key, text in own.contradictions(deployed):
            word = "mem_limit" if key == "memory" else key
            raise ValueError(
                f"has another {word} than the {text} of its deploy.resources.limits; leave one of the two out"
            )
        return self

    @property
    def limits(self) -> NodeLimits:
        """What each of its nodes may use."""
        return NodeLimits(self.memory_bytes, self.cpus).filled((self.deploy or Deploy()).limits)

    @property
    def own_image(self) -> str | None:
        """The image that it runs; None where it runs on the files of this machine."""
        return None if self.on_host is not None else self.image


def nodes_of(name: str, service: Service) -> list[str]:
    """Return the nodes of a service: one called like it, or several with a number behind the first."""
    first = node_name(name)
    return [first if number == 1 else f"{first}-{number}" for number in range(1, service.replicas + 1)]


def node_name(service: str) -> str:
    """Return what the node of a service is called: nodes have lower-case letters, digits and hyphens only."""
    plain = re.sub(r"[^a-z0-9]+", "-", service.lower()).strip("-")
    return (plain if plain[:1].isalpha() else f"n-{plain}".strip("-"))[:NODE_MAX].rstrip("-")
