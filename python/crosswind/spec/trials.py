"""How often, in which order and for how long an experiment runs."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Discriminator, Field, Tag

from crosswind.spec.base import SpecModel
from crosswind.spec.quantities import DurationOrAuto, PositiveDuration, Share, Size

TrialCount = Annotated[int, Field(ge=1, le=100_000)]


class Until(SpecModel):
    """Stops when the interval of a quantile is narrow enough at three looks, in every condition."""

    quantile: float = Field(
        0.5, gt=0, lt=1, description="Of the per-trial values; 0.5 is the median over trials."
    )
    within: Share = Field(description="Half the width of the interval, as a share of the quantile.")
    confidence: Share = Field(0.95, description="Of the interval; 95% when absent.")


class Growing(SpecModel):
    """Blocks are added until the interval is narrow enough, or the maximum is reached."""

    at_least: TrialCount = Field(
        alias="at least", description="Trials of each condition before the first look."
    )
    at_most: TrialCount = Field(alias="at most", description="Most trials of each condition.")
    until: Until


class Limits(SpecModel):
    """Limits of a run, and what happens after void and failed trials."""

    duration_ns: PositiveDuration | None = Field(
        None, alias="duration", description="Of the whole run; none when absent."
    )
    void: Literal["stop", "accept"] = Field(
        "stop",
        description="A trial void after its repetitions: exit 4 (stop) or count the run as done (accept).",
    )
    failed: Literal["continue", "stop"] = Field("continue", description="After a failed trial.")


class Capture(SpecModel):
    """How much of the packets is stored."""

    snap_bytes: Size = Field(128, alias="snap", description="Of each frame; 128B, all headers, when absent.")
    limit_bytes: Size = Field(1 << 30, alias="limit", description="Of each trial's file; 1GiB when absent.")


def _count_or_growing(value: object) -> str:
    return "growing" if isinstance(value, dict | Growing) else "count"


class Trials(SpecModel):
    """Repetitions of every condition."""

    repeat: Annotated[
        Annotated[TrialCount, Tag("count")] | Annotated[Growing, Tag("growing")],
        Discriminator(_count_or_growing),
    ] = Field(description="Trials of each condition: a number, or `at least`, `at most`, `until`.")
    order: Literal["randomised-blocks", "sequential"] = Field(
        "randomised-blocks", description="Every condition once per block, in random order; or as listed."
    )
    rest_ns: DurationOrAuto = Field(
        1_000_000_000,
        alias="rest",
        description="Between trials; 1s when absent. `auto`: until kept budgets are back at the first level.",
    )
    budgets: Literal["fresh", "kept"] = Field(
        "fresh",
        description="Budget of credit buckets at the start of a trial: their `initial` budget; or, "
        "`kept`, what the last trial under the same condition left, plus the refill since.",
    )
    seed: int = Field(1, ge=0, lt=2**63, description="Of all random draws; 1 when absent.")
    limits: Limits = Field(default_factory=lambda: Limits.model_validate({}))
    record: bool = Field(
        False, description="Store every decision of the network in recordings/, for `crosswind simulate`."
    )
    capture: Capture | None = Field(
        None, description="Store the packets in captures/, as pcapng for Wireshark; none when absent."
    )
