"""The parameters of HPCC, and a check that HPL uses the network with them."""

import math
from collections.abc import Iterator
from typing import Annotated

from pydantic import Field

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import PositiveDuration

# Of a matrix element: HPCC computes in double precision.
_ELEMENT_BYTES = 8
Misfit = tuple[tuple[str | int, ...], str]


class Grid(SpecModel):
    """The process grid: rank p x Q + q has row p and column q."""

    p: Annotated[int, Field(ge=1)] = Field(description="Rows.")
    q: Annotated[int, Field(ge=1)] = Field(description="Columns.")


class HpccParameters(SpecModel):
    """The size of the problem, and its distribution over ranks."""

    n: Annotated[int, Field(ge=100, le=1_000_000)] = Field(
        1000,
        description="Order of HPL's matrix; the sizes of all other tests follow from it. 1000 when absent.",
    )
    nb: Annotated[int, Field(ge=8, le=1024)] = Field(
        80, description="Blocking factor of HPL and PTRANS; 80 when absent."
    )
    ranks_per_node: Annotated[int, Field(ge=1, le=256)] = Field(
        1, description="MPI ranks on each node; 1 when absent."
    )
    grid: Grid | None = Field(
        None, description="Process grid of HPL and PTRANS; all ranks, as square as possible, when absent."
    )
    longest_ns: PositiveDuration = Field(
        1_800_000_000_000,
        alias="longest",
        description="Time limit of a trial, which fails if it takes longer; 30min when absent.",
    )

    def ranks(self, nodes: int) -> int:
        """Return the number of ranks on a number of nodes."""
        return nodes * self.ranks_per_node

    def grid_on(self, nodes: int) -> Grid:
        """Return the process grid on a number of nodes."""
        return self.grid or squarest(self.ranks(nodes))

    @property
    def memory_bytes(self) -> int:
        """Size of HPL's matrix on all nodes together; each of the other tests takes about as much."""
        return _ELEMENT_BYTES * self.n**2


def squarest(ranks: int) -> Grid:
    """Return the most square grid of exactly this number of ranks, with no more rows than columns."""
    p = next(rows for rows in range(math.isqrt(ranks), 0, -1) if ranks % rows == 0)
    return Grid(p=p, q=ranks // p)


def misfits(parameters: HpccParameters, nodes: int) -> Iterator[Misfit]:
    """Yield what would keep HPL from using every node, each with its place in the parameters.

    A grid with fewer ranks than there are uses only the first ranks, which fill the nodes in order. With
    eight ranks on each node, a grid of 2 x 2 uses only the first node and sends nothing, but its rate looks
    plausible. Blocks are assigned to rows and columns of the grid in turn, so with fewer blocks than rows or
    columns, some ranks have no work.
    """
    ranks, grid = parameters.ranks(nodes), parameters.grid_on(nodes)
    best = squarest(ranks)
    if grid.p * grid.q != ranks:
        yield (
            ("grid",),
            f"{grid.p} x {grid.q} is not the number of ranks, {ranks} ({nodes} nodes with "
            f"{parameters.ranks_per_node}), so HPL would not run on every node; "
            f"write {{p: {best.p}, q: {best.q}}}, or leave it out",
        )
    blocks = -(-parameters.n // parameters.nb)
    widest = max(grid.p, grid.q)
    if blocks < widest:
        yield (
            ("nb",),
            f"{parameters.nb} cuts a matrix of order {parameters.n} into {blocks} blocks a side, fewer than "
            f"the {widest} of the grid's longer side, so some ranks would have no work; write at most "
            f"{-(-parameters.n // widest)}, or a larger n",
        )
