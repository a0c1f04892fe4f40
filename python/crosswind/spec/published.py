"""Published results of the same experiment, shown beside those of a run.

A condition is named as in the experiment, or by the last part of its name: `interference` means both
`icpe23/interference` and `icpe23-deployed/interference`. Metrics and statistics are those of metrics.parquet
(docs/reference/contracts.md, section 5).
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Annotated

from pydantic import Discriminator, Field, Tag, TypeAdapter

from crosswind import catalog
from crosswind.spec.base import SpecModel
from crosswind.spec.document import Path, read_document
from crosswind.spec.level import LevelValue
from crosswind.spec.quantities import shown
from crosswind.spec.resolved import PublishedFigure, ResolvedPublished
from crosswind.text.nearest import did_you_mean

Statistics = Annotated[dict[str, LevelValue], Field(min_length=1)]


class Published(SpecModel):
    """Published results by metric, condition and statistic, such as `p99: 205695us`."""

    source: str = Field(description="Where it was published.")
    figures: dict[str, dict[str, Statistics]] = Field(
        min_length=1, description="Metric, such as `latency.read`: condition: statistic: value with its unit."
    )


def _name_or_inline(value: object) -> str:
    return "inline" if isinstance(value, dict | Published) else "name"


PublishedEntry = Annotated[
    Annotated[str, Tag("name")] | Annotated[Published, Tag("inline")], Discriminator(_name_or_inline)
]


@cache
def load_published(name: str) -> Published:
    """Return a set of the catalogue.

    Raises: KeyError: `name` is not one of `catalog.published_names()`.
    """
    return TypeAdapter(Published).validate_python(read_document(catalog.published_file(name)).data)


def published_findings(entry: PublishedEntry, conditions: Sequence[str]) -> Iterator[tuple[Path, str]]:
    """Yield what is wrong with `published` in an experiment with these conditions, each with its path."""
    if isinstance(entry, str):
        known = catalog.published_names()
        if entry not in known:
            remedy = did_you_mean(entry, known) or f"choose one of {', '.join(known)}"
            yield (), f"{shown(entry)} is not a set of published figures of the catalogue; {remedy}"
        return
    ends = [name.rpartition("/")[2] for name in conditions]
    for metric, by_condition in entry.figures.items():
        for condition, statistics in by_condition.items():
            if condition not in conditions and condition not in ends:
                remedy = (
                    did_you_mean(condition, [*conditions, *ends]) or f"choose one of {', '.join(conditions)}"
                )
                yield ("figures", metric, condition), f"is not a condition of this experiment; {remedy}"
            for statistic, value in statistics.items():
                if value.number is None:
                    place = ("figures", metric, condition, statistic)
                    yield (
                        place,
                        f"{shown(value.written)} is not a number; write it with its unit, such as 246us",
                    )


def resolved_published(entry: PublishedEntry, conditions: Sequence[str]) -> ResolvedPublished:
    """Return `published` of the resolved experiment, without figures of conditions that it lacks."""
    published = load_published(entry) if isinstance(entry, str) else entry
    return ResolvedPublished(
        source=published.source,
        figures=[
            PublishedFigure(
                metric=metric,
                condition=name,
                statistic=statistic,
                unit=value.unit,
                value=value.number,
            )
            for metric, by_condition in published.figures.items()
            for condition, statistics in by_condition.items()
            for name in conditions
            if condition in (name, name.rpartition("/")[2])
            for statistic, value in statistics.items()
            # Others were refused when the file was read.
            if value.unit is not None and value.number is not None
        ],
    )
