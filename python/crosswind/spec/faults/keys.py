"""The faults that a step of a condition may have, as files write them: in short, or as a mapping."""

from __future__ import annotations

from collections.abc import Callable
from typing import Annotated, Literal

from pydantic import BeforeValidator, Field, field_validator, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.faults.offset import Offset
from crosswind.spec.network import ARROW
from crosswind.spec.quantities import BYTE_RATE, AnySize, ByteRate, QuantityError, shown
from crosswind.spec.resolved import Answer
from crosswind.spec.topology.common import LimitedNode

BAR = "|"
# Beyond it a program would not believe its clock.
CLOCK_RATE_MIN, CLOCK_RATE_MAX = 0.5, 2.0
# Below a block a second a program stands still.
DISK_RATE_MIN = 4096


def _split(value: object) -> object:
    return value.split() if isinstance(value, str) else value


# Nodes, hosts, switches or zones: a list, or a text with a blank between two.
Names = Annotated[
    list[Annotated[str, Field(min_length=1)]],
    Field(min_length=1),
    BeforeValidator(_split, json_schema_input_type=str | list[str]),
]
_ANSWER = "What a sender sees: nothing (`silence`, when absent), or a TCP reset (`reset`)."


def _in_short(read: Callable[[str], object], example: str) -> Callable[[object], object]:
    """Return the reader of a fault that is a text in short, and else a mapping."""

    def in_full(value: object) -> object:
        if isinstance(value, str):
            return read(value)
        if not isinstance(value, dict | SpecModel):
            raise QuantityError(f"{shown(value)} is neither a text nor a mapping; write {example}")
        return value

    return in_full


def _named(value: object) -> object:
    """Return names alone as the mapping that they stand for."""
    return {"nodes": value} if isinstance(value, str | list) else value


class Partition(SpecModel):
    """No packet crosses between two groups, either way. A node that is in no group reaches all."""

    groups: list[Names] = Field(description="Two groups or more; each is a list of names.")
    answer: Answer = Field("silence", description=_ANSWER)

    @field_validator("groups")
    @classmethod
    def _has_two(cls, groups: list[list[str]]) -> list[list[str]]:
        if len(groups) < 2:
            raise QuantityError(
                f"has {len(groups)} group, and cuts nothing; write two, such as db0 {BAR} db1"
            )
        return groups


def _groups(text: str) -> object:
    groups = [part.split() for part in text.split(BAR)]
    if not all(groups):
        raise QuantityError(f"{shown(text)} has an empty group; name nodes on both sides of each {BAR}")
    return {"groups": groups}


class Isolation(SpecModel):
    """Nothing goes to or from each of these nodes."""

    nodes: Names = Field(description="Each of them is alone.")
    answer: Answer = Field("silence", description=_ANSWER)


class OneWayCut(SpecModel):
    """Nothing goes from these nodes to those; the other way is open."""

    sources: Names = Field(alias="from", description="Whose packets are lost.")
    targets: Names = Field(alias="to", description="Which no longer receive them.")
    answer: Answer = Field("silence", description=_ANSWER)


def _ends(text: str) -> object:
    if f"<{ARROW[0]}" in text or "<" in text:
        raise QuantityError(f"{shown(text)} is not one way; write a -> b, or partition: a {BAR} b for both")
    ends = [part.split() for part in text.split(ARROW)]
    if len(ends) != 2 or not all(ends):
        raise QuantityError(f"{shown(text)} is not a cut; write it as db0 -> db1")
    return {"from": ends[0], "to": ends[1]}


class RestartClock(SpecModel):
    """The clock that a node has after its restart; the others have the right time."""

    offset_ns: Offset = Field(
        0,
        alias="offset",
        description="How far ahead its wall clock is at the restart; -5s is behind. 0s when absent.",
    )
    rate: Annotated[float, Field(ge=CLOCK_RATE_MIN, le=CLOCK_RATE_MAX)] = Field(
        1.0, description="How fast it runs, waits included: 1.0001 gains 0.1ms a second. 1 when absent."
    )

    @model_validator(mode="after")
    def _is_wrong(self) -> RestartClock:
        if self.offset_ns == 0 and self.rate == 1:
            raise QuantityError("is right; write an offset, such as 5s, or a rate, such as 1.0001")
        return self


class Restart(SpecModel):
    """The application starts these nodes again, with its own commands and data."""

    nodes: Names = Field(description="One that still runs is killed first.")
    clock: RestartClock | None = Field(
        None, description="From then on, until its next restart. Right when absent."
    )


class Squeeze(LimitedNode):
    """These nodes get less memory or CPU time, until they are released."""

    nodes: Names = Field(description="Each has these limits from then on.")

    @model_validator(mode="after")
    def _limits_something(self) -> Squeeze:
        if self.memory_bytes is None and self.cpus is None:
            raise QuantityError("limits nothing; add cpus: 0.1, memory: 64MiB or both")
        return self


class DiskFault(SpecModel):
    """The disk with the data of these nodes is full, slow or both, until they are released."""

    nodes: Names = Field(description="Each has a disk of its own, under every condition.")
    free_bytes: AnySize | None = Field(
        None, alias="free", description="What is left free at that instant; 0B is a full disk."
    )
    bytes_per_s: ByteRate | None = Field(
        None,
        alias="rate",
        description="How much the node reads in a second, and how much it writes; 4KiB/s or more.",
    )

    @field_validator("bytes_per_s")
    @classmethod
    def _is_progress(cls, bytes_per_s: int | None) -> int | None:
        if bytes_per_s is not None and bytes_per_s < DISK_RATE_MIN:
            rate = BYTE_RATE.text(bytes_per_s)
            raise QuantityError(
                f'"{rate}" is below {BYTE_RATE.text(DISK_RATE_MIN)}; write more, or pause the node'
            )
        return bytes_per_s

    @model_validator(mode="after")
    def _does_something(self) -> DiskFault:
        if self.free_bytes is None and self.bytes_per_s is None:
            raise QuantityError("does nothing; add free: 0B, rate: 1MiB/s or both")
        return self


class FaultKeys(SpecModel):
    """The faults of a step. They are done in the order of these keys."""

    heal: Literal["all"] | None = Field(None, description="All cuts end.")
    partition: (
        Annotated[
            Partition,
            BeforeValidator(_in_short(_groups, f"db0 {BAR} db1"), json_schema_input_type=str | Partition),
        ]
        | None
    ) = Field(
        None, description=f"`db0 db1 {BAR} db2`: no packet between the groups. Cuts add up until `heal`."
    )
    isolate: (
        Annotated[Isolation, BeforeValidator(_named, json_schema_input_type=str | list[str] | Isolation)]
        | None
    ) = Field(None, description="Names: nothing to or from each.")
    cut: (
        Annotated[
            OneWayCut,
            BeforeValidator(_in_short(_ends, f"db0 {ARROW} db1"), json_schema_input_type=str | OneWayCut),
        ]
        | None
    ) = Field(None, description=f"`db0 {ARROW} db1`: nothing this way.")
    resume: Names | None = Field(None, description="Paused nodes go on.")
    kill: Names | None = Field(None, description="Every process of the nodes ends at once (SIGKILL).")
    pause: Names | None = Field(None, description="Every process of the nodes stands still (SIGSTOP).")
    restart: (
        Annotated[Restart, BeforeValidator(_named, json_schema_input_type=str | list[str] | Restart)] | None
    ) = Field(None, description="Names: the application starts them again, with its commands and data.")
    squeeze: Squeeze | None = Field(None, description="Less memory or CPU time.")
    disk: DiskFault | None = Field(None, description="A full or slow disk.")
    release: Names | None = Field(
        None, description="Squeezed nodes have their own limits again, and disks are whole."
    )


FAULTS = tuple(FaultKeys.model_fields)
# For parts of a condition in which a fault has no instant.
IN_A_STEP = {
    key: f"a fault has an instant: write it in a step, such as at: {{5s: {{{key}: {example}}}}}"
    for key, example in {
        **dict.fromkeys(FAULTS, "db0"),
        "heal": "all",
        "partition": f"db0 {BAR} db1",
        "cut": f"db0 {ARROW} db1",
        "squeeze": "{nodes: db0, cpus: 0.1}",
        "disk": "{nodes: db0, free: 0B}",
    }.items()
}
