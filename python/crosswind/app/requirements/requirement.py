"""What every kind of requirement can say and do."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.errors import CrosswindError, Exit


class CannotInstall(CrosswindError):
    """Something that an application needs cannot be had on this machine."""

    exit = Exit.PREFLIGHT


@dataclass(frozen=True)
class Program:
    """A program and what has to be added to the environment of its processes."""

    path: Path
    env: dict[str, str]


class Requirement(ABC):
    """Something that an application needs and a machine may lack.

    Attributes:
        name: what messages, provenance and the folder below the cache call it.
        installable: whether `install` can bring it; the user has to bring the rest.
    """

    name: str
    installable: ClassVar[bool] = True

    @abstractmethod
    def missing(self) -> list[str]:
        """Return what is lacking and where it was looked for; an empty list where nothing is."""

    @abstractmethod
    def commands(self) -> list[str]:
        """Return the commands, versions included, that bring it without Crosswind; none where none do."""

    def remedy(self, install: str) -> str:
        """Return what to do where it is missing, for the end of a sentence.

        Args:
            install: the command of Crosswind that brings what can be installed.
        """
        return f"install it with: {install if self.installable else ' && '.join(self.commands())}"

    @abstractmethod
    def install(self, say: Callable[[str], None]) -> None:
        """Bring what is missing; all of it or nothing, and at once for everybody who looks.

        Args:
            say: told each step.
        Raises: CannotInstall: no network, no such version, or a tool is missing; says which.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return name -> version and checksum of what will be used, for provenance.

        Raises: NotHere: it is missing.
        """
