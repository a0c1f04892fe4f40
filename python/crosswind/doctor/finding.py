"""One check of this machine: its result, a verdict, and a remedy."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class FindingVerdict(StrEnum):
    """Whether the result is good enough for Crosswind."""

    OK = "ok"
    WARNING = "warning"  # Crosswind runs, but with fewer applications, less exactly, or slower.
    MISSING = "missing"  # Crosswind cannot run here without it.


# As rich prints them.
STYLES = {FindingVerdict.OK: "green", FindingVerdict.WARNING: "yellow", FindingVerdict.MISSING: "bold red"}


@dataclass(frozen=True)
class Finding:
    """One check; `remedy` is a sentence or a command, and empty only if the verdict is ok."""

    name: str
    verdict: FindingVerdict
    found: str
    remedy: str = ""


def ok(name: str, found: str) -> Finding:
    """Return a finding that needs no remedy."""
    return Finding(name, FindingVerdict.OK, found)


def warning(name: str, found: str, remedy: str) -> Finding:
    """Return a finding with which Crosswind runs with restrictions."""
    return Finding(name, FindingVerdict.WARNING, found, remedy)


def missing(name: str, found: str, remedy: str) -> Finding:
    """Return a finding with which Crosswind cannot run."""
    return Finding(name, FindingVerdict.MISSING, found, remedy)
