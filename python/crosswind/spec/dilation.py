"""Slow time down in the nodes: `time` of a file, and what does not go together with it.

Files state what the application perceives, and so do all results. The emulator's clock runs as slowly as
those of the nodes (`crates/emulator/src/pace.rs`), so no parameter of a network is converted.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Self

from pydantic import BeforeValidator, Field

from crosswind.errors import CrosswindError
from crosswind.spec.base import SpecModel
from crosswind.spec.names import CONDITION_MAX
from crosswind.spec.node_limits import CPUS_MIN
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.resolved import FACTOR_MAX, Resolved, ResolvedRepeat, Selection

# Trials of each kind: the interval of the mean of their differences then has 0.82 standard deviations on each
# side (t of 0.95 at 5 degrees of freedom, over the root of 6).
ROUNDS_MIN = 6


def read_factor(raw: object) -> int:
    """Return a factor from a file or the command line.

    Raises: QuantityError: it is no whole number from 1 to FACTOR_MAX.
    """
    number = int(raw) if isinstance(raw, str) and raw.isascii() and raw.isdigit() else raw
    if isinstance(number, bool) or not isinstance(number, int):
        raise QuantityError(f"{shown(raw)} is not a whole number; write how many times slower, such as 10")
    if number < 1:
        raise QuantityError(f"{number} would make time faster than real; write 1 or more")
    if number > FACTOR_MAX:
        raise QuantityError(f"{number} is more than {FACTOR_MAX}; write at most that")
    return number


def read_dilations(raw: object) -> list[int]:
    """Return one factor or several from a file.

    Raises: QuantityError: one is no factor, or there are none, or one twice.
    """
    factors = [read_factor(each) for each in raw] if isinstance(raw, list) else [read_factor(raw)]
    if not factors:
        raise QuantityError("[] has no factor; write one, such as 10, or several")
    for factor in factors:
        if factors.count(factor) > 1:
            raise QuantityError(f"{factor} is given twice; write each factor once")
    return factors


_Factor = Annotated[int, Field(ge=1, le=FACTOR_MAX)]
Dilations = Annotated[
    list[int], BeforeValidator(read_dilations, json_schema_input_type=_Factor | list[_Factor])
]


class Time(SpecModel):
    """How fast time passes in the nodes."""

    dilation: Dilations = Field(
        description="How many times slower: 10 lets a second in the nodes take ten. All times and rates of "
        f"the file, and all results, are perceived ones. 1 to {FACTOR_MAX}. With several, as in `[10, 20]`, "
        "every condition is run at each, and the report shows whether they agree."
    )


def lacks_room(condition: str) -> bool:
    """Whether a condition's name is too long to be followed by a dilation."""
    return len(condition) + len(f"@{FACTOR_MAX}") > CONDITION_MAX


def slowed(resolved: Resolved, factor: int | None) -> Resolved:
    """Return an experiment with another factor, or as it is where there is none.

    The factor is recorded, so that the run is continued with it.

    Raises: CrosswindError: it cannot be slowed down by that, or has several.
    """
    if factor is None:
        return resolved
    if len(resolved.dilations) > 1:
        raise CrosswindError(
            "--dilation: takes the place of one dilation, and the file has several; write one there"
        )
    factor = Slowed.of(resolved).checked(factor)
    part = resolved.selection or Selection(only=[], once=False)
    return resolved.model_copy(
        update={"dilation": factor, "selection": part.model_copy(update={"dilation": factor})}
    )


def under_each(resolved: Resolved, dilations: Sequence[int | None]) -> Resolved:
    """Return an experiment that runs every condition under each dilation, all of them in every block.

    A condition `far` becomes `far@10` and `far@20`, and `far@real` where nothing slows time. No file can have
    such names. Blocks are as many as the file says, and ROUNDS_MIN at least; intervals that settle early add
    none.

    Raises: CrosswindError: it cannot be slowed down by one of them.
    """
    network = Slowed.of(resolved)
    factors = [None if factor is None else network.checked(factor) for factor in dilations]
    for condition in resolved.conditions:
        if lacks_room(condition.name):
            raise CrosswindError(
                f"condition {condition.name}: its name has no room for a dilation; shorten it"
            )
    conditions = [condition.at(factor) for condition in resolved.conditions for factor in factors]
    blocks = max(ROUNDS_MIN, resolved.trials.repeat.at_least)
    repeat = ResolvedRepeat(at_least=blocks, at_most=blocks, until=None)
    part = resolved.selection or Selection(only=[], once=False)
    return resolved.model_copy(
        update={
            "dilation": None,
            "conditions": conditions,
            "trials": resolved.trials.model_copy(update={"repeat": repeat}),
            "selection": part.model_copy(update={"dilations": factors}),
        }
    )


@dataclass(frozen=True)
class Slowed:
    """What decides whether a network can be slowed down.

    Attributes:
        limits_ppm: of the CPUs of nodes, in millionths of one; None without a limit.
        is_elsewhere: whether other machines carry it.
        backend: that carries it; None: the emulator.
        real_traffic: conditions with interference that processes make.
    """

    limits_ppm: Mapping[str, int | None]
    is_elsewhere: bool = False
    backend: str | None = None
    real_traffic: Sequence[str] = ()

    @classmethod
    def of(cls, resolved: Resolved) -> Self:
        """Return what decides it of an experiment."""
        return cls(
            limits_ppm={name: limits.get("cpus_ppm") for name, limits in resolved.topology.limits.items()},
            is_elsewhere=resolved.testbed is not None,
            backend=None if resolved.backend is None else resolved.backend.name,
            real_traffic=[condition.name for condition in resolved.conditions if condition.is_real],
        )

    def checked(self, factor: int) -> int:
        """Return a factor that does not come from a file.

        Raises: CrosswindError: it is none, or the network cannot be slowed down by it.
        """
        try:
            factor = read_factor(factor)
        except QuantityError as error:
            raise CrosswindError(f"dilation: {error}") from None
        for hindrance in self.hindrances(factor):
            raise CrosswindError(f"dilation {factor}: {hindrance}")
        return factor

    def hindrances(self, factor: int) -> Iterator[str]:
        """Yield why it cannot be slowed down by this factor, each with what to do."""
        if self.is_elsewhere:
            yield (
                "a testbed is declared, and other machines, and the network between them, are in real time; "
                "remove `testbed`, or the dilation"
            )
        if self.backend is not None:
            yield (
                f"backend {self.backend} carries packets in real time; write `backend: crosswind`, or remove "
                "the dilation"
            )
        for name in self.real_traffic:
            yield (
                f"condition {name} has traffic of `by: iperf3`, which is in real time; write `by: ghost`, or "
                "remove the dilation"
            )
        for name, ppm in self.limits_ppm.items():
            least = CPUS_MIN * factor
            if ppm is not None and ppm < least * 1_000_000:
                yield (
                    f"node {name} has {ppm / 1e6:g} CPUs, which are {ppm / 1e6 / factor:.2g} real ones, and "
                    f"the kernel enforces {CPUS_MIN:g} or more; allow {least:g} CPUs, or a smaller dilation"
                )
