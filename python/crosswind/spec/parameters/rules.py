"""The predicates of rules between parameters, which elements.json uses.

A rule has a predicate, keys, and a message for the error; `{key}` in the message is replaced by the value as
written. Each predicate skips values with errors, which are reported where they are read.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import TYPE_CHECKING

from pydantic import JsonValue

from crosswind.spec.description import Default, Rule
from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound_field, value_at
from crosswind.spec.parameters.dscps import DscpsReader
from crosswind.spec.parameters.listed import ListReader
from crosswind.spec.parameters.one_of import OneOf
from crosswind.spec.parameters.reader import Around
from crosswind.spec.quantities import shown
from crosswind.spec.scale import scaled
from crosswind.spec.setting import Finding

if TYPE_CHECKING:
    from crosswind.spec.parameters.keys import Keys


@dataclass(frozen=True)
class Scope:
    """The mapping of a rule: its reader, its content as written, and its context."""

    keys: Keys
    raw: JsonValue
    around: Around

    def value(self, key: str) -> object:
        """Return the value of a dotted key as read; None where it is absent or has an error."""
        scope, leaf = self._inside(key)
        part = scope.keys.part(leaf)
        return None if part is None else sound_field(scope.keys.model, part[0].name, scope.raw)

    def number(self, key: str) -> float | None:
        """Return the same of a number; None also where it is something else."""
        value = self.value(key)
        return value if isinstance(value, int | float) else None

    def numbers(self, keys: Sequence[str]) -> list[float] | None:
        """Return several numbers; None where one of them is missing."""
        found = [value for key in keys if (value := self.number(key)) is not None]
        return found if len(found) == len(keys) else None

    def written(self, key: str) -> JsonValue:
        """Return the value of a dotted key as written; its default where it is absent."""
        scope, leaf = self._inside(key)
        part = scope.keys.part(leaf)
        written = value_at(scope.raw, leaf)
        if written is None and part is not None and isinstance(part[0].presence, Default):
            return part[0].presence.value
        return written

    def spots(self, key: str) -> Iterator[tuple[Path, Scope, str]]:
        """Yield each mapping with the last word of a dotted key, and its path; of a list, each item."""
        first, _, rest = key.partition(".")
        if not rest:
            yield (), self, first
            return
        found = value_at(self.raw, first)
        each = [((), found)] if isinstance(found, dict) else items(found)
        for path, raw in each:
            for inner, scope, leaf in self._below(first, raw).spots(rest):
                yield (first, *path, *inner), scope, leaf

    def _inside(self, key: str) -> tuple[Scope, str]:
        *before, leaf = key.split(".")
        scope = self
        for word in before:
            scope = scope._below(word, value_at(scope.raw, word))
        return scope, leaf

    def _below(self, word: str, raw: JsonValue) -> Scope:
        part = self.keys.part(word)
        assert part is not None  # Keys of rules are keys of parameters.
        reader = part[1].of if isinstance(part[1], ListReader) else part[1]
        assert isinstance(reader, type(self.keys))  # Keys with dots lead through mappings.
        return Scope(reader, raw, self.around)


def broken(rule: Rule, scope: Scope) -> Iterator[Finding]:
    """Yield what breaks a rule in a mapping, with the path in it."""
    yield from _PREDICATES[rule.predicate](rule, scope)


def _message(rule: Rule, scope: Scope, **more: str) -> str:
    """Return the message of a rule, with each key in braces replaced by its value as written."""
    return re.sub(
        r"\{([a-z0-9_.]+)\}",
        lambda found: more[found[1]] if found[1] in more else shown(scope.written(found[1])),
        rule.message,
    )


def _compared(holds: Callable[[float, float], bool]) -> Callable[[Rule, Scope], Iterator[Finding]]:
    """Return the predicate that compares two values."""

    def predicate(rule: Rule, scope: Scope) -> Iterator[Finding]:
        value, other = scope.number(rule.key), scope.number(rule.other)
        if value is not None and other is not None and not holds(value, other):
            yield tuple(rule.key.split(".")), _message(rule, scope)

    return predicate


def _ascending(rule: Rule, scope: Scope) -> Iterator[Finding]:
    scale, names = scope.around.setting.scale, rule.keys
    values = scope.numbers(names)
    if values is None:
        return
    sent = [0, *(scaled(int(value), scale) for value in values)]
    if any(low >= high for low, high in pairwise(sent)):
        after = "" if scale == 1 else f" after scaling by {scale:g}"
        has = " and ".join(f"{name} {value}B" for name, value in zip(names, sent[1:], strict=True))
        yield (), f"has {has}{after}; write 0B < {' < '.join(names)}"


def _not_all_zero(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if all(scope.value(key) == 0 for key in rule.keys):
        yield (rule.keys[-1],), _message(rule, scope)


def _sum_at_most(rule: Rule, scope: Scope) -> Iterator[Finding]:
    values = scope.numbers(rule.keys)
    if values is not None and sum(values) > rule.most:
        yield (), _message(rule, scope, sum=f"{sum(values) / 1e7:g}")


def _one_needed(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if all(value_at(scope.raw, key) is None for key in rule.keys):
        yield (), _message(rule, scope)


def _needs(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if scope.written(rule.other) is not None:
        return
    for path, inner, key in scope.spots(rule.key):
        if value_at(inner.raw, key) is not None:
            yield (*path, key), _message(rule, scope)


def _only_with(rule: Rule, scope: Scope) -> Iterator[Finding]:
    for path, inner, key in scope.spots(rule.key):
        word = _other_word(rule, scope)
        if word not in (None, *rule.words) and inner.value(key) not in (None, False):
            yield (*path, key), _message(rule, scope, word=str(word))


def _needed_with(rule: Rule, scope: Scope) -> Iterator[Finding]:
    word = _other_word(rule, scope)
    for path, inner, key in scope.spots(rule.key):
        if word in rule.words and isinstance(inner.raw, dict) and inner.raw.get(key) is None:
            yield path, _message(rule, scope, word=str(word))


def _words_with(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if value_at(scope.raw, rule.other) is None:
        return
    for path, inner, key in scope.spots(rule.key):
        word = _word(inner.value(key))
        if word not in (None, *rule.words):
            yield (*path, key), _message(rule, scope, word=str(word))


def _word_at(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if scope.around.place not in rule.places:
        yield from _words_found(rule, scope, [rule.word])


def _word_limited(rule: Rule, scope: Scope) -> Iterator[Finding]:
    if scope.around.setting.uplink_unlimited:
        yield from _words_found(rule, scope, [rule.word])


def _words_found(rule: Rule, scope: Scope, words: list[str]) -> Iterator[Finding]:
    for path, word in items(scope.raw, rule.key):
        if word in words:
            yield path, _message(rule, scope, word=shown(word))


def _partition(rule: Rule, scope: Scope) -> Iterator[Finding]:
    """Each value is in one of the items, and exactly one of them takes all others."""
    above, _, _ = rule.key.rpartition(".")
    taken: dict[int, int] = {}
    spots = list(scope.spots(rule.key))
    rest = 0
    for number, (path, inner, key) in enumerate(spots, start=1):
        rest += value_at(inner.raw, key) == DEFAULT
        for item_path, item in items(inner.raw, key):
            part = inner.keys.part(key)
            assert part is not None
            assert isinstance(part[1], DscpsReader)
            value = part[1].one(item)
            if value in taken:
                message = f"{shown(item)} is already in queue {taken[value]}; write each DSCP once"
                yield (*path, *item_path), message
            elif value is not None:
                taken[value] = number
    if spots and rest != 1:
        yield tuple(above.split(".")), f"has {rest or 'none'} with {key}: {DEFAULT}; write exactly one"


DEFAULT = "default"


def _other_word(rule: Rule, scope: Scope) -> str | None:
    """Return the word of the other key, which is in the mapping of the rule."""
    return _word(scope.value(rule.other))


def _word(value: object) -> str | None:
    if isinstance(value, OneOf):
        return value.word
    return value if isinstance(value, str) else None


def _elsewhere(rule: Rule, scope: Scope) -> Iterator[Finding]:
    """Yield nothing: the rule also needs other elements (crosswind.spec.together)."""
    yield from ()


_PREDICATES: Mapping[str, Callable[[Rule, Scope], Iterator[Finding]]] = {
    "at_most": _compared(lambda value, other: value <= other),
    "below": _compared(lambda value, other: value < other),
    "at_least": _compared(lambda value, other: value >= other),
    "ascending": _ascending,
    "not_all_zero": _not_all_zero,
    "sum_at_most": _sum_at_most,
    "one_needed": _one_needed,
    "needs": _needs,
    "only_with": _only_with,
    "needed_with": _needed_with,
    "words_with": _words_with,
    "word_at": _word_at,
    "word_limited": _word_limited,
    "word_queue": _elsewhere,
    "partition": _partition,
}
