"""Read GML, which the Internet Topology Zoo uses besides GraphML: keys with numbers, texts and lists.

Source: Himsolt 1997, "GML: A portable Graph File Format".
"""

from __future__ import annotations

import html
import re
from collections.abc import Iterator

from crosswind.spec.quantities import shown
from crosswind.spec.text_lines import LineError
from crosswind.spec.topology.drawing import Attribute, Drawing, DrawnEdge, DrawnNode, check_size

DEPTH_MAX = 32
_TOKEN = re.compile(
    r'(?P<space>\s+|^\#[^\n]*)|(?P<open>\[)|(?P<close>\])|"(?P<text>[^"]*)"'
    r"|(?P<number>[-+]?[0-9.][0-9.eE+-]*)|(?P<key>[A-Za-z_][A-Za-z0-9_]*)|(?P<other>\S+)",
    re.MULTILINE,
)

Token = tuple[str, str, int]  # Its kind, its text, its line.


def read_gml(content: bytes) -> Drawing:
    """Return the graph of a GML file.

    Raises: LineError: the first error, with its line.
    """
    check_size(content)
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError:
        text = content.decode("iso-8859-1")  # The character set of the format is older than UTF-8.
    tokens = _tokens(text)
    for kind, key, _ in tokens:
        if kind == "key" and key == "graph":
            _expect_list(tokens, key)
            return _graph(tokens).checked()
        _skip_value(tokens, key)
    raise LineError(0, "has no graph [ ... ]; name a GraphML or GML file of a network")


def _graph(tokens: Iterator[Token]) -> Drawing:
    drawing = Drawing()
    directed = False
    for kind, key, line in tokens:
        if kind == "close":
            break
        if key == "node":
            _expect_list(tokens, key)
            attributes = _attributes(tokens)
            drawing.add_node(DrawnNode(line, _needed(attributes, "id", key, line), attributes))
        elif key == "edge":
            _expect_list(tokens, key)
            attributes = _attributes(tokens)
            ends = [_needed(attributes, end, key, line) for end in ("source", "target")]
            drawing.add_edge(DrawnEdge(line, ends[0], ends[1], False, attributes))
        elif key == "directed":
            directed = next(tokens, ("", "0", 0))[1] == "1"
        else:
            _skip_value(tokens, key)
    for edge in drawing.edges:
        edge.is_directed = directed  # The key may come after the edges.
    return drawing


def _attributes(tokens: Iterator[Token]) -> dict[str, Attribute]:
    """Return the plain values of an opened list; lists in it are skipped."""
    found: dict[str, Attribute] = {}
    for kind, key, line in tokens:
        if kind == "close":
            return found
        if kind != "key":
            raise LineError(line, f"{shown(key)} is where a key is expected; write keys and values in turn")
        what, value, at = next(tokens, ("", "", line))
        if what == "open":
            _skip_list(tokens)
        elif what in ("text", "number"):
            found[key] = html.unescape(value) if what == "text" else _number(key, value, at)
        else:
            raise LineError(at, f"{key} has no value; write a number, or a text in quotes")
    raise LineError(0, "ends inside a list; close it with ]")


def _number(key: str, text: str, line: int) -> float:
    try:
        return int(text) if text.lstrip("+-").isdigit() and len(text) < 20 else float(text)
    except ValueError:
        raise LineError(
            line, f"{key} {shown(text)} is not a number; write one, or a text in quotes"
        ) from None


def _needed(attributes: dict[str, Attribute], name: str, key: str, line: int) -> str:
    if name not in attributes:
        raise LineError(line, f"has a {key} without {name}; add it")
    return str(attributes[name])


def _expect_list(tokens: Iterator[Token], key: str) -> None:
    kind, text, line = next(tokens, ("", "", 0))
    if kind != "open":
        raise LineError(line, f"{key} is followed by {shown(text)}; write {key} [ ... ]")


def _skip_value(tokens: Iterator[Token], key: str) -> None:
    kind, _, line = next(tokens, ("", "", 0))
    if kind == "open":
        _skip_list(tokens)
    elif kind not in ("text", "number"):
        raise LineError(line, f"{shown(key)} has no value; name a GraphML or GML file")


def _skip_list(tokens: Iterator[Token]) -> None:
    depth = 1
    for kind, _, line in tokens:
        depth += (kind == "open") - (kind == "close")
        if depth == 0:
            return
        if depth > DEPTH_MAX:
            raise LineError(line, f"is nested too deeply; at most {DEPTH_MAX} levels")
    raise LineError(0, "ends inside a list; close it with ]")


def _tokens(text: str) -> Iterator[Token]:
    line = 1
    for match in _TOKEN.finditer(text):
        kind = match.lastgroup or ""
        if kind == "other":
            raise LineError(line, f"{shown(match[0])} is neither a key, a number, a text nor a list")
        if kind != "space":
            yield kind, match[kind], line
        line += match[0].count("\n")
