"""What hosts, nodes, conditions and experiments may be called."""

from __future__ import annotations

import re
from collections.abc import Callable

from crosswind.spec.quantities import QuantityError, shown


def name_rule(noun: str, pattern: str, rule: str) -> Callable[[str], str]:
    """Return a validator of names: `noun` with its article, the pattern, and the pattern in words."""
    form = re.compile(pattern)

    def check(name: str) -> str:
        if not form.fullmatch(name):
            raise QuantityError(f"{shown(name)} is no name for {noun}; use {rule}")
        return name

    return check
