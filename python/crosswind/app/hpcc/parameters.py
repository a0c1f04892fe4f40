"""What HPCC is asked, and whether HPL would cross the network with it."""

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import PositiveDuration

# A matrix element, in bytes: all of HPCC computes in double precision.
_ELEMENT_BYTES = 8
Misfit = tuple[tuple[str | int, ...], str]


class Grid(SpecModel):
    """The process grid: rank p x Q + q has row p and column q."""

    p: Annotated[int, Field(ge=1)] = Field(description="Rows.")
    q: Annotated[int, Field(ge=1)] = Field(description="Columns.")


class HpccParameters(SpecModel):
    """The size of the problem and how it is spread over ranks."""

    n: Annotated[int, Field(ge=100, le=1_000_000)] = Field(
        1000, description="Order of HPL's matrix; every other test takes its size from it. 1000 when absent."
    )
    nb: Annotated[int, Field(ge=8, le=1024)] = Field(
        80, description="Blocking factor of HPL and PTRANS; 80 when absent."
    )
    ranks_per_node: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="MPI ranks on each node; 1 when absent."
    )
    grid: Grid | None = Field(
        None, description="Process grid of HPL and PTRANS; all ranks, as square as they allow, when absent."
    )
    longest_ns: PositiveDuration = Field(
        1_800_000_000_000, alias="longest", description="A trial that takes longer failed; 30min when absent."
    )

    def ranks(self, nodes: int) -> int:
        """Return the number of ranks on so many nodes."""
        return nodes * self.ranks_per_node

    def grid_on(self, nodes: int) -> Grid:
        """Return the process grid on so many nodes."""
        return self.grid or squarest(self.ranks(nodes))

    @property
    def memory_bytes(self) -> int:
        """What HPL's matrix takes, on all nodes together; the other tests take about as much, one by one."""
        return _ELEMENT_BYTES * self.n**2


def squarest(ranks: int) -> Grid:
    """Return the grid of exactly so many ranks with the most rows of those with no more rows than columns."""
    p = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return Grid(p=p, q=ranks // p)


def misfits(parameters: HpccParameters, nodes: int) -> Iterator[Misfit]:
    """Yield what would keep HPL from using every node, each with its place in the parameters.

    A grid of fewer ranks than there are is the first ranks', and these fill the nodes one after the other:
    2 x 2 of eight ranks on each node is a benchmark of the first node that sends nothing, with a rate as
    plausible as any. Blocks are dealt out to rows and columns of the grid in turn, so a rank also has nothing
    to do where there are fewer of them than rows or columns.
    """
    ranks, grid = parameters.ranks(nodes), parameters.grid_on(nodes)
    best = squarest(ranks)
    if grid.p * grid.q != ranks:
        yield (
            ("grid",),
            f"{grid.p} x {grid.q} is not the {ranks} ranks that there are ({nodes} nodes with "
            f"{parameters.ranks_per_node}), so HPL would not run on every node; "
            f"write {{p: {best.p}, q: {best.q}}}, or leave it out",
        )
    blocks = -(-parameters.n // parameters.nb)
    widest = max(grid.p, grid.q)
    if blocks < widest:
        yield (
            ("nb",),
            f"{parameters.nb} cuts a matrix of order {parameters.n} into {blocks} blocks a side, fewer than "
            f"the {widest} of the grid's longer side, so some ranks would have nothing to do; write at most "
            f"{-(-parameters.n // widest)}, or a larger n",
        )
