"""What elements.json says of each element: its parameters, how they are written, sent and scaled, its rules.

The file is what `crosswind-simulate describe` prints, from the element's own file in crates/engine. It is the
only place in Python where an element is named; everything else reads it here (docs/reference/contracts.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal

FORMAT = 1


@dataclass(frozen=True)
class Required:
    """It must be given."""


@dataclass(frozen=True)
class Optional:
    """It may be absent, and is then not sent."""


@dataclass(frozen=True)
class Default:
    """Its value when absent, as a file writes it; `sent`: also where it is the default."""

    value: Any
    sent: bool


@dataclass(frozen=True)
class As:
    """Absent, it has the value of another parameter."""

    key: str


Presence = Required | Optional | Default | As


@dataclass(frozen=True)
class Rule:
    """What must hold between parameters: a predicate, what it is about, and what is said where it is broken.

    Keys are dotted paths from the mapping that has the rule.
    """

    predicate: str
    about: Mapping[str, Any]
    message: str


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        key: the word in files; None where the keys of its type stand in the mapping itself.
        name: where it is sent.
    """

    key: str | None
    name: str
    about: str
    presence: Presence
    scaled: bool
    type: Type


@dataclass(frozen=True)
class Quantity:
    """A number with a unit, or without one.

    Attributes:
        least: the smallest value, in base units; 0: zero is allowed, 1: only above it.
        unlimited: the word `unlimited` is a value.
        packet: it must hold one packet, after scaling.
        times: what a plain number is multiplied by where it is sent.
    """

    quantity: Literal["rate", "size", "bits", "duration", "share", "count", "number", "dscp"]
    least: float
    most: float | None
    unlimited: bool
    packet: bool
    times: int


@dataclass(frozen=True)
class Flag:
    """True or false."""


@dataclass(frozen=True)
class Words:
    """One of these words."""

    words: tuple[str, ...]


@dataclass(frozen=True)
class Listed:
    """A list; `unique`: each item once."""

    of: Type
    least: int
    unique: bool


@dataclass(frozen=True)
class Group:
    """A mapping with parameters and rules of its own."""

    title: str
    about: str
    parameters: tuple[Parameter, ...]
    rules: tuple[Rule, ...]


@dataclass(frozen=True)
class Alternative:
    """One word of a choice.

    Attributes:
        group: its parameters; without any it is written and sent as the word alone.
        bare: its one parameter is written in place of the mapping.
        page, file: its manual page and where that stands, if it has one.
    """

    word: str
    group: Group
    bare: bool
    page: str
    file: str


@dataclass(frozen=True)
class Choice:
    """One of several, each with parameters of its own."""

    title: str
    about: str
    alternatives: tuple[Alternative, ...]


@dataclass(frozen=True)
class Named:
    """A compound that has a reader of its own (crosswind.spec.parameters)."""

    name: str
    arguments: Mapping[str, Any]


Type = Quantity | Flag | Words | Listed | Group | Choice | Named


@dataclass(frozen=True)
class Fill:
    """What the short form fills in: the bytes that a rate brings in a time, and so many at least."""

    of: str
    time_ns: int
    least_bytes: int


@dataclass(frozen=True)
class Short:
    """The one parameter that may stand in place of the mapping, and an example of it."""

    key: str
    example: str
    fills: Mapping[str, Fill] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """One element.

    Attributes:
        kind: its word in files.
        names: its names in series, where the engine has several kinds of it.
        page, file: its manual page, and the file of the repository where that stands.
        where: at every place; `port`: in front of a link; `link`: at the place of that name.
        queues: packets wait in it, so that a queue monitor can watch it.
        drains: trials may keep its level (`budgets: kept`), unless a parameter of `kept_without` is given.
        limits_rate: the parameter that is the highest rate at which it lets packets go.
        adds_delay: the parameter that is the least delay that it adds.
        idle: the parameter that alone, and zero, means that the element does nothing.
    """

    kind: str
    names: tuple[str, ...]
    page: str
    file: str
    where: Literal["anywhere", "port", "link"]
    queues: bool
    drains: bool
    kept_without: tuple[str, ...]
    limits_rate: str | None
    adds_delay: str | None
    idle: str | None
    short: Short | None
    group: Group

    def sent_name(self, key: str) -> str:
        """Return where the parameter with this key is sent."""
        return next(each.name for each in self.group.parameters if each.key == key)


@cache
def descriptions() -> Mapping[str, Description]:
    """Return all elements by their word, in the order in which they are listed."""
    text = files("crosswind.spec").joinpath("elements.json").read_text(encoding="utf-8")
    said = json.loads(text)
    if said["format"] != FORMAT:
        raise RuntimeError(f"elements.json has format {said['format']}; this version reads {FORMAT}")
    return {each["kind"]: _description(each) for each in said["elements"]}


def _description(said: Mapping[str, Any]) -> Description:
    kind = said["kind"]
    return Description(
        kind=kind,
        names=tuple(said.get("names") or (kind,)),
        page=said["page"],
        file=said["file"],
        where=said["where"],
        queues=said.get("queues", False),
        drains=said.get("drains", False),
        kept_without=tuple(said.get("kept_without") or ()),
        limits_rate=said.get("limits_rate"),
        adds_delay=said.get("adds_delay"),
        idle=said.get("idle"),
        short=_short(said["short"]) if said.get("short") else None,
        group=_group({"title": kind.capitalize(), **said}),
    )


def _short(said: Mapping[str, Any]) -> Short:
    fills = {key: Fill(**fill) for key, fill in (said.get("fills") or {}).items()}
    return Short(said["key"], said["example"], fills)


def _group(said: Mapping[str, Any]) -> Group:
    return Group(
        title=said.get("title") or "",
        about=said["about"],
        parameters=tuple(_parameter(each) for each in said.get("parameters") or ()),
        rules=tuple(_rule(each) for each in said.get("rules") or ()),
    )


def _rule(said: Mapping[str, Any]) -> Rule:
    about = {key: value for key, value in said.items() if key not in ("rule", "message")}
    return Rule(said["rule"], about, said.get("message") or "")


def _parameter(said: Mapping[str, Any]) -> Parameter:
    return Parameter(
        key=said["key"],
        name=said["name"],
        about=said["about"],
        presence=_presence(said["presence"]),
        scaled=said.get("scale", False),
        type=_type(said["type"]),
    )


def _presence(said: Any) -> Presence:
    match said:
        case "required":
            return Required()
        case "optional":
            return Optional()
        case {"default": value}:
            return Default(value, sent=True)
        case {"implied": value}:
            return Default(value, sent=False)
        case {"as": key}:
            return As(key)
    raise ValueError(f"presence {said!r}")


def _type(said: Mapping[str, Any]) -> Type:
    match said:
        case {"quantity": quantity}:
            return Quantity(
                quantity,
                least=said.get("min") or 0,
                most=said.get("max"),
                unlimited=said.get("unlimited", False),
                packet=said.get("packet", False),
                times=said.get("times") or 1,
            )
        case {"flag": _}:
            return Flag()
        case {"words": words}:
            return Words(tuple(words))
        case {"list": of}:
            return Listed(_type(of), said.get("min_items") or 0, said.get("unique", False))
        case {"group": parameters}:
            return _group({**said, "parameters": parameters})
        case {"choice": alternatives}:
            each = tuple(_alternative(alternative) for alternative in alternatives)
            return Choice(said.get("title") or "", said.get("about") or "", each)
        case {"named": name}:
            return Named(name, {key: value for key, value in said.items() if key != "named"})
    raise ValueError(f"type {said!r}")


def _alternative(said: Mapping[str, Any]) -> Alternative:
    return Alternative(
        word=said["word"],
        group=_group(said),
        bare=said.get("bare", False),
        page=said.get("page") or "",
        file=said.get("file") or "",
    )
