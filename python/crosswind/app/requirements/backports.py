"""The backports of a release of Debian, from the mirror that this machine uses for the release itself.

Every mirror has the backports beside their release, signed with the same keys. apt installs from them only
what the release does not have: their priority is 100, that of a release is 500.

Source: sources.list(5); apt_preferences(5), "APT's Default Priority Assignments".
"""

import re
import shlex
from dataclasses import dataclass
from pathlib import Path

from crosswind.app.requirements.requirement import CannotInstall
from crosswind.app.requirements.tool import run_tool

_TARGET_FORMAT = "$(REPO_URI) $(RELEASE) $(COMPONENT) $(SOURCESENTRY)"
# One-line entries have an option for their keys, stanzas have a field. The field may contain a key itself,
# which a line cannot; without the option, apt uses the keys that it trusts for every source.
_KEYS_OPTION = re.compile(r"^deb\s+\[[^\]]*\bsigned-by=(?P<keys>[^\s\]]+)", re.IGNORECASE)
_KEYS_FIELD = re.compile(r"^Signed-By:[ \t]*(?P<keys>[/\w][^\n]*)$", re.IGNORECASE | re.MULTILINE)


@dataclass(frozen=True)
class Backports:
    """A source of packages that this machine does not use.

    Attributes:
        suite: such as `bookworm-backports`.
        line: the line of a `sources.list` that adds it.
    """

    suite: str
    line: str


@dataclass(frozen=True)
class Target:
    """Packages of a suite among this machine's sources; `entry` is `file:number` of the source."""

    uri: str
    suite: str
    component: str
    entry: str


def backports_of(release: str) -> Backports | None:
    """Return the backports of a release; None if this machine has another release, or has them already.

    Args:
        release: its name in the sources of this machine, such as `bookworm`.
    """
    wanted = f"backports of {release}"
    # Without the package lists, because a fresh image has none.
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
    """Return the targets that `apt-get indextargets` printed: a line for each architecture of a target."""
    return [Target(*line.split(" ", 3)) for line in printed.splitlines()]


def target_of(targets: list[Target], release: str) -> Target | None:
    """Return the source from which this machine has a release; None if backports must not be added.

    Other distributors may also name a suite after a release, but only Debian has `-updates` beside it.
    """
    suites = {(target.uri, target.suite) for target in targets}
    if any(suite == f"{release}-backports" for _, suite in suites):
        return None
    own = [target for target in targets if target.suite == release and target.component == "main"]
    own.sort(key=lambda target: (target.uri, f"{release}-updates") not in suites)
    return own[0] if own else None


def parse_keys(sources: str, number: int, *, one_line: bool) -> str:
    """Return the keys of an entry in a file of sources, as the option of a line; empty if it has none.

    Args:
        sources: the content of the file.
        number: of a line if `one_line`, else of a stanza, from 1; comments alone do not make a stanza.
    """
    if one_line:
        found = _KEYS_OPTION.search(sources.splitlines()[number - 1])
    else:
        said = re.sub(r"^#.*\n", "", sources, flags=re.MULTILINE)
        found = _KEYS_FIELD.search(re.split(r"\n\s*\n", said.strip())[number - 1])
    return re.sub(r"[\s,]+", ",", found["keys"].strip()) if found else ""


def sources_with(backports: Backports) -> str:
    """Return a replacement for this machine's `sources.list`: its content and the backports."""
    said = run_tool(["apt-config", "shell", "FILE", "Dir::Etc::sourcelist/f"], wanted=backports.suite)
    # FILE='/etc/apt/sources.list'
    own = Path(shlex.split(said)[0].partition("=")[2])
    return f"{own.read_text() if own.is_file() else ''}\n{backports.line}\n"
