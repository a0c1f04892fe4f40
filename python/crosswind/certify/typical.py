"""Parameters for any element, from its description alone, so that what is new is certified without a line.

They suit the packets that the live suite offers: a rate of half of them, a burst and a buffer of some.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from crosswind.spec.description import (
    As,
    Choice,
    Description,
    Flag,
    Group,
    Listed,
    Named,
    Parameter,
    Quantity,
    Required,
    Type,
    Words,
)

_RATE_BPS = 8_000_000
_QUANTITIES = {
    "rate": _RATE_BPS,
    "size": 10_000,
    "bits": 600_000,
    "duration": 3_000_000,
    "share": 50_000_000,
    "count": 2,
    "number": 1,
    "dscp": 46,
}
# What is sent of compounds, by their keys; {} stands for the name of the parameter.
_COMPOUNDS: Mapping[str, Mapping[str, Any]] = {
    "buffer": {"{}_bytes": 40_000},
    "colour-action": {"{}": "drop"},
    "dscps": {"{}": None},
    "losses": {"{}": "0000100110"},
    "match": {"{}": {}},
    "process": {"{}": {"levels": {"at_ns": [0], "rate_bps": [_RATE_BPS], "repeat_ns": None}}},
    "start": {"{}": {"after_ns": 0}},
}


def typical(description: Description) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield parameters of an element as the agent takes them, each with a name.

    First those that must be given; then the same with each word of each choice.
    """
    kind, group = description.kind, description.group
    needed = _sent(group)
    yield kind, needed
    for parameter in group.parameters:
        if isinstance(parameter.type, Choice):
            for alternative in parameter.type.alternatives:
                yield (
                    f"{kind}, {parameter.name} {alternative.word}",
                    needed | {parameter.name: _chosen(parameter.type, alternative.word)},
                )


def chosen(description: Description, sent: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an element says: its kind, and the words of its choices, with the names of these."""
    yield description.kind
    yield from _chosen_inside(description.group, sent)


def _chosen_inside(group: Group, sent: Mapping[str, Any]) -> Iterator[str]:
    for parameter in group.parameters:
        value = sent.get(parameter.name)
        match parameter.type:
            case Choice() if value is not None:
                yield f"{parameter.name} {value if isinstance(value, str) else next(iter(value))}"
            case Listed(of=Group() as each):
                for item in value or []:
                    yield from _chosen_inside(each, item)


def _sent(group: Group) -> dict[str, Any]:
    """Return the parameters of a mapping that must be given."""
    found: dict[str, Any] = {}
    for parameter in group.parameters:
        if isinstance(parameter.presence, Required):
            found |= _entries(parameter)
        elif isinstance(parameter.presence, As):
            key = parameter.presence.key
            found[parameter.name] = found[next(each.name for each in group.parameters if each.key == key)]
    return _in_order(group, found)


def _in_order(group: Group, found: dict[str, Any]) -> dict[str, Any]:
    """Return parameters with those apart that must ascend."""
    names = {parameter.key: parameter.name for parameter in group.parameters}
    for rule in group.rules:
        if rule.predicate == "ascending":
            for number, key in enumerate(rule.keys, start=1):
                found[names[key]] *= number
    return found


def _entries(parameter: Parameter) -> dict[str, Any]:
    if isinstance(parameter.type, Named):
        compound = _COMPOUNDS.get(parameter.type.name, {})
        return {key.format(parameter.name): value for key, value in compound.items()}
    return {parameter.name: _value(parameter.type)}


def _value(of: Type) -> Any:
    match of:
        case Quantity():
            return _QUANTITIES[of.quantity] * of.times
        case Flag():
            return False
        case Words():
            return of.words[0]
        case Listed():
            return [_value(of.of)]
        case Group():
            return _sent(of)
        case Choice():
            return _chosen(of, of.alternatives[0].word)
    raise ValueError(f"{of} stands in no list")


def _chosen(choice: Choice, word: str) -> Any:
    """Return a word of a choice, with its parameters if it has any."""
    alternative = next(each for each in choice.alternatives if each.word == word)
    return {word: _sent(alternative.group)} if alternative.group.parameters else word
