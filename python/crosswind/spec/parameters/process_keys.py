"""The capacity of a link as a function of time (reference: docs/reference/elements.md)."""

from __future__ import annotations

from functools import partial
from typing import Annotated

from pydantic import (
    BaseModel,
    Discriminator,
    Field,
    Tag,
    model_validator,
)
from pydantic_core import PydanticCustomError

from crosswind.spec.ballani import Cloud, Tails
from crosswind.spec.base import SpecModel, made_model
from crosswind.spec.link_log import FORMATS, LinkLog, parse_log
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.quantities import (
    Duration,
    Level,
    LimitedLevel,
    PartsPerBillion,
    PositiveDuration,
    PositivePartsPerBillion,
    QuantityError,
)
from crosswind.spec.trace import OpportunityTrace, RateTrace, parse_opportunities, parse_rates

LAWS = ("steps", "trace", "mahimahi", "log", "quantiles", "ballani", "markov")
BALLANI_HOLD_NS = 5_000_000_000


class MarkovState(SpecModel):
    """One state of a chain: the rate in it, and which other states may follow."""

    rate_bps: Level = Field(alias="rate")
    to: dict[str, PositivePartsPerBillion] = Field(
        {}, description="Probability of each other state to follow; the rest is the probability to stay."
    )


def _is_one_log(logs: BaseModel) -> BaseModel:
    if len(logs.model_fields_set) != 1:
        raise PydanticCustomError("element", "must have one file; write its format and the file")
    return logs


# One key for each format.
LogFile = made_model(
    "LogFile",
    "A log that another tool wrote: its format, and the file, by a path relative to the file that names it.",
    {
        name: (
            Annotated[NamedFile[LinkLog] | None, *named_file(partial(parse_log, name), "bus.csv")],
            Field(None, description=f"Of {form.about}."),
        )
        for name, form in FORMATS.items()
    },
    after=_is_one_log,
)


def log_of(given: SpecModel) -> LinkLog | None:
    """Return the log of a `LogFile`; None where the file was not read."""
    (named,) = (named for _, named in given if named is not None)
    assert isinstance(named, NamedFile)
    return named.says


def _yes_or_time(value: object) -> str:
    return "yes" if isinstance(value, bool) else "time"


Repeat = Annotated[
    Annotated[bool, Tag("yes")] | Annotated[PositiveDuration, Tag("time")], Discriminator(_yes_or_time)
]


class RateProcess(SpecModel):
    """A rate as a function of time: one of the first seven keys, and keys that belong to it."""

    steps: dict[Duration, Level] | None = Field(
        None, min_length=1, description="A rate from each time on, the first from 0s."
    )
    trace: Annotated[NamedFile[RateTrace] | None, *named_file(parse_rates, "capacity.csv")] = Field(
        None, description="A CSV file of times and rates; its path is relative to the file that names it."
    )
    mahimahi: Annotated[
        NamedFile[OpportunityTrace] | None, *named_file(parse_opportunities, "cellular.up")
    ] = Field(None, description="A trace of Mahimahi: delivery opportunities of 1500 B.")
    log: LogFile | None = Field(  # type: ignore[valid-type]  # A model that is made at run time.
        None,
        description="A log of a phone or a dish: rates and, where it has them, delays of one `direction`.",
    )
    quantiles: dict[PartsPerBillion, LimitedLevel] | None = Field(
        None,
        min_length=2,
        description="Shares and the rate of each, drawn again every `hold`: uniform in between, and outside "
        "with the density of the next cell.",
    )
    ballani: Cloud | None = Field(None, description="A cloud of the study, drawn again every `hold`.")
    markov: dict[str, MarkovState] | None = Field(
        None, min_length=1, description="States by name; a step every `hold`, starting in the first."
    )
    tails: Tails | None = Field(
        None,
        description="ballani: as the published emulator draws, or with the outer 2 %; published when absent.",
    )
    hold_ns: PositiveDuration | None = Field(
        None,
        alias="hold",
        description="quantiles, ballani: how long a draw is used; 5s when absent for ballani. markov: length "
        "of a step.",
    )
    resample_ns: PositiveDuration | None = Field(
        None,
        alias="resample",
        description="steps, trace: play blocks of this length, each from a random place, instead of the list "
        "in its order; steps need a `repeat`.",
    )
    repeat: Repeat | None = Field(
        None,
        description="steps: start again after this time. trace, log: true, or after this time. "
        "mahimahi: true when absent.",
    )

    @model_validator(mode="after")
    def _repeats_after_the_last_row(self) -> RateProcess:
        trace = self.trace.says if self.trace is not None else None
        listed = trace or (log_of(self.log) if self.log is not None else None)
        if (
            listed is not None
            and not isinstance(self.repeat, bool | None)
            and self.repeat <= listed.at_ns[-1]
        ):
            raise QuantityError(
                f"repeats after {self.repeat}ns, but the last row of its trace is at {listed.at_ns[-1]}ns; "
                "write a longer time, or true"
            )
        endless = trace is not None and trace.end_ns is None and len(trace.at_ns) == 1
        if endless and self.resample_ns is not None and not self.repeat:
            raise QuantityError("resamples a trace of one row, which has no end; add a row with `end`")
        return self
