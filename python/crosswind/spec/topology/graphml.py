"""Read GraphML: nodes, edges and typed attributes; no nested graphs, no hyperedges, no document type.

Source: Brandes et al. 2002, "GraphML Progress Report", and the primer at graphml.graphdrawing.org. Entities
are refused: a few lines of them expand to more than the machine's memory.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NoReturn
from xml.parsers import expat

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError
from crosswind.spec.topology.drawing import Attribute, Drawing, DrawnEdge, DrawnNode, check_size

_NUMBERS = ("int", "long", "float", "double")
_TRUTH = {"true": True, "1": True, "false": False, "0": False}


@dataclass
class _Key:
    """The declaration of an attribute."""

    name: str
    kind: str
    domain: str
    line: int
    default: str | None = None


def read_graphml(content: bytes) -> Drawing:
    """Return the graph of a GraphML file.

    Raises: LineError: the first error, with its line.
    """
    check_size(content)
    reader = _Reader()
    try:
        reader.parser.Parse(content, True)
    except expat.ExpatError as error:
        text = expat.errors.messages[error.code]
        raise LineError(error.lineno, f"is not XML ({text}); save the graph as GraphML again") from None
    return reader.drawing.checked()


class _Reader:
    def __init__(self) -> None:
        self.drawing = Drawing()
        self.parser = expat.ParserCreate()
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._characters
        self.parser.StartDoctypeDeclHandler = self._refuse_doctype
        self.parser.EntityDeclHandler = self._refuse_doctype
        self._keys: dict[str, _Key] = {}
        self._directed: bool | None = None
        self._current: DrawnNode | DrawnEdge | None = None
        self._key: _Key | None = None  # The key whose data or default is being read.
        self._in_default = False
        self._text: list[str] = []
        self._data_line = 0
        self._depth = 0

    @property
    def _line(self) -> int:
        return self.parser.CurrentLineNumber

    def _fail(self, message: str, line: int | None = None) -> NoReturn:
        raise LineError(self._line if line is None else line, message)

    def _refuse_doctype(self, *_: object) -> None:
        self._fail("declares a document type or an entity, which is not supported; remove it")

    def _start(self, tag: str, given: dict[str, str]) -> None:
        name = tag.rsplit(":", 1)[-1]
        self._depth += 1
        if self._depth == 1 and name != "graphml":
            self._fail(
                f"is XML that begins with {shown(name)} and not with graphml; save the graph as GraphML"
            )
        match name:
            case "key":
                self._declare(given)
            case "default":
                self._text, self._in_default = [], True
            case "graph":
                self._begin_graph(given)
            case "node":
                self._current = DrawnNode(self._line, self._needed(given, "id", name))
                self.drawing.add_node(self._current)
            case "edge":
                directed = given.get("directed")
                self._current = DrawnEdge(
                    self._line,
                    self._needed(given, "source", name),
                    self._needed(given, "target", name),
                    bool(self._directed) if directed is None else directed == "true",
                )
                self.drawing.add_edge(self._current)
            case "hyperedge":
                self._fail("is a hyperedge, which joins any number of nodes; a link joins two: write edges")
            case "data" if self._current is not None:
                key = self._needed(given, "key", name)
                if key not in self._keys:
                    self._fail(f"has data of {shown(key)}, which no <key> declares; declare it")
                self._key, self._text, self._data_line = self._keys[key], [], self._line

    def _needed(self, given: dict[str, str], attribute: str, tag: str) -> str:
        if not given.get(attribute):
            self._fail(f"has a <{tag}> without {attribute}; add it")
        return given[attribute]

    def _declare(self, given: dict[str, str]) -> None:
        identity = self._needed(given, "id", "key")
        kind = given.get("attr.type", "string")
        self._key = _Key(given.get("attr.name", identity), kind, given.get("for", "all"), self._line)
        self._keys[identity] = self._key

    def _begin_graph(self, given: dict[str, str]) -> None:
        if self._directed is not None:
            self._fail("has a second graph; a network has one: remove the others")
        default = given.get("edgedefault", "undirected")
        if default not in ("directed", "undirected"):
            self._fail(f"edgedefault {shown(default)} must be directed or undirected")
        self._directed = default == "directed"

    def _characters(self, text: str) -> None:
        if self._key is not None:
            self._text.append(text)

    def _end(self, tag: str) -> None:
        self._depth -= 1
        match tag.rsplit(":", 1)[-1]:
            case "default" if self._key is not None:
                self._key.default, self._in_default = "".join(self._text).strip(), False
            case "key":
                self._key = None
            case "data":
                if self._key is not None and self._current is not None:
                    text = "".join(self._text).strip()
                    self._current.attributes[self._key.name] = _read(self._key, text, self._data_line)
                self._key = None
            case "node" | "edge" as name if self._current is not None:
                for key in self._keys.values():
                    if key.default is not None and key.domain in (name, "all"):
                        value = _read(key, key.default, key.line)
                        self._current.attributes.setdefault(key.name, value)
                self._current = None


def _read(key: _Key, text: str, line: int) -> Attribute:
    """Return a value of its declared type."""
    if key.kind in _NUMBERS:
        try:
            return float(text) if key.kind in ("float", "double") else int(text)
        except (ValueError, OverflowError):
            message = f"{key.name} {shown(text)} is not of its declared type {key.kind}; write a number"
            raise LineError(line, message) from None
    if key.kind == "boolean":
        if text.lower() not in _TRUTH:
            message = f"{key.name} {shown(text)} is not of its declared type boolean; write true or false"
            raise LineError(line, message)
        return _TRUTH[text.lower()]
    return text
