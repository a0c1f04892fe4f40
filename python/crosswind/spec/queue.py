"""Queues: what may wait, what is dropped when there is too much of it, and how that is signalled.

The same three keys (`buffer`, `drop`, `ecn`) describe the queue of a link, each queue of a scheduler, and
what waits in a shaper.
"""

from __future__ import annotations

from fractions import Fraction
from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import On, SpecModel, keys_of
from crosswind.spec.buffer import Bdp, Buffer, Room, resolved_buffer
from crosswind.spec.quantities import Dscp, PositiveDuration, PositivePartsPerBillion, Size
from crosswind.spec.scale import scaled

SHARED_MEMORY = (
    "What the queues of all ports share, in wire bytes: one memory in the switch, or one in each host. "
    "Without a buffer of its own a queue is then bounded by the memory alone."
)


class Codel(SpecModel):
    """Drops what leaves once packets have waited longer than the target for an interval (RFC 8289)."""

    target_ns: PositiveDuration = Field(
        5_000_000, alias="target", description="The wait that is accepted; 5ms when absent."
    )
    interval_ns: PositiveDuration = Field(
        100_000_000,
        alias="interval",
        description="How long it may be exceeded, about the longest round trip; 100ms when absent.",
    )


class Profile(SpecModel):
    """Which share is dropped at which average queue."""

    min_bytes: Size = Field(alias="min", description="Average queue below which nothing is dropped.")
    max_bytes: Size = Field(
        alias="max",
        description="Average queue at which `probability` is dropped; at twice this everything is.",
    )
    probability_ppb: PositivePartsPerBillion = Field(alias="probability", description="Dropped at `max`.")


def _weight() -> Any:
    return Field(
        2_000_000,
        alias="weight",
        description="What an arrival counts in the average queue; 0.2% when absent.",
    )


class Red(Profile):
    """Drops newcomers at random, the more the longer the queue has been on average (Floyd, Jacobson)."""

    weight_ppb: PositivePartsPerBillion = _weight()


class Wred(SpecModel):
    """RED with a profile for each colour, which is the drop precedence of the DSCP."""

    green: Profile = Field(description="AFx1, and packets without a colour.")
    yellow: Profile = Field(description="AFx2.")
    red: Profile = Field(description="AFx3.")
    weight_ppb: PositivePartsPerBillion = _weight()


class EarlyDrop(SpecModel):
    """A policy that acts before the buffer is full: a mapping with one key, the policy's name."""

    red: Red | None = None
    wred: Wred | None = None
    codel: Codel | None = None

    @model_validator(mode="after")
    def _has_one_name(self) -> EarlyDrop:
        if len(self.model_fields_set) != 1 or self._given() is None:
            raise PydanticCustomError(
                "element",
                "must name one policy with its parameters: {names}",
                {"names": ", ".join(keys_of(EarlyDrop))},
            )
        return self

    def _given(self) -> Red | Wred | Codel | None:
        return self.red or self.wred or self.codel

    @property
    def given(self) -> Red | Wred | Codel:
        """The one policy that is set."""
        given = self._given()
        assert given is not None  # Checked when the policy was read.
        return given


def _named_or_full(value: Any) -> str:
    return "early" if isinstance(value, dict | EarlyDrop) else "full"


Drop = Annotated[
    Annotated[Literal["tail", "head"], Tag("full")] | Annotated[EarlyDrop, Tag("early")],
    Discriminator(_named_or_full),
]


class Managed(SpecModel):
    """What may wait, what is dropped, and how congestion is signalled: in every queue."""

    buffer: Room | Bdp | None  # Every queue says what it counts, and what it is when absent.
    drop: Drop = Field(
        "tail", description="The newcomer, the oldest, or by a policy that acts early; tail when absent."
    )
    ecn: bool = Field(
        False, description="Mark packets that take marks where the policy would drop them early."
    )


class InMemory(Managed):
    """A queue that may be part of a memory."""

    alpha: float | None = Field(
        None,
        ge=1e-9,
        le=1024,
        description="Of the shared memory: how much it may hold for each free byte; 1 when absent.",
    )


class Queue(InMemory):
    """Replaces the FIFO in front of the uplink (host.egress) or of the downlink (switch.egress)."""

    buffer: Buffer | None = Field(
        None, description="What may wait, in wire bytes; absent: the uplink's buffer."
    )
    memory_bytes: Size | None = Field(None, alias="memory", description=SHARED_MEMORY)
    on: On = None


class ScheduledQueue(InMemory):
    """One queue of a scheduler."""

    dscp: list[Dscp] | Literal["default"] = Field(
        description="What it takes; exactly one queue takes `default`."
    )
    weight: int | None = Field(
        None,
        ge=1,
        le=1_000_000,
        description="wrr: packets a round; drr, stfq: share of bytes; none for strict.",
    )
    buffer: Buffer | None = Field(
        None, description="What may wait, in wire bytes; absent: the uplink's buffer."
    )


def resolved_queue(given: Managed, rate_bps: int | None, scale: float) -> dict[str, Any]:
    """Return the keys of a queue for the agent, scaled; those left out have their usual meaning there.

    Args:
        rate_bps: what empties the queue, before scaling.
    """
    resolved: dict[str, Any] = {}
    if given.buffer is not None:
        resolved = resolved_buffer(given.buffer, rate_bps, scale)
    if given.drop != "tail":
        resolved["drop"] = given.drop if isinstance(given.drop, str) else _early(given.drop, scale)
    if given.ecn:
        resolved["ecn"] = True
    if isinstance(given, InMemory) and given.alpha is not None:
        resolved["alpha_ppb"] = int(Fraction(repr(given.alpha)) * 10**9)
    if isinstance(given, Queue) and given.memory_bytes is not None:
        resolved["memory_bytes"] = scaled(given.memory_bytes, scale)
    return resolved


def _early(drop: EarlyDrop, scale: float) -> dict[str, Any]:
    match drop.given:
        case Red() as red:
            return {"red": _profile(red, scale) | {"weight_ppb": red.weight_ppb}}
        case Wred() as wred:
            profiles = {"green": wred.green, "yellow": wred.yellow, "red": wred.red}
            resolved = {colour: _profile(profile, scale) for colour, profile in profiles.items()}
            return {"wred": resolved | {"weight_ppb": wred.weight_ppb}}
        case Codel() as codel:
            return {"codel": {"target_ns": codel.target_ns, "interval_ns": codel.interval_ns}}


def _profile(profile: Profile, scale: float) -> dict[str, int]:
    return {
        "min_bytes": scaled(profile.min_bytes, scale),
        "max_bytes": scaled(profile.max_bytes, scale),
        "probability_ppb": profile.probability_ppb,
    }
