"""Nodes of one role, distinguished by a number: rank0, rank1 and so on."""

import re
from collections.abc import Collection


def numbered(role: str, nodes: Collection[str]) -> list[str]:
    """Return the nodes called `role` and a number, in the order of the numbers."""
    own = [node for node in nodes if re.fullmatch(rf"{role}(0|[1-9][0-9]*)", node)]
    return sorted(own, key=lambda node: int(node.removeprefix(role)))


def first_missing(role: str, nodes: Collection[str], least: int) -> list[str]:
    """Return the names that are missing in the sequence from 0 of at least `least` nodes."""
    found = numbered(role, nodes)
    length = max(least, int(found[-1].removeprefix(role)) + 1 if found else 0)
    return [name for name in (f"{role}{number}" for number in range(length)) if name not in found]
