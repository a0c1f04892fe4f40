"""The part of a delay that varies from packet to packet (reference: docs/reference/elements.md)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Discriminator, Field, JsonValue, PlainValidator, Tag, WithJsonSchema, model_validator
from pydantic_core import PydanticCustomError

from crosswind.spec.base import SpecModel
from crosswind.spec.measured import SAMPLES_MAX, parse_delays, parse_dist, spread_dist
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.parameters.reader import Around, Sending
from crosswind.spec.quantities import Duration, PositiveDuration, QuantityError, shown
from crosswind.spec.resolved import Parameters
from crosswind.spec.setting import Finding

_DEPTH_MAX = 65_536


def read_depth(value: object) -> int | None:
    """Return the entries of a table, or None for `exact`.

    Raises: QuantityError: neither, or the table is too small to vary or too large to store.
    """
    if value is None or value == "exact":
        return None
    if isinstance(value, int) and not isinstance(value, bool) and 2 <= value <= _DEPTH_MAX:
        return value
    raise QuantityError(f"{shown(value)} is not a depth; write exact, or 2 to {_DEPTH_MAX} entries")


Depth = Annotated[
    int | None,
    PlainValidator(read_depth),
    WithJsonSchema({"anyOf": [{"const": "exact"}, {"type": "integer", "minimum": 2, "maximum": _DEPTH_MAX}]}),
]


class Lognormal(SpecModel):
    """A lognormal distribution, shifted and scaled: `time` is the mean of the delay, `jitter` its standard
    deviation."""

    sigma: float = Field(gt=0, le=4, description="Its shape: the standard deviation of the logarithm.")


class Bin(SpecModel):
    """One bin of a histogram; all delays in it are equally likely."""

    low_ns: Duration = Field(alias="low")
    high_ns: Duration = Field(alias="high", description="Above low.")
    count: int = Field(ge=0, lt=2**32, description="Number of measured delays.")


def _list_or_file(value: object) -> str:
    return "list" if isinstance(value, list) else "file"


Samples = Annotated[
    Annotated[list[Duration], Field(min_length=1, max_length=SAMPLES_MAX), Tag("list")]
    | Annotated[NamedFile[tuple[int, ...]], *named_file(parse_delays, "rtt.csv"), Tag("file")],
    Discriminator(_list_or_file),
]


class MeasuredLaw(SpecModel):
    """A distribution with a parameter, or a measured one."""

    lognormal: Lognormal | None = Field(None, description="By the shape of its tail.")
    samples: Samples | None = Field(
        None, description="Measured delays, each equally likely: a list, or a file with one on each line."
    )
    dist: Annotated[NamedFile[tuple[int, ...]] | None, *named_file(parse_dist, "pareto.dist")] = Field(
        None, description="A distribution of netem; needs a jitter."
    )
    histogram: list[Bin] | None = Field(
        None, min_length=1, description="Measured delays, counted in ascending bins."
    )

    @model_validator(mode="after")
    def _is_one_law(self) -> MeasuredLaw:
        if len(self.model_fields_set) != 1:
            raise PydanticCustomError("element", "must have one law: lognormal, samples, dist or histogram")
        for first, second in zip(self.histogram or [], (self.histogram or [])[1:], strict=False):
            if first.high_ns > second.low_ns:
                raise PydanticCustomError("element", "has bins that overlap or descend; sort them")
        if any(each.low_ns >= each.high_ns for each in self.histogram or []):
            raise PydanticCustomError("element", "has a bin whose high is not above its low; swap them")
        if self.histogram is not None and not sum(each.count for each in self.histogram):
            raise PydanticCustomError("element", "has no delay in any bin; write a count above zero")
        return self

    @property
    def has_spread(self) -> bool:
        """Whether it defines the spread of delays by itself."""
        return self.samples is not None or self.histogram is not None


def _named_or_measured(value: object) -> str:
    return "measured" if isinstance(value, dict | MeasuredLaw) else "named"


class Variation(SpecModel):
    """Variation around a constant delay; none where neither a jitter nor a law is given."""

    jitter_ns: PositiveDuration | None = Field(
        None,
        alias="jitter",
        description="The spread of the random part; optional with measured distributions.",
    )
    law: (
        Annotated[
            Annotated[Literal["uniform", "normal", "pareto", "pareto-normal"], Tag("named")]
            | Annotated[MeasuredLaw, Tag("measured")],
            Discriminator(_named_or_measured),
        ]
        | None
    ) = Field(None, description="Distribution of the random part; uniform when absent.")
    depth: Depth = Field(
        None, description="The exact distribution, or the number of entries of a table; exact when absent."
    )
    order: Literal["keep", "free"] = Field(
        "keep", description="`keep`: packets stay in order; `free`: they may overtake. keep when absent."
    )
    half_life_ns: PositiveDuration | None = Field(
        None,
        alias="half_life",
        description="Time between packets at which the correlation of their delays is one half; absent: all "
        "are independent.",
    )

    @model_validator(mode="after")
    def _means_something(self) -> Variation:
        if not self.varies:
            idle = [name for name in ("depth", "order", "half_life_ns") if name in self.model_fields_set]
            if idle:
                word = idle[0].removesuffix("_ns")
                raise PydanticCustomError(
                    "element", "has {word} but does not vary; give a jitter or a law", {"word": word}
                )
        elif self.jitter_ns is None and not (isinstance(self.law, MeasuredLaw) and self.law.has_spread):
            raise PydanticCustomError("element", "has a law without a spread; give a jitter")
        if self.jitter_ns is not None and isinstance(self.law, MeasuredLaw):
            self.sent_law()  # Refuses measurements that cannot be scaled.
        return self

    @property
    def varies(self) -> bool:
        """Whether the delay varies."""
        return self.jitter_ns is not None or self.law is not None

    def sent_law(self) -> Parameters:
        """Return the distribution as the agent takes it: its name and parameters."""
        if not isinstance(self.law, MeasuredLaw):
            return {(self.law or "uniform").replace("-", "_"): {"jitter_ns": self.jitter_ns}}
        if self.law.lognormal is not None:
            sigma_ppm = round(self.law.lognormal.sigma * 10**6)
            return {"lognormal": {"jitter_ns": self.jitter_ns, "sigma_ppm": max(sigma_ppm, 1)}}
        if self.law.samples is not None:
            samples = self.law.samples
            delays_ns = (samples.says or ()) if isinstance(samples, NamedFile) else samples
            return {"samples": {"samples_ns": [*sorted(spread_samples(delays_ns, self.jitter_ns))]}}
        if self.law.dist is not None:
            entries_ns = spread_dist(self.law.dist.says or (), self.jitter_ns or 0)
            return {"samples": {"samples_ns": [*sorted(entries_ns)]}}
        return {"histogram": {"bins": list(spread_bins(self.law.histogram or [], self.jitter_ns))}}


def spread_samples(samples_ns: Sequence[int], jitter_ns: int | None) -> list[int]:
    """Return samples as they are, or centred on their mean with `jitter_ns` as their standard deviation.

    A file that was not read with the whole has none.

    Raises: PydanticCustomError: all are equal, so they cannot be scaled.
    """
    if jitter_ns is None or not samples_ns:
        return list(samples_ns)
    mean_ns = sum(samples_ns) / len(samples_ns)
    deviation_ns = math.sqrt(sum((sample - mean_ns) ** 2 for sample in samples_ns) / len(samples_ns))
    if deviation_ns == 0:
        raise PydanticCustomError("element", "has samples that do not vary; remove the jitter")
    return [round((sample - mean_ns) * jitter_ns / deviation_ns) for sample in samples_ns]


def spread_bins(bins: Sequence[Bin], jitter_ns: int | None) -> Iterator[Parameters]:
    """Yield bins as they are, or centred and with `jitter_ns` as the standard deviation of the histogram.

    Raises: PydanticCustomError: the jitter is so small that a bin is narrower than a nanosecond.
    """
    mean_ns, factor = 0.0, 1.0
    if jitter_ns is not None:
        total = sum(each.count for each in bins)
        mean_ns = sum(each.count * (each.low_ns + each.high_ns) / 2 for each in bins) / total
        # The variance of the bin's middle, plus that of uniform values inside it.
        variance = sum(
            each.count
            * (((each.low_ns + each.high_ns) / 2 - mean_ns) ** 2 + (each.high_ns - each.low_ns) ** 2 / 12)
            for each in bins
        )
        factor = jitter_ns / math.sqrt(variance / total)
    for each in bins:
        low_ns, high_ns = round((each.low_ns - mean_ns) * factor), round((each.high_ns - mean_ns) * factor)
        if low_ns >= high_ns:
            raise PydanticCustomError("element", "has bins narrower than 1ns at this jitter; make it larger")
        yield {"low_ns": low_ns, "high_ns": high_ns, "count": each.count}


class VariationReader:
    """Reads the keys of a delay that describe its variation."""

    model = Variation

    def sent_from(self, name: str, given: Variation, sending: Sending) -> Parameters:
        """Return the distribution and how delays are drawn from it; nothing where the delay is constant."""
        if not given.varies:
            return {}
        random: Parameters = {
            "law": given.sent_law(),
            "depth": given.depth,
            "order": given.order,
            "half_life_ns": given.half_life_ns,
        }
        return {name: random}

    def spread_findings(self, raw: JsonValue, around: Around) -> Iterator[Finding]:
        """Yield nothing: the model checks everything."""
        yield from ()
