"""A program that only the user can bring: no registry that Crosswind uses has it."""

import shutil
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements.checksum import identity
from crosswind.app.requirements.requirement import CannotInstall, Program, Requirement
from crosswind.testbed.errors import NotHere


@dataclass(frozen=True)
class OnPath(Requirement):
    """A program on PATH.

    Args:
        name: the program, such as `mongod`.
        how: what a user has to do to get it, such as `install MongoDB, so that mongod is on PATH`.
    """

    name: str
    how: str
    installable: ClassVar[bool] = False

    def missing(self) -> list[str]:
        return [] if shutil.which(self.name) else [f"{self.name}: not on PATH"]

    def commands(self) -> list[str]:
        return []

    def remedy(self, install: str) -> str:
        return self.how

    def install(self, say: Callable[[str], None]) -> None:
        if self.missing():
            raise CannotInstall(f"{self.name}: not on PATH, and Crosswind cannot bring it; {self.how}")

    def versions(self) -> dict[str, str]:
        return {self.name: identity(self.program().path)}

    def program(self) -> Program:
        """Return the program.

        Raises: NotHere: it is missing; says what brings it.
        """
        path = shutil.which(self.name)
        if path is None:
            raise NotHere(f"{self.name}: not on PATH; {self.how}")
        return Program(Path(path), {})
