"""Errors of a file: each with its place, all of them together."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crosswind.errors import CrosswindError, Exit


@dataclass(frozen=True, order=True)
class Problem:
    """One error. `line` and `column` count from 1; they are 0 where there is no text."""

    file: str
    line: int
    column: int
    message: str  # Names thing, value, rule and remedy.

    def __str__(self) -> str:
        place = f"{self.file}:{self.line}:{self.column}" if self.line else self.file
        return f"{place}: {self.message}"


class SpecErrors(CrosswindError):
    """A file has errors. Holds all of them, in the order of the text."""

    exit = Exit.USAGE
    names_its_place = True

    def __init__(self, problems: Sequence[Problem]) -> None:
        self.problems = sorted(set(problems))
        super().__init__("\n".join(str(problem) for problem in self.problems))
