"""Rules for the names of hosts, nodes, conditions and experiments.

Names become parts of file names, so their length is limited. The longest file name of a run is that of a
trial's table while it is written. `CONDITION_MAX` leaves room for the other parts of that file name
(tests/spec/test_names.py).
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
        noun: the kind of thing that has the name, with its article.
        pattern: must match the name; it does not limit the length.
        rule: the pattern in words, which follow "up to `longest`" in the error.
        longest: characters.
    """
    form = re.compile(pattern)

    def check(name: str) -> str:
        if not form.fullmatch(name):
            raise QuantityError(f"{shown(name)} is not a valid name for {noun}; use up to {longest} {rule}")
        if len(name) > longest:
            raise QuantityError(
                f"{shown(name)} has {len(name)} characters; a name for {noun} has at most {longest}: "
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
