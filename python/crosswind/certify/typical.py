"""Typical parameters for any element, from its description alone, so that a new element is certified at once.

They suit the traffic of the live suite: half of its rate, and bursts and buffers of a few packets.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from pydantic import JsonValue

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
from crosswind.spec.resolved import Parameters, number

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
# Values of compound types, by the keys that are sent; {} stands for the name of the parameter.
_COMPOUNDS: Mapping[str, Parameters] = {
    "buffer": {"{}_bytes": 40_000},
    "colour-action": {"{}": "drop"},
    "dscps": {"{}": None},
    "losses": {"{}": "0000100110"},
    "match": {"{}": {}},
    "opportunities": {"{}": {"at_ns": [1_500_000], "count": [1]}},
    "process": {"{}": {"levels": {"at_ns": [0], "rate_bps": [_RATE_BPS], "repeat_ns": None}}},
    "size-offsets": {"{}": [0, 1_000_000]},
    "start": {"{}": {"after_ns": 0}},
    "trains": {
        "{}": {
            "at_ns": [0, 100_000_000],
            "delay_ns": [2_000_000, 3_000_000],
            "opportunities_ns": [[0, 1_000_000], [0]],
        }
    },
}


def typical(description: Description) -> Iterator[tuple[str, Parameters]]:
    """Yield parameters of an element as the agent takes them, each with a name.

    The first has the required parameters only; each of the others has one more word of a choice.
    """
    kind, group = description.kind, description.group
    required = _required(group)
    yield kind, required
    for parameter in group.parameters:
        if isinstance(parameter.type, Choice):
            for alternative in parameter.type.alternatives:
                yield (
                    f"{kind}, {parameter.name} {alternative.word}",
                    required | {parameter.name: _alternative(parameter.type, alternative.word)},
                )


def words(description: Description, parameters: Parameters) -> Iterator[str]:
    """Yield the kind of an element, and each choice with the word that its parameters have for it."""
    yield description.kind
    yield from _words_inside(description.group, parameters)


def _words_inside(group: Group, parameters: Parameters) -> Iterator[str]:
    for parameter in group.parameters:
        value = parameters.get(parameter.name)
        match parameter.type, value:
            case Choice(), str():
                yield f"{parameter.name} {value}"
            case Choice(), dict():
                yield f"{parameter.name} {next(iter(value))}"
            case Listed(of=Group() as each), list():
                for item in value:
                    if isinstance(item, dict):
                        yield from _words_inside(each, item)


def _required(group: Group) -> Parameters:
    """Return the parameters of a mapping that must be given."""
    found: Parameters = {}
    for parameter in group.parameters:
        if isinstance(parameter.presence, Required):
            found |= _entries(parameter)
        elif isinstance(parameter.presence, As):
            key = parameter.presence.key
            found[parameter.name] = found[next(each.name for each in group.parameters if each.key == key)]
    return _ascending(group, found)


def _ascending(group: Group, found: Parameters) -> Parameters:
    """Return parameters in which those that must ascend differ from each other."""
    names = {parameter.key: parameter.name for parameter in group.parameters}
    for rule in group.rules:
        if rule.predicate == "ascending":
            for factor, key in enumerate(rule.keys, start=1):
                found[names[key]] = (number(found, names[key]) or 0) * factor
    return found


def _entries(parameter: Parameter) -> Parameters:
    if isinstance(parameter.type, Named):
        compound = _COMPOUNDS.get(parameter.type.name, {})
        return {key.format(parameter.name): value for key, value in compound.items()}
    return {parameter.name: _value(parameter.type)}


def _value(of: Type) -> JsonValue:
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
            return _required(of)
        case Choice():
            return _alternative(of, of.alternatives[0].word)
    raise ValueError(f"{of}: has no typical value; give it a branch here")


def _alternative(choice: Choice, word: str) -> JsonValue:
    """Return a word of a choice, with its required parameters if it has parameters."""
    alternative = next(each for each in choice.alternatives if each.word == word)
    return {word: _required(alternative.group)} if alternative.group.parameters else word
