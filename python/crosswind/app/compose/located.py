"""Values of compose files, each with its place, while files are merged into one. Pure functions."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import Any

from crosswind.spec.document import Document, Path
from crosswind.spec.document import Place as LineAndColumn
from crosswind.spec.problems import Problem
from crosswind.spec.translate import describe

MERGE = "<<"


@dataclass(frozen=True)
class FilePlace:
    """The place of a value; `file` is relative to the experiment's folder."""

    file: str
    line: int
    column: int

    def problem(self, message: str) -> Problem:
        """Return a problem at this place."""
        return Problem(self.file, self.line, self.column, message)


@dataclass(frozen=True)
class Located:
    """A value: a mapping or a list of such values, or a scalar.

    Attributes:
        value: as YAML reads it.
        place: of the value.
        key: place of its key, or of the value if it has none.
    """

    value: Any
    place: FilePlace
    key: FilePlace

    @property
    def items(self) -> dict[str, Located]:
        """The entries of a mapping; empty for other values."""
        return self.value if isinstance(self.value, dict) else {}

    @property
    def list(self) -> list[Located]:
        """The entries of a list; empty for other values."""
        return self.value if isinstance(self.value, list) else []

    def plain(self) -> Any:
        """Return the value without places."""
        if isinstance(self.value, dict):
            return {key: item.plain() for key, item in self.value.items()}
        return [item.plain() for item in self.value] if isinstance(self.value, list) else self.value

    def with_value(self, value: object) -> Located:
        """Return another value at this place."""
        return replace(self, value=value)

    def made(self, value: object) -> Located:
        """Return plain data, all of it with this place."""
        if isinstance(value, dict):
            return self.with_value({key: self.made(item) for key, item in value.items()})
        return self.with_value([self.made(item) for item in value] if isinstance(value, list) else value)

    def mapped(self, change: Callable[[Located, Path], object], path: Path = ()) -> Located:
        """Return it with each scalar replaced by `change(scalar, its path)`."""
        if isinstance(self.value, dict):
            return self.with_value(
                {key: item.mapped(change, (*path, key)) for key, item in self.value.items()}
            )
        if isinstance(self.value, list):
            return self.with_value(
                [item.mapped(change, (*path, index)) for index, item in enumerate(self.value)]
            )
        return self.with_value(change(self, path))


def located(document: Document, file: str) -> Located:
    """Return the values of a document, with merge keys (`<<`) resolved; raises nothing."""

    def place(at: LineAndColumn) -> FilePlace:
        return FilePlace(file, *at)

    def of(data: object, path: Path) -> Located:
        value = place(document.values[path])
        key = place(document.keys.get(path, document.values[path]))
        if isinstance(data, dict):
            return Located(
                _merged({name: of(item, (*path, name)) for name, item in data.items()}), value, key
            )
        if isinstance(data, list):
            return Located([of(item, (*path, index)) for index, item in enumerate(data)], value, key)
        return Located(data, value, key)

    return of(document.data, ())


def _merged(entries: dict[str, Located]) -> dict[str, Located]:
    """Return a mapping with its merge key resolved; its own keys win, then those of the first mapping."""
    named = entries.get(MERGE)
    if named is None:
        return entries
    others = named.list or [named]
    if not all(isinstance(other.value, dict) for other in others):
        return entries  # It is refused later, as an unknown key.
    found: dict[str, Located] = {}
    for other in reversed(others):
        found |= other.items
    return found | {key: item for key, item in entries.items() if key != MERGE}


def document_of(tree: Located) -> PlacedDocument:
    """Return the tree as a document whose problems name their files."""
    places: dict[Path, FilePlace] = {}
    keys: dict[Path, FilePlace] = {}
    for path, item in _walk(tree, ()):
        places[path], keys[path] = item.place, item.key
    lines = {path: (at.line, at.column) for path, at in places.items()}
    return PlacedDocument(tree.place.file, tree.plain(), "", lines, {}, {}, places, keys)


def _walk(tree: Located, path: Path) -> Iterator[tuple[Path, Located]]:
    yield path, tree
    for key, item in tree.items.items():
        yield from _walk(item, (*path, key))
    for index, item in enumerate(tree.list):
        yield from _walk(item, (*path, index))


@dataclass(frozen=True)
class PlacedDocument(Document):
    """A document that was made from several files."""

    places: dict[Path, FilePlace]
    key_places: dict[Path, FilePlace]

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        while path and path not in self.places:
            path, at_key = path[:-1], True
        return (self.key_places if at_key else self.places)[path].problem(message)


def problem_at(item: Located, path: Path, message: str, *, at_key: bool = False) -> Problem:
    """Return a problem of a value, in the words of `describe`."""
    return (item.key if at_key else item.place).problem(describe(path, message))
