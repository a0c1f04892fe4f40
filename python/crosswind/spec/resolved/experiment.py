"""A resolved experiment as a whole: resolved.json (docs/reference/contracts.md, section 5)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crosswind.spec.resolved.backend import ResolvedBackend
from crosswind.spec.resolved.condition import ResolvedCondition
from crosswind.spec.resolved.part import Parameters, ResolvedFile, ResolvedPart, left_out_if_empty
from crosswind.spec.resolved.testbed import ResolvedTestbed
from crosswind.spec.resolved.topology import ResolvedTcp, ResolvedTopology
from crosswind.spec.resolved.trials import ResolvedDesign, ResolvedTrials, Selection

SCHEMA = 2


class ResolvedFigure(ResolvedPart):
    """A number of each trial that reports and progress show, as in metrics.parquet."""

    metric: str
    statistic: str
    unit: str
    label: str
    better: Literal["lower", "higher"]


class ResolvedApplication(ResolvedPart):
    """The application under test.

    Attributes:
        size: the name of its size, where the file gives one.
        parameters: in base units, as its own model dumps them.
        figures: the most important first.
        files: those that its parameters name.
    """

    name: str
    size: str | None = None
    parameters: Parameters = Field(default_factory=dict)
    figures: list[ResolvedFigure] = Field(default_factory=list)
    files: list[ResolvedFile] = left_out_if_empty([])


class ResolvedFactor(ResolvedPart):
    """A factor, which varies between conditions.

    Attributes:
        unit: `bit/s`, `B`, `ns`, `bit`, `share`, `1`; None where levels are text.
        spacing: of a range, `linear` or `log`.
        levels: as written.
    """

    unit: str | None
    spacing: str | None = None
    levels: list[str] = Field(default_factory=list)


class PublishedFigure(ResolvedPart):
    """A number that was published; metric and statistic as in metrics.parquet, unit as of a level."""

    metric: str
    condition: str
    statistic: str
    unit: str
    value: int | float


class ResolvedPublished(ResolvedPart):
    """Figures that were published of the same experiment, and where."""

    source: str
    figures: list[PublishedFigure] = Field(default_factory=list)


class ResolvedSetup(ResolvedPart):
    """A network without an experiment, and its conditions.

    Attributes:
        scale: every rate, buffer, burst and budget was multiplied by it.
        dilation: how many times slower time passes in the nodes; None where nothing slows it.
    """

    scale: float
    dilation: int | None = left_out_if_empty(None)
    topology: ResolvedTopology
    tcp: ResolvedTcp
    trials: ResolvedTrials
    conditions: list[ResolvedCondition]

    def under(self, *conditions: ResolvedCondition) -> ResolvedSetup:
        """Return the same network with these conditions alone."""
        return self.model_copy(update={"conditions": list(conditions)})


class Resolved(ResolvedPart):
    """All that determines a run, with defaults and conditions written out.

    Attributes:
        scale: every rate, buffer, burst and budget was multiplied by it.
        testbed: None where it runs on the machine of the command line.
        backend: None where the emulator carries the packets.
        overlay: a network on top of it; None where there is none.
        dilation: how many times slower time passes in the nodes under every condition; None where nothing
            slows it, or where conditions say it. All that follows is perceived.
        design: None where all conditions are run.
        conditions: with a design, the candidates.
        warnings: for readers of the results.
        preserved: what is the same in the scaled and the full-scale experiment.
        selection: None where the whole experiment is run.
    """

    schema_version: int | None = Field(None, alias="schema")
    name: str = ""
    summary: str | None = None
    source: str | None = None
    scale: float | None = None
    topology: ResolvedTopology = ResolvedTopology()
    tcp: ResolvedTcp = ResolvedTcp()
    testbed: ResolvedTestbed | None = left_out_if_empty(None)
    backend: ResolvedBackend | None = left_out_if_empty(None)
    overlay: Literal["vxlan"] | None = left_out_if_empty(None)
    dilation: int | None = left_out_if_empty(None)
    application: ResolvedApplication
    trials: ResolvedTrials = ResolvedTrials()
    factors: dict[str, ResolvedFactor] = left_out_if_empty({})
    design: ResolvedDesign | None = left_out_if_empty(None)
    conditions: list[ResolvedCondition]
    published: ResolvedPublished | None = left_out_if_empty(None)
    warnings: list[str] = Field(default_factory=list)
    preserved: list[str] = Field(default_factory=list)
    selection: Selection | None = left_out_if_empty(None)

    @staticmethod
    def unknown() -> Resolved:
        """Return defaults, for a folder that has lost its resolved.json."""
        return Resolved.model_construct(
            _fields_set=set(), application=ResolvedApplication(name=""), conditions=[]
        )

    def condition(self, name: str) -> ResolvedCondition | None:
        """Return the condition of this name, if there is one."""
        return next((condition for condition in self.conditions if condition.name == name), None)

    @property
    def dilations(self) -> tuple[int | None, ...]:
        """The different dilations of its conditions, in their order."""
        return tuple(dict.fromkeys(dilation_of(self, each) for each in self.conditions)) or (self.dilation,)

    @property
    def factor_min(self) -> int:
        """How many times slower than real time at least, under any condition; 1 in real time."""
        return min(factor or 1 for factor in self.dilations)

    def files(self) -> list[ResolvedFile]:
        """Return the files that the topology, the testbed, conditions and the application name."""
        of_conditions = [file for condition in self.conditions for file in condition.files]
        of_testbed = [] if self.testbed is None else self.testbed.files
        return [*self.topology.files, *of_testbed, *of_conditions, *self.application.files]


AnyResolved = Resolved | ResolvedSetup


def dilation_of(resolved: AnyResolved, condition: ResolvedCondition) -> int | None:
    """Return how many times slower time passes under a condition; None where nothing slows it."""
    return resolved.dilation if condition.dilation is None else condition.dilation
