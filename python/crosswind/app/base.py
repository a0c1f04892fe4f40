"""What an application has to be able to do, and what it is given to do it with."""

from abc import ABC, abstractmethod
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

from crosswind.spec.base import SpecModel
from crosswind.testbed.fabric import Fabric, Process


@dataclass(frozen=True)
class Missing:
    """Something that the application needs and this machine lacks.

    `install` is a command that would bring it.
    """

    what: str
    install: str


@dataclass(frozen=True)
class Stage:
    """Where an application performs: a fabric that is up, and a folder for its files.

    `folder` belongs to the account that the application runs as, is empty at the start and gone afterwards.
    """

    fabric: Fabric
    folder: Path
    seed: int


@dataclass(frozen=True)
class Loaded:
    """A load that is being offered: first its warm-up, then its measured phase.

    `samples` and `summary` are the files of docs/reference/contracts.md, section 4; they exist once `process`
    ended. The measured phase begins at least `warm_up_s` after the start of `process` and lasts at most
    `duration_s`, or until the operations are done where that is None.
    """

    process: Process
    samples: Path
    summary: Path
    warm_up_s: float
    duration_s: float | None


class Application(ABC):
    """One application under test, with the parameters of one experiment.

    The runner calls `missing`, then once `prepare` unless `is_prepared`, then in every trial `start`, `load`,
    `stop`. All of its processes run in nodes and end with them; `stop` is for what a clean end can still
    teach.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Parameters: ClassVar[type[SpecModel]]
    # What `crosswind apps install` may unpack for it; keys of `crosswind.app.packages.PACKAGES`.
    packages: ClassVar[tuple[str, ...]] = ()

    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    @classmethod
    @abstractmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        """Return the names of nodes that the application needs and a topology lacks."""

    @classmethod
    @abstractmethod
    def missing(cls) -> list[Missing]:
        """Return what this machine lacks; an empty list means that the application is ready."""

    @classmethod
    @abstractmethod
    def versions(cls) -> dict[str, str]:
        """Return the versions of the programs that will run, for provenance."""

    def is_prepared(self, nodes: Collection[str]) -> bool:
        """Tell whether the data that every trial starts from are there already."""
        return True

    def prepare(self, stage: Stage) -> None:  # noqa: B027 - an application without such data has nothing to do.
        """Make the data that every trial starts from, in a fabric with the empty condition, and keep them."""

    @abstractmethod
    def start(self, stage: Stage) -> None:
        """Bring the servers up; return when they are ready for load, raise TestbedError otherwise."""

    @abstractmethod
    def load(self, stage: Stage) -> Loaded:
        """Begin to offer the load, warm-up first, and return at once."""

    @abstractmethod
    def stop(self, stage: Stage) -> None:
        """End the servers cleanly; a server that had died under the load raises TestbedError."""
