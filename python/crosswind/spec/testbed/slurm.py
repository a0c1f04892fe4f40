"""Read a Slurm node list, such as `node[01-04,07],login1`, which SLURM_JOB_NODELIST has.

Several brackets in one name give every combination, the last one changing fastest; leading zeros are kept.

Source: Slurm's scontrol(1), `show hostnames`.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.testbed.inventory import MACHINES_MAX
from crosswind.spec.testbed.machine_name import check_machine_name

_RANGE = re.compile(r"(?P<first>[0-9]{1,9})(?:-(?P<last>[0-9]{1,9}))?")


def read_node_list(text: str) -> list[str]:
    """Return the names of a node list, in its order.

    Raises: QuantityError: it is none; the message starts with it, and says at which character.
    """
    names: dict[str, int] = {}
    for start, part in _parts(text):
        for name in _names(text, start, part):
            try:
                check_machine_name(name)
            except QuantityError as error:
                raise _wrong(text, start, str(error)) from None
            if name in names:
                raise _wrong(text, start, f"{shown(name)} is listed twice; list it once")
            names[name] = start
            if len(names) > MACHINES_MAX:
                raise _wrong(text, start, f"there are more than {MACHINES_MAX} nodes; name a part of them")
    return list(names)


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Yield what commas outside of brackets separate, and where each begins."""
    start, bracket = 0, None
    for at, character in enumerate(text):
        if character == "[":
            if bracket is not None:
                raise _wrong(text, at, "a bracket is opened inside another; close the first with ]")
            bracket = at
        elif character == "]":
            if bracket is None:
                raise _wrong(text, at, "a bracket is closed that was not opened; write [01-04]")
            bracket = None
        elif character == "," and bracket is None:
            yield start, text[start:at]
            start = at + 1
    if bracket is not None:
        raise _wrong(text, bracket, "the bracket is not closed; write ] after the numbers")
    yield start, text[start:]


def _names(text: str, start: int, part: str) -> Iterator[str]:
    """Yield the names that one part stands for."""
    if not part:
        raise _wrong(text, start, "a name is missing; write names with a comma between two")
    pieces = re.split(r"\[([^\]]*)\]", part)
    prefixes, at = [pieces[0]], start + len(pieces[0]) + 1
    for numbers, after in zip(pieces[1::2], pieces[2::2], strict=True):
        found = list(_numbers(text, at, numbers))
        if len(prefixes) * len(found) > MACHINES_MAX:
            raise _wrong(text, at, f"there are more than {MACHINES_MAX} nodes; name a part of them")
        prefixes = [f"{prefix}{number}{after}" for prefix in prefixes for number in found]
        at += len(numbers) + len(after) + 2
    yield from prefixes


def _numbers(text: str, at: int, numbers: str) -> Iterator[str]:
    """Yield what is between two brackets."""
    for item in numbers.split(","):
        match = _RANGE.fullmatch(item)
        if match is None:
            raise _wrong(text, at, f"{shown(item)} is neither a number nor a range; write 01-04")
        first, last = match["first"], match["last"] or match["first"]
        if int(last) < int(first):
            raise _wrong(text, at, f"{shown(item)} ends before it begins; write the smaller number first")
        if int(last) - int(first) >= MACHINES_MAX:
            raise _wrong(text, at, f"{shown(item)} has more than {MACHINES_MAX} nodes; name a part of them")
        yield from (str(number).zfill(len(first)) for number in range(int(first), int(last) + 1))
        at += len(item) + 1


def _wrong(text: str, at: int, message: str) -> QuantityError:
    return QuantityError(f"{shown(text)} is not a Slurm node list, at character {at + 1}: {message}")
