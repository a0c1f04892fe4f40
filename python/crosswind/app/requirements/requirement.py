"""The contract of every kind of requirement."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar

from crosswind.errors import CrosswindError, Exit


class CannotInstall(CrosswindError):
    """Something that an application needs cannot be installed on this machine."""

    exit = Exit.PREFLIGHT


@dataclass(frozen=True)
class Program:
    """A program, and variables to add to the environment of its processes."""

    path: Path
    env: dict[str, str]


@dataclass(frozen=True)
class NeededFile:
    """A file or folder of this machine that other machines with nodes need at the same path.

    Attributes:
        requirement: that it belongs to.
    """

    path: Path
    requirement: "Requirement"

    @property
    def is_private(self) -> bool:
        """Whether it is a whole folder of `crosswind apps install`, which can be copied."""
        return self.path.is_dir()


class Requirement(ABC):
    """Something that an application needs and a machine may lack.

    Attributes:
        name: used in messages, provenance and the folder below the cache.
        installable: whether `install` can install it; otherwise the user must.
    """

    name: str
    installable: ClassVar[bool] = True

    @abstractmethod
    def missing(self) -> list[str]:
        """Return what is missing and where it was searched for; an empty list if nothing is."""

    @abstractmethod
    def commands(self) -> list[str]:
        """Return the commands, with versions, that install it without Crosswind; empty if none can."""

    def remedy(self, install: str) -> str:
        """Return what to do if it is missing, as the end of a sentence.

        Args:
            install: the command of Crosswind that installs it, if it is installable.
        """
        return f"install it with: {install if self.installable else ' && '.join(self.commands())}"

    @abstractmethod
    def install(self, say: Callable[[str], None]) -> None:
        """Install what is missing, completely or not at all; other processes never see a part of it.

        Args:
            say: called with the description of each step.
        Raises: CannotInstall: no network, no such version, or a tool is missing; says which.
        """

    @abstractmethod
    def places(self) -> list[Path]:
        """Return what a machine needs to run it: private folders as a whole, and single files of the system.

        Raises: NotHere: it is missing.
        """

    @abstractmethod
    def versions(self) -> dict[str, str]:
        """Return name -> version and checksum of the programs that will run, for provenance.

        Raises: NotHere: it is missing.
        """
