"""Rules for the names of hosts, nodes, switches and zones."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Collection
from typing import Annotated

from pydantic import AfterValidator

from crosswind.spec.names import name_rule

HOST_MAX = 15
SWITCH_MAX = 48

# Without a hyphen, so that `h0-h1` is always a pair.
HostName = Annotated[
    str,
    AfterValidator(
        name_rule("a host", r"[a-z][a-z0-9]*", "letters and digits, lower case, a letter first", HOST_MAX)
    ),
]
NodeName = Annotated[
    str,
    AfterValidator(
        name_rule(
            "a node",
            r"(?!noise-)[a-z]([a-z0-9-]*[a-z0-9])?",
            "lower-case letters, digits and inner hyphens, a letter first, not noise- first",
            32,
        )
    ),
]
# A hyphen at the end would make `a->b` ambiguous, and a slash the names of elements.
_SWITCH = r"[A-Za-z0-9]([A-Za-z0-9._-]*[A-Za-z0-9])?"
_SWITCH_RULE = "letters, digits and inner dots, hyphens and underscores"
SwitchName = Annotated[str, AfterValidator(name_rule("a switch", _SWITCH, _SWITCH_RULE, SWITCH_MAX))]
ZoneName = Annotated[str, AfterValidator(name_rule("a zone", _SWITCH, _SWITCH_RULE, SWITCH_MAX))]


def as_name(text: str) -> str:
    """Return a valid name (`Sao-Paulo`) for a label of a file (`São Paulo`); it may be empty."""
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return re.sub(r"[^A-Za-z0-9._]+", "-", plain).strip("._-")[:SWITCH_MAX].rstrip("._-")


def free_hosts(count: int, taken: Collection[str]) -> list[str]:
    """Return `count` names of hosts (h0, h1 and so on) that are not taken."""
    found: list[str] = []
    number = 0
    while len(found) < count:
        if (name := f"h{number}") not in taken:
            found.append(name)
        number += 1
    return found
