"""What hosts, nodes, conditions and experiments may be called."""

from __future__ import annotations

import re
from collections.abc import Callable

from crosswind.spec.quantities import QuantityError, shown


def name_rule(noun: str, pattern: str, rule: str) -> Callable[[str], str]:
    """Return a validator that accepts names matching `pattern`; `rule` says the pattern in words."""
    form = re.compile(pattern)

    def check(name: str) -> str:
        if not form.fullmatch(name):
            raise QuantityError(f"{shown(name)} is not a name for a {noun}; use {rule}")
        return name

    return check
