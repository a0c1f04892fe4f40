"""What hosts, nodes, conditions and experiments may be called.

Names become parts of file names, so each has a greatest length. The longest file name that a run makes is
that of a trial's table while it is written; `CONDITION_MAX` leaves room for what stands around the
condition's name there (tests/spec/test_names.py).
"""

from __future__ import annotations

import re
from collections.abc import Callable

from crosswind.spec.quantities import QuantityError, shown

NAME_BYTES_MAX = 255  # NAME_MAX of Linux.
CONDITION_MAX = 160


def name_rule(noun: str, pattern: str, rule: str, longest: int) -> Callable[[str], str]:
    """Return a validator of names.

    Args:
        noun: what is named, with its article.
        pattern: what a name matches, whatever its length.
        rule: the pattern in words, which follow "up to `longest`".
        longest: characters.
    """
    form = re.compile(pattern)

    def check(name: str) -> str:
        if not form.fullmatch(name):
            raise QuantityError(f"{shown(name)} is no name for {noun}; use up to {longest} {rule}")
        if len(name) > longest:
            raise QuantityError(
                f"{shown(name)} has {len(name)} characters, and a name for {noun} has {longest} at most; "
                "shorten it"
            )
        return name

    return check


condition_name = name_rule(
    "a condition",
    r"[a-z0-9][a-z0-9._-]*(/[a-z0-9][a-z0-9._-]*)*",
    "of a-z, 0-9, hyphen, dot, underscore, slash",
    CONDITION_MAX,
)
