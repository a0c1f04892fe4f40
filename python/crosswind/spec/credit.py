"""The credit bucket: an element whose rate depends on what has been sent, as some clouds' do."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pydantic import Field

from crosswind.spec.base import On, SpecModel
from crosswind.spec.buffer import BufferOrUnlimited
from crosswind.spec.document import Path
from crosswind.spec.draft import sound_field, value_at
from crosswind.spec.quantities import (
    LimitedRate,
    PositiveDuration,
    Volume,
    VolumeOrZero,
    shown,
)
from crosswind.spec.queue import Managed, resolved_queue
from crosswind.spec.scale import scaled, unscaled


class Loop(SpecModel):
    """A credit bucket as it was emulated: a loop that looks at what was sent and switches the rate."""

    interval_ns: PositiveDuration = Field(alias="interval", description="From run to run.")
    reopen_bits: VolumeOrZero = Field(
        alias="reopen", description="The budget above which the high rate is switched on again."
    )


class Credit(Managed):
    """A high rate while there is budget, a low one without; the budget is refilled all the time."""

    budget_bits: Volume = Field(alias="budget", description="The most that the bucket holds, IP bits.")
    initial_bits: VolumeOrZero | None = Field(
        None, alias="initial", description="What is in it when the condition begins; full when absent."
    )
    high_bps: LimitedRate = Field(alias="high", description="IP bits per second while there is budget.")
    low_bps: LimitedRate = Field(alias="low", description="IP bits per second without.")
    refill_bps: LimitedRate = Field(
        alias="refill", description="IP bits per second that come, at most `low`."
    )
    buffer: BufferOrUnlimited = Field(
        description="What may wait, in IP bytes; a time counts at the low rate."
    )
    loop: Loop | None = Field(
        None, description="As a published emulator did it. Absent: exact, decided for every packet."
    )
    on: On = None

    def resolved(self, scale: float) -> dict[str, Any]:
        """Return the parameters as the agent takes them, scaled."""
        initial_bits = self.budget_bits if self.initial_bits is None else self.initial_bits
        resolved: dict[str, Any] = {
            "budget_bits": scaled(self.budget_bits, scale),
            "initial_bits": scaled(initial_bits, scale),
            "high_bps": scaled(self.high_bps, scale),
            "low_bps": scaled(self.low_bps, scale),
            "refill_bps": scaled(self.refill_bps, scale),
            **resolved_queue(self, self.low_bps, scale),
        }
        if self.loop is not None:
            resolved["loop"] = {
                "interval_ns": self.loop.interval_ns,
                "reopen_bits": scaled(self.loop.reopen_bits, scale),
            }
        return resolved


def credit_findings(raw: Any, mtu_bytes: int | None, scale: float) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong between the parameters of a credit bucket."""
    yield from _budget_findings(raw, mtu_bytes, scale)
    yield from _not_above(raw, "low", "high", "the high rate is the faster one")
    yield from _not_above(raw, "refill", "low", "or the low rate would spend less than comes, and never hold")


def _budget_findings(raw: Any, mtu_bytes: int | None, scale: float) -> Iterator[tuple[Path, str]]:
    budget_bits = sound_field(Credit, "budget_bits", raw)
    if budget_bits is None:
        return
    budget = shown(value_at(raw, "budget"))
    if mtu_bytes is not None and scaled(budget_bits, scale) < 8 * mtu_bytes:
        least_bits = unscaled(8 * mtu_bytes, scale)
        message = f"{budget} is smaller than one packet of {mtu_bytes}B; write at least {least_bits}bit"
        yield ("budget",), message
    initial_bits = sound_field(Credit, "initial_bits", raw)
    if initial_bits is not None and initial_bits > budget_bits:
        yield ("initial",), f"{shown(value_at(raw, 'initial'))} is above budget {budget}; give at most that"
    reopen_bits = sound_field(Loop, "reopen_bits", value_at(raw, "loop"))
    if reopen_bits is not None and reopen_bits >= budget_bits:
        text = shown(value_at(raw, "loop", "reopen"))
        yield ("loop", "reopen"), f"{text} can never be exceeded by budget {budget}; give less than that"


def _not_above(raw: Any, lower: str, upper: str, why: str) -> Iterator[tuple[Path, str]]:
    lower_bps, upper_bps = (sound_field(Credit, f"{name}_bps", raw) for name in (lower, upper))
    if lower_bps is not None and upper_bps is not None and lower_bps > upper_bps:
        texts = shown(value_at(raw, lower)), shown(value_at(raw, upper))
        yield (lower,), f"{texts[0]} is above {upper} {texts[1]}; give at most that: {why}"
