"""The elements as elements.json describes them: their parameters, and the rules between these.

`crosswind-simulate describe` prints the file, from the element's own file in crates/engine. Nothing else in
Python names an element; all other code reads the descriptions from here (docs/reference/contracts.md).
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cache
from importlib.resources import files
from typing import Any, Literal, TypeAlias

from pydantic import JsonValue

FORMAT = 1

# A mapping of elements.json, as parsed. The program that wrote it checks it, so that here it is only read.
_Described: TypeAlias = Mapping[str, Any]


@dataclass(frozen=True)
class Required:
    """It must be given."""


@dataclass(frozen=True)
class Optional:
    """It may be absent; then it is not sent."""


@dataclass(frozen=True)
class Default:
    """Its value when absent, as a file writes it; `sent`: whether the default is sent, too."""

    value: JsonValue
    sent: bool


@dataclass(frozen=True)
class As:
    """Where absent, it has the value of another parameter."""

    key: str


Presence = Required | Optional | Default | As


@dataclass(frozen=True)
class Rule:
    """What must hold between parameters. Which attributes a rule has depends on its predicate.

    Keys are dotted paths from the mapping that has the rule.

    Attributes:
        message: the error where the rule is broken.
        key, other: one parameter, and the one that it is compared with.
        keys: several parameters.
        word, words: values of a choice.
        places: where elements may stand.
        most: of a sum.
    """

    predicate: str
    message: str = ""
    key: str = ""
    other: str = ""
    keys: tuple[str, ...] = ()
    word: str = ""
    words: tuple[str, ...] = ()
    places: tuple[str, ...] = ()
    most: int = 0


@dataclass(frozen=True)
class Parameter:
    """One parameter.

    Attributes:
        key: in files; None where the keys of its type are in the mapping itself.
        name: under which it is sent.
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
        packet: it must be at least one packet, after scaling.
        times: factor of a plain number where it is sent.
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
        group: its parameters; without any, it is written and sent as the word alone.
        bare: its one parameter is written in place of the mapping.
        page, file: its manual page and the file of that, if it has one.
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
    arguments: Mapping[str, JsonValue]


Type = Quantity | Flag | Words | Listed | Group | Choice | Named


@dataclass(frozen=True)
class Fill:
    """Value that the short form fills in: the bytes that a rate sends in a time, at least `least_bytes`."""

    of: str
    time_ns: int
    least_bytes: int


@dataclass(frozen=True)
class Short:
    """The one parameter that may be written in place of the mapping, and an example of it."""

    key: str
    example: str
    fills: Mapping[str, Fill] = field(default_factory=dict)


@dataclass(frozen=True)
class Description:
    """One element.

    Attributes:
        kind: its name in files.
        names: its names in series, where the engine has several kinds of it.
        page, file: its manual page, and the file of the repository that has it.
        where: at every place; `port`: in front of a link; `link`: at the place of that name.
        queues: packets wait in it, so that a queue monitor can watch it.
        drains: trials may keep its level (`budgets: kept`), unless a parameter of `kept_without` is given.
        limits_rate: the parameter with the highest rate at which packets leave.
        adds_delay: the parameter with the least delay that it adds.
        idle: with this parameter alone, and zero, the element does nothing.
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
        """Return the name under which the parameter with this key is sent."""
        return next(each.name for each in self.group.parameters if each.key == key)


@cache
def descriptions() -> Mapping[str, Description]:
    """Return all elements by name, in the order of the file."""
    text = files("crosswind.spec").joinpath("elements.json").read_text(encoding="utf-8")
    described = json.loads(text)
    if described["format"] != FORMAT:
        raise RuntimeError(f"elements.json has format {described['format']}; this version reads {FORMAT}")
    return {each["kind"]: _description(each) for each in described["elements"]}


def _description(described: _Described) -> Description:
    kind = described["kind"]
    return Description(
        kind=kind,
        names=tuple(described.get("names") or (kind,)),
        page=described["page"],
        file=described["file"],
        where=described["where"],
        queues=described.get("queues", False),
        drains=described.get("drains", False),
        kept_without=tuple(described.get("kept_without") or ()),
        limits_rate=described.get("limits_rate"),
        adds_delay=described.get("adds_delay"),
        idle=described.get("idle"),
        short=_short(described["short"]) if described.get("short") else None,
        group=_group({"title": kind.capitalize(), **described}),
    )


def _short(described: _Described) -> Short:
    fills = {key: Fill(**fill) for key, fill in (described.get("fills") or {}).items()}
    return Short(described["key"], described["example"], fills)


def _group(described: _Described) -> Group:
    return Group(
        title=described.get("title") or "",
        about=described["about"],
        parameters=tuple(_parameter(each) for each in described.get("parameters") or ()),
        rules=tuple(_rule(each) for each in described.get("rules") or ()),
    )


def _rule(described: _Described) -> Rule:
    return Rule(
        predicate=described["rule"],
        message=described.get("message") or "",
        key=described.get("key") or "",
        other=described.get("other") or "",
        keys=tuple(described.get("keys") or ()),
        word=described.get("word") or "",
        words=tuple(described.get("words") or ()),
        places=tuple(described.get("places") or ()),
        most=described.get("most") or 0,
    )


def _parameter(described: _Described) -> Parameter:
    return Parameter(
        key=described["key"],
        name=described["name"],
        about=described["about"],
        presence=_presence(described["presence"]),
        scaled=described.get("scale", False),
        type=_type(described["type"]),
    )


def _presence(described: str | _Described) -> Presence:
    match described:
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
    raise ValueError(f"presence {described!r}")


def _type(described: _Described) -> Type:
    match described:
        case {"quantity": quantity}:
            return Quantity(
                quantity,
                least=described.get("min") or 0,
                most=described.get("max"),
                unlimited=described.get("unlimited", False),
                packet=described.get("packet", False),
                times=described.get("times") or 1,
            )
        case {"flag": _}:
            return Flag()
        case {"words": words}:
            return Words(tuple(words))
        case {"list": of}:
            return Listed(_type(of), described.get("min_items") or 0, described.get("unique", False))
        case {"group": parameters}:
            return _group({**described, "parameters": parameters})
        case {"choice": alternatives}:
            each = tuple(_alternative(alternative) for alternative in alternatives)
            return Choice(described.get("title") or "", described.get("about") or "", each)
        case {"named": name}:
            return Named(name, {key: value for key, value in described.items() if key != "named"})
    raise ValueError(f"type {described!r}")


def _alternative(described: _Described) -> Alternative:
    return Alternative(
        word=described["word"],
        group=_group(described),
        bare=described.get("bare", False),
        page=described.get("page") or "",
        file=described.get("file") or "",
    )
