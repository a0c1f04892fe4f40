"""What an application has to be able to do, and what it is given to do it with."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from crosswind.app.demand import Demand
from crosswind.app.requirements import Requirement
from crosswind.app.written import Facts
from crosswind.results.rows import Metric
from crosswind.spec.declared import DeclaredApplication
from crosswind.testbed.fabric import Process, RunningFabric


@dataclass(frozen=True)
class Missing:
    """Something that the application needs and this machine lacks.

    Attributes:
        what: it is, and where it was looked for.
        remedy: what to do about it, for the end of a sentence, such as `install it with: COMMAND`.
        by_hand: commands, versions included, with which a user brings it without Crosswind.
    """

    what: str
    remedy: str
    by_hand: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """Where an application performs: a fabric that is up, and a folder for its files.

    `folder` belongs to the account that the application runs as, is empty at the start and gone afterwards.
    `files` are copies of the files that the parameters name, by the names that they have there.
    """

    fabric: RunningFabric
    folder: Path
    seed: int
    files: Mapping[str, Path] = field(default_factory=dict)


@dataclass(frozen=True)
class Outcome:
    """The result of a load.

    Attributes:
        operations: a file of single operations (docs/reference/contracts.md, section 4); None where the tool
            records none. The runner computes their count, throughput and latencies.
        metrics: the other numbers of the trial, in ns, B, 1/s, B/s, bit/s, flop/s, count or 1.
        facts: what was run, and what the tool reported; stored with the trial, as JSON.
    """

    operations: Path | None
    metrics: tuple[Metric, ...]
    facts: Facts


class Load(ABC):
    """A load that is being offered: first its warm-up, then its measured phase.

    Attributes:
        process: the process whose end is the end of the load; exit status 0 if it went well.
        longest_s: from the start of the process to its end at the latest, s.
    """

    process: Process
    longest_s: float

    @abstractmethod
    def await_measured_phase(self) -> None:
        """Return when the measured phase is about to begin, or when the process has ended before."""

    @abstractmethod
    def outcome(self) -> Outcome:
        """Read what a process that ended well brought home.

        Raises: TestbedError: it measured nothing, or what cannot be true; exit status 0 proves nothing.
        """

    def first_error(self) -> str | None:
        """Return what the tool itself says went wrong, after its process failed."""
        return None


class Application(DeclaredApplication):
    """One application under test, with what runs it.

    The runner calls `missing` with its `variant`, then once `prepare` unless `is_prepared`, then in every
    trial `start`, `load`, `stop`. All of its processes run in nodes and end with them; `stop` is for what a
    clean end can still teach.
    """

    # What every experiment with it needs, and what it needs besides for one of its variants, by the name of
    # the variant (a value of a parameter, such as the store of `ycsb`).
    requirements: ClassVar[tuple[Requirement, ...]] = ()
    variants: ClassVar[Mapping[str, tuple[Requirement, ...]]] = {}
    # Whether an experiment may also ask for none of the variants, with what every experiment needs.
    variants_optional: ClassVar[bool] = False

    @property
    def variant(self) -> str | None:
        """The variant that these parameters ask for; None where the application has none."""
        return None

    @classmethod
    def needs(cls, variant: str | None) -> tuple[Requirement, ...]:
        """Return what experiments with a variant need; with None, what all of them need."""
        return cls.requirements if variant is None else (*cls.requirements, *cls.variants[variant])

    @classmethod
    def missing(cls, variant: str | None = None) -> list[Missing]:
        """Return what this machine lacks; an empty list means that the variant is ready."""
        command = f"crosswind apps install {cls.name}" + (f"/{variant}" if variant else "")
        return [
            Missing(
                what,
                requirement.remedy(command),
                tuple(requirement.commands()) if requirement.installable else (),
            )
            for requirement in cls.needs(variant)
            for what in requirement.missing()
        ]

    @classmethod
    def versions(cls, variant: str | None = None) -> dict[str, str]:
        """Return the versions and checksums of the programs that will run, for provenance."""
        return {
            name: version
            for requirement in cls.needs(variant)
            for name, version in requirement.versions().items()
        }

    def demand(self, nodes: Collection[str]) -> Demand:
        """Return the memory and disk that a trial on these nodes takes at the least."""
        return Demand()

    def own_missing(self) -> list[Missing]:
        """Return what these parameters need and this machine lacks, beyond what `missing` knows."""
        return []

    def own_requirements(self) -> list[Requirement]:
        """Return what these parameters need beyond `needs`, and `crosswind apps install` can bring."""
        return []

    def own_versions(self) -> dict[str, str]:
        """Return what else will run because of these parameters, for provenance."""
        return {}

    def is_prepared(self, nodes: Collection[str]) -> bool:
        """Tell whether the data that every trial starts from are there already."""
        return True

    def prepare(self, stage: Stage) -> None:
        """Make the data that every trial starts from, in a fabric with the empty condition, and keep them."""

    @abstractmethod
    def start(self, stage: Stage) -> None:
        """Bring the servers up; return when they are ready for load, raise TestbedError otherwise."""

    @abstractmethod
    def load(self, stage: Stage) -> Load:
        """Begin to offer the load, warm-up first, and return at once."""

    @abstractmethod
    def stop(self, stage: Stage) -> None:
        """End the servers cleanly; a server that had died under the load raises TestbedError."""
