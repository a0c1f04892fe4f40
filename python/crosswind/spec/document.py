"""Read YAML 1.2 into plain values and note the place of each one.

Scalars follow the core schema of YAML 1.2 (section 10.3.2): `yes` is text, `0o17` is a number. Merge keys and
tags that make objects are not supported. A key that is given twice is an error. The models interpret the
values.
"""

from __future__ import annotations

import errno
import json
import os
import posixpath
import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from importlib.resources.abc import Traversable
from pathlib import Path as FilePath
from types import MappingProxyType

from pydantic import JsonValue
from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError
from ruamel.yaml.events import CollectionEndEvent, CollectionStartEvent, Event, NodeEvent
from ruamel.yaml.nodes import MappingNode, Node, ScalarNode, SequenceNode

from crosswind.spec.problems import Problem, SpecErrors
from crosswind.spec.read_file import read_file

Path = tuple[str | int, ...]
Place = tuple[int, int]  # Line and column, from 1.

# A file at these bounds is read or refused within seconds: the models take up to 100 us to check a value
# (2026-11-23, two busy cores). Aliases are expanded; without bounds, a few lines could expand to more than
# the machine's memory, and the parser's own recursion has no limit.
_BYTES_MAX = 4 << 20
_VALUES_MAX = 20_000
_DEPTH_MAX = 64
# In a folder that a file names; all of them are stored with the results.
_FILES_MAX = 5000
_REPOSITORY = ".git"
# Only the folder of a run has this file.
_RUN = "resolved.json"
# The parser written in Python reads this much within 3 s.
_SLOW_MAX = 512 << 10

# The parser gives these to values without a tag. The type of a scalar is decided below, by YAML 1.2.
_PLAIN_TAGS = {
    f"tag:yaml.org,2002:{name}"
    for name in ("map", "seq", "str", "null", "bool", "int", "float", "timestamp", "merge", "value")
}

_NULL = re.compile(r"(?:~|null|Null|NULL|)")
_BOOL = re.compile(r"(?:true|True|TRUE|false|False|FALSE)")
_INT = re.compile(r"[-+]?[0-9]{1,18}")
_OCTAL_OR_HEX = re.compile(r"0o[0-7]{1,20}|0x[0-9a-fA-F]{1,16}")
_FLOAT = re.compile(r"[-+]?(?:\.[0-9]+|[0-9]+(?:\.[0-9]*)?)(?:[eE][-+]?[0-9]+)?")


@dataclass(frozen=True, eq=False)
class Document:
    """A file's plain values and the place of each; no two are equal, so that one is looked up fast.

    Attributes:
        name: the file, as errors show it.
        data: dictionaries, lists, text, numbers, booleans and None.
        text: the file's content.
        values: line and column of each value, by its path.
        keys: line and column of each key, by the path of its value.
        kept: copies of files that it names, by their names in it; other files are read from beside it.
    """

    name: str
    data: JsonValue
    text: str
    values: Mapping[Path, tuple[int, int]]
    keys: Mapping[Path, tuple[int, int]]
    kept: Mapping[str, FilePath]

    def named_file(self, name: str) -> bytes:
        """Return the content of a file that this one names, by a path relative to this one's folder.

        Raises: OSError: it cannot be read.
        """
        return read_file(self.kept.get(name) or FilePath(self.name).parent / name)

    def files_below(self, folder: str) -> list[str]:
        """Return the files below a folder as `named_file` takes them, sorted; none where the folder is empty.

        Git repositories and folders with results of runs are skipped: both may be beside the files that an
        experiment names.

        Raises: OSError: there are too many.
        """
        prefix = "" if folder == "." else f"{folder}/"
        if self.kept:
            # A folder of results has copies only, without their folders.
            return sorted(name for name in self.kept if name.startswith(prefix))
        root, found = FilePath(self.name).parent, []
        for path, subfolders, names in os.walk(root / folder):
            if _RUN in names:
                subfolders.clear()
                continue
            subfolders[:] = sorted(name for name in subfolders if name != _REPOSITORY)
            found += [FilePath(path) / name for name in names if (FilePath(path) / name).is_file()]
            if len(found) > _FILES_MAX:
                raise OSError(errno.E2BIG, f"has more than {_FILES_MAX} files", folder)
        return sorted(posixpath.normpath(os.path.relpath(each, root)) for each in found)

    def under(self, key: str) -> Document:
        """Return a document with one key, whose value is this document's data."""
        place = self.values[()]
        values = {(): place} | {(key, *path): at for path, at in self.values.items()}
        keys = {(key,): place} | {(key, *path): at for path, at in self.keys.items()}
        return replace(self, data={key: self.data}, values=values, keys=keys)

    def with_value(self, key: str, value: JsonValue) -> Document:
        """Return the document whose mapping has another value for a key."""
        assert isinstance(self.data, dict)
        return replace(self, data={**self.data, key: value})

    def problem(self, path: Path, message: str, *, at_key: bool = False) -> Problem:
        """Return a problem at `path`, or at the nearest part of it that the file has."""
        while path and path not in self.values:
            path, at_key = path[:-1], True
        # Items of a list have no key; the value stands for it.
        line, column = (self.keys if at_key and path in self.keys else self.values)[path]
        return Problem(self.name, line, column, message)


def read_document(
    source: str | os.PathLike[str] | Traversable, kept: Mapping[str, FilePath] = MappingProxyType({})
) -> Document:
    """Read a YAML file.

    Raises: SpecErrors: the file cannot be read, is not UTF-8, or is not YAML.
    """
    name = str(source)
    try:
        # The catalogue may be in an archive; every other source is a path.
        if isinstance(source, str | os.PathLike):
            content = read_file(source, _BYTES_MAX)
        else:
            content = source.read_bytes()
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        raise SpecErrors([Problem(name, 0, 0, f"cannot be read: {reason}; name a YAML file")]) from None
    return parse_document(content, name, kept)


def parse_document(
    content: bytes, name: str, kept: Mapping[str, FilePath] = MappingProxyType({})
) -> Document:
    """Read YAML from bytes; `name` is the file that errors show.

    Raises: SpecErrors: not UTF-8, not YAML, or beyond the bounds on size and depth.
    """
    if len(content) > _BYTES_MAX:
        raise SpecErrors([Problem(name, 0, 0, f"has {len(content)} bytes; at most {_BYTES_MAX}")])
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        column = error.start - (content.rfind(b"\n", 0, error.start) + 1) + 1
        raise SpecErrors([Problem(name, line, column, "is not UTF-8; save it as UTF-8")]) from None
    reader = _Reader(name)
    try:
        root = _compose(text)
        data = reader.value(root, (), 0) if root is not None else None
    except MarkedYAMLError as error:
        mark = error.problem_mark or error.context_mark
        line, column = (mark.line + 1, mark.column + 1) if mark else (0, 0)
        message = f"is not YAML: {error.problem or error.context}"
        raise SpecErrors([Problem(name, line, column, message)]) from None
    except _Beyond as beyond:
        raise SpecErrors([Problem(name, beyond.line, beyond.column, str(beyond))]) from None
    except RecursionError:
        raise SpecErrors(
            [Problem(name, 1, 1, f"is nested too deeply; at most {_DEPTH_MAX} levels")]
        ) from None
    except (YAMLError, ValueError, KeyError, IndexError, AttributeError, TypeError, AssertionError) as error:
        # The parser raises other errors on some malformed inputs (bad escapes, stray directives).
        raise SpecErrors(
            [Problem(name, 1, 1, f"is not YAML: {str(error).splitlines()[0] if str(error) else error!r}")]
        ) from None
    reader.values.setdefault((), (1, 1))  # An empty file has no node at its root.
    if reader.problems:
        raise SpecErrors(reader.problems)
    return Document(name, data, text, reader.values, reader.keys, kept)


def document_of(data: Mapping[str, object], name: str) -> Document:
    """Return the document with the content `data`, without a file; its values have no lines and columns.

    Args:
        data: mappings, lists, text, numbers, booleans, None and paths.
        name: errors show it in place of a file.

    Raises:
        SpecErrors: beyond the bounds on size and depth.
        TypeError: a value of another type.
    """
    # JSON is YAML, except that two escapes may stand for one character.
    text = json.dumps(data, default=_as_json, ensure_ascii=False, indent=1) + "\n"
    document = parse_document(text.encode(), name)
    places = dict.fromkeys({*document.values, *document.keys}, (0, 0))
    return replace(document, values=places, keys=places)


def _as_json(value: object) -> object:
    if isinstance(value, Mapping):
        return dict(value)
    if isinstance(value, os.PathLike):
        return os.fspath(value)
    raise TypeError(
        f"{value!r}: a file cannot have a {type(value).__name__}; give text, a number, a list or a mapping"
    )


class _Beyond(Exception):
    """The text is beyond a bound; raised before the rest of it is read."""

    def __init__(self, event: Event, message: str) -> None:
        super().__init__(message)
        self.line, self.column = event.start_mark.line + 1, event.start_mark.column + 1


def _compose(text: str) -> Node | None:
    """Return the root of the text, or None where there is nothing.

    The parser written in C takes 0.1 s for 4 MiB, the one in Python 13 s. But the one in C
    reads YAML 1.1 only, where `[1:30]` is an error. Text that it refuses is given to the other one,
    unless that would take too long.
    """
    try:
        return _bounded(YAML(typ="safe"), text)
    except YAMLError:
        if len(text) > _SLOW_MAX:
            raise
        return _bounded(YAML(typ="safe", pure=True), text)


def _bounded(yaml: YAML, text: str) -> Node | None:
    _check_bounds(yaml.parse(text))
    root: Node | None = yaml.compose(text)
    return root


def _check_bounds(events: Iterator[Event]) -> None:
    """Raise where the text is too deep or has too many values, before values are built."""
    depth = count = 0
    for event in events:
        if isinstance(event, CollectionStartEvent):
            depth += 1
            if depth > _DEPTH_MAX:
                raise _Beyond(event, f"is nested too deeply; at most {_DEPTH_MAX} levels")
        elif isinstance(event, CollectionEndEvent):
            depth -= 1
        if isinstance(event, NodeEvent):
            count += 1
            # Keys are nodes, too, so a mapping has two nodes for each value.
            if count > 2 * _VALUES_MAX:
                raise _Beyond(event, f"has more than {_VALUES_MAX} values before this one; split the file")


class _Reader:
    """Turns the parser's nodes into plain values, noting places and problems on the way."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[Problem] = []
        self.values: dict[Path, tuple[int, int]] = {}
        self.keys: dict[Path, tuple[int, int]] = {}

    def value(self, node: Node, path: Path, depth: int) -> JsonValue:
        self.values[path] = _place(node)
        if depth > _DEPTH_MAX:
            raise RecursionError
        if len(self.values) > _VALUES_MAX:
            line, column = _place(node)
            message = f"has more than {_VALUES_MAX} values; split it or use fewer aliases"
            raise SpecErrors([Problem(self.name, line, column, message)])
        if str(node.tag) not in _PLAIN_TAGS:
            self._wrong(node, f'tag "{node.tag}" is unknown; remove tags')
            return None
        if isinstance(node, ScalarNode):
            return self._scalar(node)
        if isinstance(node, SequenceNode):
            return [self.value(item, (*path, index), depth + 1) for index, item in enumerate(node.value)]
        assert isinstance(node, MappingNode)
        return dict(self._entries(node, path, depth))

    def _entries(self, node: MappingNode, path: Path, depth: int) -> Iterator[tuple[str, JsonValue]]:
        for key_node, value_node in node.value:
            if not isinstance(key_node, ScalarNode):
                self._wrong(key_node, "a key must be text; write it as one word")
                continue
            key = str(key_node.value)
            if (*path, key) in self.keys:
                line = self.keys[(*path, key)][0]
                self._wrong(key_node, f'key "{key}" is given twice (first on line {line}); keep one')
                continue
            self.keys[(*path, key)] = _place(key_node)
            yield key, self.value(value_node, (*path, key), depth + 1)

    def _scalar(self, node: ScalarNode) -> JsonValue:
        text = str(node.value)
        if node.style:  # Quoted, literal or folded.
            return text
        if _NULL.fullmatch(text):
            return None
        if _BOOL.fullmatch(text):
            return text.lower() == "true"
        if _INT.fullmatch(text):
            return int(text)
        if _OCTAL_OR_HEX.fullmatch(text):
            return int(text, 0)
        # Infinity and not-a-number stay text: no quantity can be either.
        if _FLOAT.fullmatch(text) and len(text) <= 40:
            return float(text)
        return text

    def _wrong(self, node: Node, message: str) -> None:
        line, column = _place(node)
        self.problems.append(Problem(self.name, line, column, message))


def _place(node: Node) -> tuple[int, int]:
    return node.start_mark.line + 1, node.start_mark.column + 1
