"""The version of a Debian package that this machine's package lists would install."""

import re
from functools import lru_cache

from crosswind.app.requirements.requirement import CannotInstall
from crosswind.app.requirements.tool import run_tool

# `apt-cache policy` prints a package's name in the first column and indents the lines below it.
_CANDIDATE = re.compile(r"^(?P<name>\S+):\n(?:  .*\n)*?  Candidate: (?P<version>\S+)$", re.MULTILINE)
_NONE = "(none)"


def parse_policy(printed: str) -> dict[str, str]:
    """Return name -> candidate version from the output of `apt-cache policy NAME...`.

    A package that the lists do not have is not in the output. One without a version, such as a virtual
    package, has the candidate `(none)`.
    """
    found = {match["name"]: match["version"] for match in _CANDIDATE.finditer(printed)}
    return {name: version for name, version in found.items() if version != _NONE}


@lru_cache
def candidates(packages: frozenset[str]) -> dict[str, str]:
    """Return name -> candidate version of those packages that this machine's lists have; takes a second.

    The result is empty on a machine without apt-cache.
    """
    try:
        # The parser reads English.
        said = run_tool(
            ["apt-cache", "policy", *sorted(packages)], wanted="versions", env={"LC_ALL": "C.UTF-8"}
        )
    except CannotInstall:
        return {}
    return parse_policy(said)
