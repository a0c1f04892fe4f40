"""The fabric that the agent builds (docs/reference/contracts.md, section 1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from crosswind.spec.resolved.condition import ResolvedStep
from crosswind.spec.resolved.interference import ResolvedInterference
from crosswind.spec.resolved.part import Places, ResolvedPart, left_out_if_empty
from crosswind.spec.resolved.topology import ResolvedLink, ResolvedTcp, WrittenRoutes


class FabricNode(ResolvedPart):
    """A node and the host that it is on."""

    name: str
    host: str


class FabricCondition(ResolvedPart):
    """A condition as the agent takes it: interference is that of ghosts alone.

    Attributes:
        held_bits: the first level of credit buckets, by element, where it is not the full bucket.
    """

    name: str
    places: Places = Field(default_factory=dict)
    interference: list[ResolvedInterference] = Field(default_factory=list)
    timeline: list[ResolvedStep] = Field(default_factory=list)
    held_bits: dict[str, int] = left_out_if_empty({})


class FabricSpec(ResolvedPart):
    """All parts of one fabric.

    Attributes:
        nodes: in the order of their addresses.
        merge_window_ns: segments of one super-packet that are due within it are delivered together.
        wait: `spin` or `sleep`: how the emulator waits between packets; it chooses when None.
        domains: their number, or the names in each, where there are several.
        overlay: a network on top of it, which is no part of the fabric and sent beside it.
        dilation: how many times slower time passes in the nodes; sent beside it, too.
        faults: whether nodes can be cut off.
        clocks: whether nodes may get clocks of their own; sent beside it.
    """

    seed: int
    hosts: list[str]
    switches: list[str]
    links: list[ResolvedLink]
    routes: Literal["shortest", "ecmp"] | WrittenRoutes
    nodes: list[FabricNode]
    mtu_bytes: int
    tcp: ResolvedTcp
    merge_window_ns: int
    wait: str | None = left_out_if_empty(None)
    condition: FabricCondition
    domains: int | list[list[str]] | None = left_out_if_empty(None)
    faults: bool = left_out_if_empty(False)
    overlay: Literal["vxlan"] | None = Field(None, exclude=True)
    dilation: int | None = Field(None, exclude=True)
    clocks: bool = Field(False, exclude=True)

    def beside(self, source: ResolvedInterference) -> FabricSpec:
        """Return the same fabric with this interference alone."""
        condition = self.condition.model_copy(update={"interference": [source]})
        return self.with_changes(condition=condition)

    def with_changes(self, **changes: object) -> FabricSpec:
        """Return the same fabric with these attributes changed."""
        return self.model_copy(update=changes)
