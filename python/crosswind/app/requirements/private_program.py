"""A program that is built from source or taken out of a wheel; one on PATH is preferred."""

import shutil
from abc import abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.app.requirements.checksum import identity, sha256
from crosswind.app.requirements.private_folder import Fresh, PrivateFolder
from crosswind.app.requirements.requirement import Program, Requirement
from crosswind.testbed.errors import NotHere
from crosswind.testbed.folders import remove_tree


@dataclass(frozen=True)
class PrivateProgram(Requirement):
    """One program, on PATH or in a private folder below the cache.

    Args:
        name: of the program.
        version: that is installed.

    Attributes:
        kind: folder of such programs below the cache.
    """

    name: str
    version: str
    kind: ClassVar[str]

    def missing(self) -> list[str]:
        if self._found() is not None:
            return []
        return [f"{self.name}: neither on PATH nor installed by Crosswind"]

    def install(self, say: Callable[[str], None]) -> None:
        with self._private.installing(say, lambda: self._found() is not None) as fresh:
            if fresh is None:
                return
            say(self.step)
            work = fresh.path / "work"
            work.mkdir()
            (fresh.path / "bin").mkdir()
            program = self.obtain(work, fresh).replace(fresh.path / "bin" / self.name)
            remove_tree(work)
            fresh.record[self.name] = f"{self.version} {sha256(program)}"

    def versions(self) -> dict[str, str]:
        path = self.program().path
        return dict(self._private.record) if path == self.installed else {self.name: identity(path)}

    def places(self) -> list[Path]:
        path = self.program().path
        return [self._private.path if path == self.installed else path]

    def program(self) -> Program:
        """Return the program.

        Raises: NotHere: it is missing; says how to install it.
        """
        path = self._found()
        if path is None:
            raise NotHere(f"{self.missing()[0]}; install it with: {' && '.join(self.commands())}")
        return Program(path, {})

    def declared(self) -> str:
        """Return the command that marks a program installed by hand, at `installed`, as complete."""
        return self._private.declared({self.name: self.version})

    @property
    def step(self) -> str:
        """What the installation does, as shown to the user."""
        return f"building {self.name} {self.version}; this takes minutes"

    @abstractmethod
    def obtain(self, work: Path, fresh: Fresh) -> Path:
        """Build or download the program in a folder that is removed afterwards; return its path."""

    @property
    def _private(self) -> PrivateFolder:
        return PrivateFolder(self.kind, self.name, self)

    @property
    def installed(self) -> Path:
        """The path of the program, unless it is on PATH; it need not exist yet."""
        return self._private.path / "bin" / self.name

    def _found(self) -> Path | None:
        if on_path := shutil.which(self.name):
            return Path(on_path)
        return self.installed if self._private.is_complete else None
