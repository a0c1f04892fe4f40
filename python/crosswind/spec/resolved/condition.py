"""A condition of a resolved experiment: its elements by place and time, and its interference."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import Field

from crosswind.spec.resolved.faults import ResolvedCut, ResolvedNodeFault
from crosswind.spec.resolved.interference import ResolvedInterference
from crosswind.spec.resolved.part import (
    Parameters,
    Places,
    ResolvedFile,
    ResolvedPart,
    left_out_if_empty,
)

# A level of a factor: a number in the factor's unit, as written and not scaled, or text.
ResolvedLevel = int | float | str


class ResolvedStep(ResolvedPart):
    """A change `at_ns` after the start of the measurement: named places have these elements from then on.

    Attributes:
        cuts: all cuts from then on; None: those that were before, empty: none.
        nodes: faults of nodes, in the order in which they are done.
        faults: all of them in words, as shown.
    """

    at_ns: int
    places: Places
    cuts: list[ResolvedCut] | None = left_out_if_empty(None)
    nodes: list[ResolvedNodeFault] = left_out_if_empty([])
    faults: list[str] = left_out_if_empty([])

    def of_fabric(self) -> ResolvedStep | None:
        """Return what the fabric does of it; None where that is nothing."""
        if not self.places and self.cuts is None:
            return None
        return self.model_copy(update={"nodes": [], "faults": []})


class ResolvedCondition(ResolvedPart):
    """Elements and interference in SI integers, scaled.

    Attributes:
        files: those that it names.
        factors: the level of each factor, where it is made of levels.
        dilation: how many times slower time passes under it, where conditions differ in that.
    """

    name: str
    summary: str | None = None
    places: Places = Field(default_factory=dict)
    interference: list[ResolvedInterference] = Field(default_factory=list)
    timeline: list[ResolvedStep] = Field(default_factory=list)
    files: list[ResolvedFile] = left_out_if_empty([])
    factors: dict[str, ResolvedLevel] = left_out_if_empty({})
    dilation: int | None = left_out_if_empty(None)

    def at(self, dilation: int | None) -> ResolvedCondition:
        """Return it with a dilation of its own, as `far@10`, or `far@real`; no file can have such names."""
        name = f"{self.name}@{'real' if dilation is None else dilation}"
        return self.model_copy(update={"name": name, "dilation": dilation})

    @property
    def is_real(self) -> bool:
        """Whether processes make some of its interference."""
        return any(entry.is_real for entry in self.interference)

    @property
    def has_cuts(self) -> bool:
        """Whether its timeline cuts nodes off, or heals that."""
        return any(step.cuts is not None for step in self.timeline)

    @property
    def has_clocks(self) -> bool:
        """Whether its timeline restarts a node with a clock of its own."""
        return any(fault.clock is not None for step in self.timeline for fault in step.nodes)

    def elements(self) -> Iterator[tuple[str, str, Parameters]]:
        """Yield place, kind and parameters of every element, those of the timeline included."""
        for places in (self.places, *(step.places for step in self.timeline)):
            for place, elements in places.items():
                for element in elements:
                    yield from ((place, kind, parameters) for kind, parameters in element.items())
