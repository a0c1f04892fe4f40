"""The contract of an application: what it must implement, and what it gets."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from crosswind.app.demand import Demand
from crosswind.app.requirements import NeededFile, Requirement
from crosswind.app.written import Facts
from crosswind.results.rows import Metric
from crosswind.spec.declared import DeclaredApplication
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Fabric, Process


@dataclass(frozen=True)
class Missing:
    """Something that the application needs and this machine lacks.

    Attributes:
        what: its name, and where it was searched for.
        remedy: what to do, as the end of a sentence, such as `install it with: COMMAND`.
        by_hand: commands, with versions, that install it without Crosswind.
    """

    what: str
    remedy: str
    by_hand: tuple[str, ...] = ()


@dataclass(frozen=True)
class Stage:
    """Where an application runs: an active fabric, and a folder for its files.

    `folder` belongs to the account that the application runs as. It is empty at the start and removed at the
    end. `files` are copies of the files that the parameters name, by those names. `is_watched`: somebody
    looks at the trial while it runs. `has_faults`: the load must outlive its servers; operations that fail
    meanwhile are counted.
    """

    fabric: Fabric
    folder: Path
    seed: int
    files: Mapping[str, Path] = field(default_factory=dict)
    is_watched: bool = False
    has_faults: bool = False


@dataclass(frozen=True)
class LoadOutcome:
    """The result of a load.

    Attributes:
        operations: a file of single operations (docs/reference/contracts.md, section 4); None where the tool
            records none. The runner computes their count, throughput and latencies.
        metrics: the other numbers of the trial, in ns, B, 1/s, B/s, bit/s, flop/s, count or 1.
        facts: what was run, and what the tool reported; stored with the trial, as JSON.
        files: more that the tool wrote, by the name under which the trial stores it.
        may_fail: operations may fail: that they did is a result, and the load did its work.
    """

    operations: Path | None
    metrics: tuple[Metric, ...]
    facts: Facts
    files: Mapping[str, Path] = field(default_factory=dict)
    may_fail: bool = False


class Load(ABC):
    """A running load: first its warm-up, then its measured phase.

    Attributes:
        process: the load ends when this process ends; exit status 0 means success.
        longest_s: longest time from the start of the process to its end, s.
        live: a file that the process writes while it runs, a line for each 100 ms
            (docs/reference/contracts.md, section 4); None where it writes none.
    """

    process: Process
    longest_s: float
    live: Path | None = None

    @abstractmethod
    def await_measured_phase(self) -> None:
        """Return just before the measured phase begins, or when the process has ended before it."""

    @abstractmethod
    def outcome(self) -> LoadOutcome:
        """Read the result of a process that ended with exit status 0.

        Raises: TestbedError: it measured nothing, or its numbers cannot be true, whatever its exit status.
        """

    def first_error(self) -> str | None:
        """Return the error that the tool reports after its process failed."""
        return None


class Application(DeclaredApplication):
    """One application under test, with the code that runs it.

    The runner calls `missing` with its `variant`, then `prepare` once unless `is_prepared`, and then `start`,
    `load` and `stop` in every trial. All of its processes run in nodes and end with them; `stop` finds errors
    that only a clean end shows.
    """

    # What every experiment needs, and what each variant needs in addition. A variant is a value of a
    # parameter, such as the store of `ycsb`.
    requirements: ClassVar[tuple[Requirement, ...]] = ()
    variants: ClassVar[Mapping[str, tuple[Requirement, ...]]] = {}
    # Whether an experiment may also use none of the variants.
    variants_optional: ClassVar[bool] = False

    @property
    def variant(self) -> str | None:
        """The variant that these parameters select; None if they select none."""
        return None

    @classmethod
    def needs(cls, variant: str | None) -> tuple[Requirement, ...]:
        """Return the requirements of experiments with a variant; with None, those of all experiments."""
        return cls.requirements if variant is None else (*cls.requirements, *cls.variants[variant])

    @classmethod
    def missing(cls, variant: str | None = None) -> list[Missing]:
        """Return what this machine lacks; an empty list means that the variant can run."""
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
        """Return the least memory and disk space that a trial on these nodes needs."""
        return Demand()

    def own_missing(self) -> list[Missing]:
        """Return what these parameters need and this machine lacks, beyond `missing`."""
        return []

    def own_requirements(self) -> list[Requirement]:
        """Return what these parameters need beyond `needs` and `crosswind apps install` can install."""
        return []

    def own_versions(self) -> dict[str, str]:
        """Return the versions of other programs that these parameters run, for provenance."""
        return {}

    def needed_files(self) -> list[NeededFile]:
        """Return what every machine with nodes needs besides the files of a trial.

        Raises: NotHere: a requirement is missing here.
        """
        needed = [*type(self).needs(self.variant), *self.own_requirements()]
        return [NeededFile(path, requirement) for requirement in needed for path in requirement.places()]

    def needs_one_machine(self) -> str | None:
        """Return why all nodes must be on one machine, as the end of a sentence; None if they need not."""
        return None

    def is_prepared(self, nodes: Collection[str]) -> bool:
        """Return whether the data that every trial starts from exist already."""
        return True

    def prepare(self, stage: Stage) -> None:
        """Make and store the data that every trial starts from, in a fabric with the empty condition."""

    @abstractmethod
    def start(self, stage: Stage) -> None:
        """Start the servers; return when they are ready for load, raise TestbedError if they are not."""

    @abstractmethod
    def load(self, stage: Stage) -> Load:
        """Start the load, warm-up first, and return at once."""

    def restart(self, stage: Stage, node: str) -> None:
        """Start again, while the load runs, what ran on a node that was killed: its own commands, its data.

        Return at once: until it is ready, operations fail. Called for the nodes that `faults_on` says are
        restartable.

        Raises: TestbedError: it cannot, as an application that declares such nodes and has no `restart`.
        """
        raise TestbedError(
            f"{self.name}: {node} cannot be restarted, although `faults_on` names it; "
            f"add `restart` to {self.name}"
        )

    @abstractmethod
    def stop(self, stage: Stage) -> None:
        """Stop the servers cleanly; raise TestbedError if one had ended during the load.

        Those that were struck down with their node are as they should be.
        """
