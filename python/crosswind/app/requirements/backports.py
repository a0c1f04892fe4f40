"""The backports of a release of Debian, from the mirror that this machine has for the release itself.

Backports lie on every mirror, beside their release and signed by the same keys. apt takes from there only
what the release does not have: their priority is 100, that of a release 500.

Source: sources.list(5); apt_preferences(5), "APT's Default Priority Assignments".
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.requirements.requirement import CannotInstall
from crosswind.app.requirements.tool import run_tool

_TARGET_FORMAT = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(SOURCESENTRY)"
# One-line entries have an option for their keys, the others a field. A key may also be written into the field
# itself, which no line can hold; apt then takes those that it trusts for every source.
_KEYS_OPTION = re.compile(r"^deb\s+\[[^\]]*\bsigned-by=(?P<keys>[^\s\]]+)", re.IGNORECASE)
_KEYS_FIELD = re.compile(r"^Signed-By:[ \t]*(?P<keys>[/\w][^\n]*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Backports:
    """A source of packages that this machine does not have.

    Attributes:
        suite: such as `bookworm-backports`.
        line: that adds it to a `sources.list`.
    """

    suite: str
    line: str


@dataclass(frozen=True)
class Target:
    """Packages of a suite that this machine's sources have; `entry` is `file:number` of such a source."""

    uri: str
    suite: str
    component: str
    entry: str


def backports_of(release: str) -> Backports | None:
    """Return the backports of a release, or None where this machine has other releases or has them already.

    Args:
        release: by the name that the sources of this machine call it, such as `bookworm`.
    """
    wanted = f"backports of {release}"
    # Without what the lists say: a fresh image has none.
    ask = ["apt-get", "indextargets", "--no-release-info", "--format", _TARGET_FORMAT, "Created-By: Packages"]
    try:
        target = target_of(parse_targets(run_tool(ask, wanted=wanted)), release)
    except CannotInstall:
        return None
    if target is None:
        return None
    file, _, number = target.entry.rpartition(":")
    keys = parse_keys(Path(file).read_text(), int(number), one_line=not file.endswith(".sources"))
    signed = f"[signed-by={keys}] " if keys else ""
    suite = f"{release}-backports"
    return Backports(suite, f"deb {signed}{target.uri} {suite} {target.component}")


def parse_targets(printed: str) -> list[Target]:
    """Return what `apt-get indextargets` printed, one line for each architecture of a target."""
    return [Target(*line.split(" ", 3)) for line in printed.splitlines()]


def target_of(targets: list[Target], release: str) -> Target | None:
    """Return where this machine has a release itself from, or None where backports are not to be added.

    Others than Debian may call a suite of theirs by its release; only Debian has its updates beside it.
    """
    suites = {(target.uri, target.suite) for target in targets}
    if any(suite == f"{release}-backports" for _, suite in suites):
        return None
    own = [target for target in targets if target.suite == release and target.component == "main"]
    own.sort(key=lambda target: (target.uri, f"{release}-updates") not in suites)
    return own[0] if own else None


def parse_keys(sources: str, number: int, *, one_line: bool) -> str:
    """Return what an entry of a file of sources is signed by, as the option of a line; empty where unsaid.

    Args:
        sources: the content of the file.
        number: of a line if `one_line`, else of a stanza, from 1; comments alone are no stanza.
    """
    if one_line:
        found = _KEYS_OPTION.search(sources.splitlines()[number - 1])
    else:
        said = re.sub(r"^#.*\n", "", sources, flags=re.MULTILINE)
        found = _KEYS_FIELD.search(re.split(r"\n\s*\n", said.strip())[number - 1])
    return re.sub(r"[\s,]+", ",", found["keys"].strip()) if found else ""


def sources_with(backports: Backports) -> str:
    """Return what stands in the place of this machine's own `sources.list`: that, and the backports."""
    said = run_tool(["apt-config", "shell", "FILE", "Dir::Etc::sourcelist/f"], wanted=backports.suite)
    # FILE='/etc/apt/sources.list'
    own = Path(shlex.split(said)[0].partition("=")[2])
    return f"{own.read_text() if own.is_file() else ''}\n{backports.line}\n"
