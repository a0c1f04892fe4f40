"""Turn pydantic's errors into messages in the words of the file: thing, value, rule, remedy, and place."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping
from typing import Any, TypeAlias

from pydantic import BaseModel, JsonValue, ValidationError
from pydantic_core import ErrorDetails

from crosswind.spec.base import SpecModel, keys_of
from crosswind.spec.document import Document, Path
from crosswind.spec.draft import value_at
from crosswind.spec.problems import Problem
from crosswind.spec.quantities import shown
from crosswind.spec.short_form import short_example
from crosswind.text.nearest import did_you_mean

# What pydantic says of a rule that is broken, such as its bounds.
_Context: TypeAlias = Mapping[str, Any]


def problems_of(
    error: ValidationError, document: Document, root: Path, models: Mapping[int, type[BaseModel]]
) -> Iterable[Problem]:
    """Yield the problems behind a failed validation of the value at `root` of `document`.

    Args:
        models: which model read which mapping, by the mapping's identity (see `SpecModel`).
    """
    for details in error.errors(include_url=False):
        path, value = _walk(document.data, root, details["loc"])
        if details["type"] == "extra_forbidden":
            yield _unknown_key(document, path, models)
        elif details["loc"][-1:] == ("[key]",):  # The error is in the key, not in its value.
            message = describe((*path[:-1], "key"), _rule(details, path[-1]))
            yield document.problem(path, message, at_key=True)
        elif details["type"] == "missing":
            thing, short = dotted(path), short_example(path)
            remedy = "add it" if short is None else f"add it, or write {short}"
            yield document.problem(
                path, f'{thing + ": " if thing else ""}needs "{details["loc"][-1]}"; {remedy}', at_key=True
            )
        else:
            rule = _rule(details, value)
            if details["type"] == "one_of" and (short := short_example(path)) is not None:
                rule += f"; write {short}"
            if short_example(path) is not None and not isinstance(value, dict):
                # The parameter's own remedy is for the mapping that the short form stands for.
                rule = re.sub(r"; write (?=[0-9])", f"; write {path[-1]}: ", rule, count=1)
            yield document.problem(path, describe(path, rule))


def describe(path: Path, message: str) -> str:
    """Return `parent: key message`: the thing, then what is wrong with it."""
    if not path:
        return f"the file {message}"
    parent, leaf = dotted(path[:-1]), path[-1]
    name = f"item {leaf + 1}" if isinstance(leaf, int) else str(leaf)
    return f"{parent}: {name} {message}" if parent else f"{name} {message}"


def dotted(path: Path) -> str:
    """Return a path as text, with items counted from 1."""
    text = ""
    for part in path:
        text += f"[{part + 1}]" if isinstance(part, int) else (f".{part}" if text else part)
    return text


def _walk(data: JsonValue, root: Path, location: tuple[str | int, ...]) -> tuple[Path, JsonValue]:
    """Follow a location as far as the file has it. Names of union members are skipped."""
    value, path = value_at(data, *root), root
    for part in location:
        if (isinstance(value, dict) and part in value) or (
            isinstance(value, list) and part in range(len(value))
        ):
            value, path = value_at(value, part), (*path, part)
    return path, value


def _unknown_key(document: Document, path: Path, models: Mapping[int, type[BaseModel]]) -> Problem:
    _, parent = _walk(document.data, (), path[:-1])
    model = models.get(id(parent))
    key, keys = str(path[-1]), keys_of(model) if model is not None else []
    if model is not None and issubclass(model, SpecModel) and key in model.elsewhere:
        remedy = model.elsewhere[key]
    else:
        meant = did_you_mean(key, keys)
        remedy = f"{meant} (keys: {', '.join(keys)})" if meant else f"keys are {', '.join(keys)}"
    thing = dotted(path[:-1])
    return document.problem(
        path, f'{thing + ": " if thing else ""}unknown key "{key}"; {remedy}', at_key=True
    )


def _rule(details: ErrorDetails, value: JsonValue) -> str:
    kind, context = details["type"], details.get("ctx", {})
    if kind == "value_error":
        return str(context["error"])
    if kind in _OWN_WORDS:
        return _OWN_WORDS[kind](value, context)
    if kind in ("element", "one_of"):
        return details["msg"]
    # Rules that only parameters of applications have keep pydantic's words, which name the rule.
    return f"{shown(value)}: {details['msg'][:1].lower()}{details['msg'][1:]}"


def _too_many(value: JsonValue, context: _Context) -> str:
    if isinstance(value, dict) and context["max_length"] == 1:
        keys = " and ".join(map(shown, value))
        return f"has the keys {keys}, where one is expected; keep one, or write each after a hyphen"
    return f"has {context['actual_length']} entries; at most {context['max_length']}"


def _choice(value: JsonValue, context: _Context) -> str:
    expected = str(context["expected"]).replace("'", '"')
    words = [word.strip() for word in expected.replace(" or ", ", ").replace('"', "").split(",")]
    meant = did_you_mean(str(value), words)
    return f"{shown(value)} must be {expected}" + (f"; {meant}" if meant else "")


_OWN_WORDS: Mapping[str, Callable[[JsonValue, _Context], str]] = {
    "int_type": lambda value, _: f"{shown(value)} must be a whole number, without quotes",
    "float_type": lambda value, _: f"{shown(value)} must be a number, without quotes",
    "string_type": lambda value, _: (
        f"{shown(value)} must be text; write it in quotes if it looks like a number"
    ),
    "bool_type": lambda value, _: f"{shown(value)} must be true or false",
    "list_type": lambda value, _: (
        f"{shown(value)} must be a list; write [...] or lines starting with a hyphen"
    ),
    "dict_type": lambda value, _: f"{shown(value)} must be a mapping; write lines of `key: value`",
    "model_type": lambda value, _: f"{shown(value)} must be a mapping; write lines of `key: value`",
    "literal_error": _choice,
    "string_pattern_mismatch": lambda value, context: f"{shown(value)} must match {context['pattern']}",
    "greater_than": lambda value, context: f"{shown(value)} must be above {context['gt']:g}",
    "greater_than_equal": lambda value, context: f"{shown(value)} must be at least {context['ge']:g}",
    "less_than": lambda value, context: f"{shown(value)} must be below {context['lt']:g}",
    "less_than_equal": lambda value, context: f"{shown(value)} must be at most {context['le']:g}",
    "too_short": lambda value, context: f"is empty; give at least {context['min_length']}",
    "too_long": _too_many,
}
