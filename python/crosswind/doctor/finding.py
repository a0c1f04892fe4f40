"""One thing that was looked at: what was found, whether it will do, and what to do if not."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """Whether it will do."""

    OK = "ok"
    WARNING = "warning"  # Crosswind runs, with less: fewer applications, less exact, slower.
    MISSING = "missing"  # Crosswind cannot run here without it.


@dataclass(frozen=True)
class Finding:
    """`remedy` is a sentence or a command, and empty exactly when the verdict is ok."""

    name: str
    verdict: Verdict
    found: str
    remedy: str = ""


def ok(name: str, found: str) -> Finding:
    """Return a finding that asks for nothing."""
    return Finding(name, Verdict.OK, found)


def warning(name: str, found: str, remedy: str) -> Finding:
    """Return a finding with which Crosswind runs, but with less."""
    return Finding(name, Verdict.WARNING, found, remedy)


def missing(name: str, found: str, remedy: str) -> Finding:
    """Return a finding with which Crosswind cannot run."""
    return Finding(name, Verdict.MISSING, found, remedy)
