"""A service of a compose file: the keys that are understood. Every other key is an error that names it.

Source: the Compose Specification, compose-spec.io, sections services and healthcheck. What differs stands in
README.md beside this file.
"""

from __future__ import annotations

import re
import shlex
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BeforeValidator, Field, PlainValidator, model_validator

from crosswind.app.command.command_line import SHELL, read_command, read_text
from crosswind.app.compose.limits import ByteValue, Cpus, Deploy, DeployOrNothing
from crosswind.spec.base import SpecModel
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.quantities import TIME, QuantityError, shown

# What the specification says of a healthcheck whose keys are absent.
INTERVAL_NS = 30 * 10**9
TIMEOUT_NS = 30 * 10**9
RETRIES = 3

_DURATION_PART = re.compile(r"([0-9]+(?:\.[0-9]+)?)(h|ms|us|m|s)")
_DURATION_UNITS = {"h": "h", "m": "min", "s": "s", "ms": "ms", "us": "us"}


def _words(value: Any) -> list[str] | None:
    """Return the words of a command; a text is split as a shell would, but no shell runs it."""
    if value is None or value == []:
        return None if value is None else []
    if not isinstance(value, str):
        return read_command(value)
    try:
        words = shlex.split(value)
    except ValueError as error:
        raise QuantityError(f"{shown(value)} cannot be split into words: {str(error).lower()}") from None
    return words or read_command(value)


def read_duration(value: Any) -> int:
    """Return the nanoseconds of a duration such as `1m30s`.

    Raises: QuantityError: it is not one.
    """
    parts = _DURATION_PART.findall(value) if isinstance(value, str) else []
    if not parts or "".join(number + unit for number, unit in parts) != value:
        raise QuantityError(f"{shown(value)} is not a duration; write such as 500ms, 5s or 1m30s")
    return sum(TIME.read(number + _DURATION_UNITS[unit]) for number, unit in parts)


def _environment(value: Any) -> Any:
    """Let a list of NAME=VALUE stand for a mapping."""
    if not isinstance(value, list):
        return value
    pairs = {}
    for number, entry in enumerate(value, 1):
        name, equals, text = read_text(entry).partition("=")
        if not equals:
            raise QuantityError(f"item {number}, {shown(entry)}, has no value; write {name}=VALUE")
        pairs[name] = text
    return pairs


def _dependencies(value: Any) -> Any:
    """Let a list of services stand for the mapping in which each only has to be started."""
    if isinstance(value, list):
        return {read_text(name): {"condition": "service_started"} for name in value}
    return value


def _test(value: Any) -> list[str]:
    if isinstance(value, str):
        return [*SHELL, value]
    if isinstance(value, list) and len(value) > 1 and value[0] == "CMD":
        return read_command(value[1:])
    if isinstance(value, list) and len(value) == 2 and value[0] == "CMD-SHELL":
        return [*SHELL, read_text(value[1])]
    raise QuantityError(f"{shown(value)} is not a test; write [CMD, word, ...], [CMD-SHELL, line] or a line")


def _port(value: Any) -> str:
    text = read_text(value)
    if not re.fullmatch(r"[0-9.:\-]*[0-9]+(?:/(?:tcp|udp))?", text):
        raise QuantityError(f'{shown(value)} is not a port; write such as "8080:80"')
    return text


Words = Annotated[list[str] | None, PlainValidator(_words)]
ComposeDuration = Annotated[int, PlainValidator(read_duration)]
Text = Annotated[str, PlainValidator(read_text)]


class Mount(SpecModel):
    """A file or folder of the experiment or the host, or a volume, that a service sees at `target`."""

    source: str
    target: str
    read_only: bool

    @property
    def is_bind(self) -> bool:
        """Whether `source` is a path rather than the name of a volume."""
        return self.source.startswith((".", "/"))


def _mount(value: Any) -> Any:
    if isinstance(value, dict):
        raise QuantityError('is in the long form; write the short one, such as "data:/var/lib/data:ro"')
    parts = read_text(value).split(":")
    if len(parts) not in (2, 3) or not all(parts) or not parts[1].startswith("/"):
        raise QuantityError(f'{shown(value)} is not a volume; write "SOURCE:/PATH" or "SOURCE:/PATH:ro"')
    if parts[2:] not in ([], ["ro"], ["rw"]):
        raise QuantityError(f"{shown(value)} has the mode {parts[2]}; modes are ro and rw")
    source, target, read_only = parts[0], parts[1], parts[2:] == ["ro"]
    if source.startswith("/") and not read_only:
        raise QuantityError(
            f"{shown(value)} would let a trial change the host; add :ro, or name a path beside the file"
        )
    return {"source": source, "target": target, "read_only": read_only}


class Dependency(SpecModel):
    """What has to be true of another service before this one starts."""

    condition: Literal["service_started", "service_healthy", "service_completed_successfully"]


class Health(SpecModel):
    """How a service is known to be ready."""

    test: Annotated[list[str], PlainValidator(_test)]
    interval_ns: ComposeDuration = Field(INTERVAL_NS, alias="interval")
    timeout_ns: ComposeDuration = Field(TIMEOUT_NS, alias="timeout")
    retries: Annotated[int, Field(ge=1)] = RETRIES
    start_period_ns: ComposeDuration = Field(0, alias="start_period")
    start_interval_ns: ComposeDuration = Field(5 * 10**9, alias="start_interval")

    @property
    def patience_ns(self) -> int:
        """After this time without a success the service counts as unhealthy."""
        return self.start_period_ns + self.retries * self.interval_ns


def _absolute(path: str) -> str:
    if not path.startswith("/"):
        raise QuantityError(f"{shown(path)} is relative; write it from /")
    return path


class Service(SpecModel):
    """A service: what runs on the node of its name."""

    image: str | None = None
    command: Words = None
    entrypoint: Words = None
    environment: Annotated[dict[str, Text], BeforeValidator(_environment)] = Field(default_factory=dict)
    depends_on: Annotated[dict[str, Dependency], BeforeValidator(_dependencies)] = Field(default_factory=dict)
    healthcheck: Health | None = None
    user: Text | None = None
    working_dir: Annotated[str, AfterValidator(_absolute)] | None = None
    volumes: list[Annotated[Mount, BeforeValidator(_mount)]] = Field(default_factory=list)
    memory_bytes: ByteValue | None = Field(None, alias="mem_limit")
    cpus: Cpus | None = None
    deploy: DeployOrNothing = None
    # What follows changes nothing here: every port of a node can be reached from every other node.
    ports: list[Annotated[str, PlainValidator(_port)]] = Field(default_factory=list)
    expose: list[Annotated[str, PlainValidator(_port)]] = Field(default_factory=list)
    restart: Literal["no"] | None = None
    labels: dict[str, Text] | list[str] | None = None
    logging: dict[str, Any] | None = None
    pull_policy: str | None = None

    @model_validator(mode="after")
    def _has_something_to_run(self) -> Service:
        if self.image is None and not (self.command or self.entrypoint):
            raise ValueError("has neither an image nor a command; add one of them")
        if self.image is None and self.user is not None:
            raise ValueError(
                "has a user and no image; it runs as the account for applications, so leave it out"
            )
        if self.image is None and self.volumes:
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
        """What its node may use."""
        return NodeLimits(self.memory_bytes, self.cpus).filled((self.deploy or Deploy()).limits)
