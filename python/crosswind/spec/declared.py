"""What an application declares about itself, for files, plans and reports, without running it."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

from pydantic import JsonValue

from crosswind.spec.base import SpecModel, keys_of
from crosswind.spec.document import Document
from crosswind.spec.node_limits import NodeLimits

# The key that fills in an application's parameters from one of its sizes.
SIZE = "size"


@dataclass(frozen=True)
class Figure:
    """A number that every trial of an application reports, and how it is shown.

    `metric`, `statistic` and `unit` are as in metrics.parquet; values of several nodes are summed.
    """

    metric: str
    statistic: str
    unit: str
    label: str
    better: Literal["lower", "higher"]


@dataclass(frozen=True)
class ExpectedTrial:
    """How long a trial takes, before the first one.

    Attributes:
        load_s: warm-up and measured phase; None where only a trial can show it.
        load_may_end_sooner: something else may end it before that.
        set_up_s: everything else, on a quiet machine.
    """

    load_s: float | None
    load_may_end_sooner: bool
    set_up_s: float


@dataclass(frozen=True)
class FaultNodes:
    """What faults may do to the nodes of an application.

    Attributes:
        restartable: those that it starts again, with their data, after they were killed.
        measuring: those whose stall or end would stop the measurement itself; None: unknown.
        storing: those whose data are in the folder of their name, below that of the trial, before their
            first process starts.
    """

    restartable: frozenset[str] = frozenset()
    measuring: frozenset[str] | None = None
    storing: frozenset[str] = frozenset()


@dataclass(frozen=True)
class Tested:
    """What the rules of a condition need to know of the application that is tested under it.

    Attributes:
        application: its name; None where a network has none, or it has errors.
        measured_ns: how long a trial is measured at most; None: unknown.
        faults: its nodes, for faults; None: unknown.
    """

    application: str | None = None
    measured_ns: int | None = None
    faults: FaultNodes | None = None


NO_APPLICATION = Tested()


class DeclaredApplication(ABC):
    """One application under test, with the parameters of one experiment, as its experiment sees it.

    Parameters of an application that runs for a time have `duration_ns` (measured) and `warm_up_ns` (before
    it). Plans and limits are computed from these two.
    """

    name: ClassVar[str]
    summary: ClassVar[str]
    Parameters: ClassVar[type[SpecModel]]

    # Whether its parameters define nodes by themselves, which `own_nodes` then names.
    brings_nodes: ClassVar[bool] = False

    # Time of a trial besides its load, on a quiet machine, s: nodes up and down, servers started, data
    # copied, results stored.
    set_up_s: ClassVar[float] = 2.5
    # What makes a run longer and no plan can know, as in "not counted: ..."; empty if there is nothing.
    uncounted: ClassVar[str] = ""

    def __init_subclass__(cls) -> None:
        super().__init_subclass__()
        if "Parameters" in vars(cls) and SIZE in keys_of(cls.Parameters):
            raise TypeError(
                f'{cls.__name__}: a parameter is called "{SIZE}", the key that names one of its sizes; '
                "give it another name, such as page_size"
            )

    # Any: a subclass declares its own model here and below.
    def __init__(self, parameters: Any) -> None:
        self.parameters = parameters

    def expected_load_s(self) -> float | None:
        """Return how long a load takes with its warm-up; None where only a trial can show it.

        Plans use it, and so does the remaining time of a run until its first trial has ended. Where no
        duration ends the load, an estimate for a small machine is better than none.
        """
        found_ns = busy_ns(self.parameters)
        return None if found_ns is None else found_ns / 1e9

    def load_may_end_sooner(self) -> bool:
        """Return whether something else, such as a number of operations, may end a load before that."""
        return False

    def expected_set_up_s(self) -> float:
        """Return how long a trial with these parameters takes besides its load, on a quiet machine."""
        return self.set_up_s

    @abstractmethod
    def figures(self) -> tuple[Figure, ...]:
        """Return the numbers that a report shows of a trial, the most important first."""

    @classmethod
    @abstractmethod
    def roles_missing(cls, nodes: Collection[str]) -> list[str]:
        """Return the names of nodes that the application needs and a topology lacks."""

    @classmethod
    def misfits(cls, parameters: Any, nodes: Collection[str]) -> Iterator[tuple[tuple[str | int, ...], str]]:
        """Yield where parameters do not fit the nodes of a topology.

        Each is a place in the parameters, as in the file, and what is wrong there, with the remedy.
        """
        yield from ()

    @classmethod
    def own_nodes(cls, raw: JsonValue, document: Document) -> list[str]:
        """Return the nodes that parameters define by themselves; a topology need not place them.

        Args:
            raw: the parameters as plain values, which may have errors.
            document: the file, which reads the files that they name.
        """
        return []

    @classmethod
    def node_limits(cls, parameters: Any) -> Mapping[str, NodeLimits]:
        """Return the limits of nodes in the application's own files, by node.

        A topology may have the same limits or none; anything else is an error of the experiment.
        """
        return {}

    @classmethod
    def faults_on(cls, parameters: Any, nodes: Collection[str]) -> FaultNodes:
        """Return which nodes faults may kill and restart, which measure, and which store data.

        Only what `Application.restart` can start again is restartable.
        """
        return FaultNodes()

    def remarks(self) -> list[str]:
        """Return warnings for readers of results with these parameters; the report shows them."""
        return []

    def notes(self) -> list[str]:
        """Return notes for the author of these parameters, such as what has no effect."""
        return []


def measured_ns(parameters: object) -> int | None:
    """Return how long a trial is measured at most; None where the parameters do not say."""
    duration_ns = getattr(parameters, "duration_ns", None)
    return duration_ns if isinstance(duration_ns, int) else None


def busy_ns(parameters: object) -> int | None:
    """Return how long a trial's load lasts at most, warm-up included; None when the parameters do not say."""
    duration_ns = measured_ns(parameters)
    return None if duration_ns is None else duration_ns + (getattr(parameters, "warm_up_ns", None) or 0)
