"""Read files of variables (`.env`, `env_file`). Pure functions.

Source: the Compose Specification, "env_file format": NAME=VALUE or NAME: VALUE; # begins a comment, after an
unquoted value only after a space; single quotes are literal, double quotes allow \\n, \\r, \\t, \\" and \\\\;
quoted values may have several lines; variables are replaced except in single quotes. python-dotenv and
others support neither the colon nor the error and alternative forms.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from crosswind.app.compose.interpolate import Unset, interpolated
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.text_lines import LineError

_BEGIN = re.compile(r"[ \t]*(?:export[ \t]+)?(?P<name>[^\s=:#'\"]+)[ \t]*(?P<sign>[=:]?)[ \t]*")
_ESCAPE = re.compile(r"\\([nrt\"\\$])")
_ESCAPED = {"n": "\n", "r": "\r", "t": "\t", '"': '"', "\\": "\\", "$": "$$"}
_QUOTED = {"'": re.compile(r"'([^']*)'"), '"': re.compile(r'"((?:[^"\\]|\\.)*)"', re.DOTALL)}
_REST = re.compile(r"[ \t]*(?:#[^\n]*)?(?=\n|\Z)")
_COMMENT = re.compile(r"(?:^|[ \t]+)#.*")


def read_variables(content: bytes, values: Mapping[str, str], unset: Unset) -> dict[str, str | None]:
    """Return the variables of a file; None for a name without a value.

    Args:
        values: variables that values of the file may use, besides those above them in the file.

    Raises: LineError: the file is not UTF-8, or a line is not a variable.
    """
    try:
        text = content.decode("utf-8-sig").replace("\r\n", "\n")
    except UnicodeDecodeError as error:
        raise LineError(content.count(b"\n", 0, error.start) + 1, "is not UTF-8; save it as UTF-8") from None
    found: dict[str, str | None] = {}
    at = 0
    while at < len(text):
        end = text.find("\n", at)
        end = len(text) if end < 0 else end
        line = text[at:end].strip()
        if not line or line.startswith("#"):
            at = end + 1
            continue
        number = text.count("\n", 0, at) + 1
        match = _BEGIN.match(text, at, end)
        if match is None:
            raise LineError(number, f"{shown(line)} is not a variable; write NAME=VALUE")
        known = {name: value for name, value in found.items() if value is not None} | dict(values)
        try:
            found[match["name"]], at = _value(text, match, end, known, unset)
        except QuantityError as error:
            raise LineError(number, str(error)) from None
    return found


def _value(
    text: str, begin: re.Match[str], end: int, values: Mapping[str, str], unset: Unset
) -> tuple[str | None, int]:
    """Return the value of a line, and the position of the next line."""
    if not begin["sign"]:
        if begin.end() < end and not text.startswith("#", begin.end()):
            raise QuantityError(f"{shown(text[begin.start() : end].strip())} has no =; write NAME=VALUE")
        return None, end + 1
    quote = text[begin.end() : begin.end() + 1]
    if quote not in _QUOTED or not quote:
        written = _COMMENT.sub("", text[begin.end() : end]).strip()
        return interpolated(written, values, unset), end + 1
    match = _QUOTED[quote].match(text, begin.end())
    if match is None:
        raise QuantityError(f"{begin['name']} has a value without its closing {quote}; add it")
    rest = _REST.match(text, match.end())
    if rest is None:
        raise QuantityError(f"{begin['name']} has text after its closing {quote}; remove it")
    if quote == "'":
        return match[1], rest.end() + 1
    written = _ESCAPE.sub(lambda found: _ESCAPED[found[1]], match[1])
    return interpolated(written, values, unset), rest.end() + 1
