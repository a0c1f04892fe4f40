"""Replace variables by their values: `${TAG}`, with a default, an error or an alternative. Pure functions.

Source: the Compose Specification, "Interpolation": `$NAME`, `${NAME}`, `${NAME:-default}`, `${NAME-default}`,
`${NAME:?error}`, `${NAME?error}`, `${NAME:+alternative}`, `${NAME+alternative}`; with a colon an empty value
counts as absent. The text after the operator may have variables. `$$` is a dollar sign.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from crosswind.spec.quantities import QuantityError, shown

_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
_OPERATOR = re.compile(r":?[-?+]")
# Far more than people write by hand; each level is a call.
_DEPTH_MAX = 20

Unset = Callable[[str], None]


def interpolated(text: str, values: Mapping[str, str], unset: Unset) -> str:
    """Return `text` with its variables replaced by their values.

    Args:
        unset: called with each variable that has no value and no default; it becomes an empty text.

    Raises: QuantityError: a dollar sign does not begin a variable, or a required variable has no value.
    """
    return _Template(text, values, unset).all()


class _Template:
    def __init__(self, text: str, values: Mapping[str, str], unset: Unset) -> None:
        self._text = text
        self._values = values
        self._unset = unset
        self._at = 0

    def all(self) -> str:
        return self._until("", 0, is_used=True)

    def _until(self, end: str, depth: int, *, is_used: bool) -> str:
        """Return the text up to `end`, which is skipped; without `is_used`, variables need no values."""
        if depth > _DEPTH_MAX:
            raise QuantityError(f"{shown(self._text)} has variables nested deeper than {_DEPTH_MAX}")
        found: list[str] = []
        while self._at < len(self._text):
            letter = self._text[self._at]
            if letter == end:
                self._at += 1
                return "".join(found)
            if letter != "$":
                self._at += 1
                found.append(letter)
                continue
            found.append(self._variable(depth, is_used=is_used))
        if end:
            raise QuantityError(f"{shown(self._text)} has a variable without its closing brace; add }}")
        return "".join(found)

    def _variable(self, depth: int, *, is_used: bool) -> str:
        self._at += 1
        if self._text.startswith("$", self._at):
            self._at += 1
            return "$"
        is_braced = self._text.startswith("{", self._at)
        self._at += is_braced
        match = _NAME.match(self._text, self._at)
        if match is None:
            raise QuantityError(
                f"{shown(self._text)} has a dollar sign that begins no variable; write $$ for a dollar sign"
            )
        self._at = match.end()
        name = match[0]
        if not is_braced:
            return self._plain(name, is_used=is_used)
        if self._text.startswith("}", self._at):
            self._at += 1
            return self._plain(name, is_used=is_used)
        operator = _OPERATOR.match(self._text, self._at)
        if operator is None:
            raise QuantityError(
                f"{shown(self._text)} has an unknown form of a variable; write ${{{name}}}, "
                f"${{{name}:-default}}, ${{{name}:?error}} or ${{{name}:+alternative}}"
            )
        self._at = operator.end()
        return self._with_operator(name, operator[0], depth, is_used=is_used)

    def _plain(self, name: str, *, is_used: bool) -> str:
        if name not in self._values and is_used:
            self._unset(name)
        return self._values.get(name, "")

    def _with_operator(self, name: str, operator: str, depth: int, *, is_used: bool) -> str:
        value = self._values.get(name)
        is_set = bool(value) if operator[0] == ":" else value is not None
        takes_other = is_set == (operator[-1] == "+")
        other = self._until("}", depth + 1, is_used=is_used and takes_other)
        if operator[-1] == "?":
            if not is_set and is_used:
                why = f": {other}" if other else ""
                raise QuantityError(
                    f"needs a value for {name}{why}; write {name}=VALUE into .env beside the file, "
                    f"or variables: {{{name}: VALUE}} into the experiment"
                )
            return value or ""
        if operator[-1] == "+":
            return other if is_set else ""
        return (value or "") if is_set else other
