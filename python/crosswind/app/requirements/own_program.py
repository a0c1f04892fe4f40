"""One of Crosswind's own programs, installed with the package or built beside it."""

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements.checksum import sha256
from crosswind.app.requirements.requirement import CannotInstall, Program, Requirement
from crosswind.testbed.binaries import binary_version, find_binary
from crosswind.testbed.errors import NotHere


@dataclass(frozen=True)
class OwnProgram(Requirement):
    """A binary of Crosswind.

    Args:
        name: such as `crosswind.testbed.binaries.LOAD`.
    """

    name: str
    installable: ClassVar[bool] = False

    def missing(self) -> list[str]:
        try:
            find_binary(self.name)
        except NotHere as error:
            return [str(error)]
        return []

    def commands(self) -> list[str]:
        return ["pip install --force-reinstall crosswind"]

    def install(self, say: Callable[[str], None]) -> None:
        for lacking in self.missing():
            raise CannotInstall(lacking)

    def versions(self) -> dict[str, str]:
        # Two builds may have the same version.
        path = find_binary(self.name)
        version = binary_version(path).removeprefix(f"{self.name} ")
        return {self.name: f"{version} {sha256(path)}"}

    def places(self) -> list[Path]:
        # It travels with the files of a trial.
        return []

    def program(self) -> Program:
        """Return the program.

        Raises: NotHere: it is missing; says how to install it.
        """
        return Program(find_binary(self.name), {})
