"""Names with ranges in an Ansible inventory: `www[01:50].example.com`, `db-[a:f]`, `www[01:50:2]`."""

from __future__ import annotations

import re
from itertools import product

from crosswind.spec.quantities import shown
from crosswind.spec.testbed.inventory import MACHINES_MAX
from crosswind.spec.text_lines import LineError

_NUMBERS = re.compile(r"(?P<first>[0-9]{1,9}):(?P<last>[0-9]{1,9})(?::(?P<step>[0-9]{1,9}))?")
_LETTERS = re.compile(r"(?P<first>[a-zA-Z]):(?P<last>[a-zA-Z])(?::(?P<step>[0-9]{1,9}))?")


def names_of(pattern: str, line: int) -> list[str]:
    """Return the names that a pattern stands for; a name without brackets is one.

    Raises: LineError: a range is not valid.
    """
    pieces = re.split(r"\[([^\[\]]*)\]", pattern)
    if any(mark in piece for piece in pieces[::2] for mark in "[]"):
        raise LineError(line, f"{shown(pattern)} has a bracket without its other one; write www[01:50]")
    ranges = [_range(text, pattern, line) for text in pieces[1::2]]
    count = 1
    for values in ranges:
        count *= len(values)
        if count > MACHINES_MAX:
            raise LineError(
                line, f"{shown(pattern)} is more than {MACHINES_MAX} machines; name a part of them"
            )
    fixed = pieces[::2]
    return [
        fixed[0] + "".join(value + after for value, after in zip(values, fixed[1:], strict=True))
        for values in product(*ranges)
    ]


def _range(text: str, pattern: str, line: int) -> list[str]:
    numbers, letters = _NUMBERS.fullmatch(text), _LETTERS.fullmatch(text)
    match = numbers or letters
    if match is None:
        raise LineError(line, f"{shown(pattern)}: {shown(text)} is not a range; write [01:50] or [a:f]")
    step = int(match["step"] or 1)
    first, last = (
        (int(match["first"]), int(match["last"])) if numbers else (ord(match["first"]), ord(match["last"]))
    )
    if step == 0 or last < first:
        raise LineError(line, f"{shown(pattern)}: {shown(text)} has no value; write the smaller end first")
    if (last - first) // step >= MACHINES_MAX:
        raise LineError(line, f"{shown(pattern)} is more than {MACHINES_MAX} machines; name a part of them")
    width = len(match["first"])
    values = range(first, last + 1, step)
    return [str(value).zfill(width) if numbers else chr(value) for value in values]
