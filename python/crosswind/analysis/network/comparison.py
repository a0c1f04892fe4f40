"""Compare two networks by their fingerprints: each figure is the same, different, or undecided.

Same: the whole interval of the change lies within the figure's margin. Different: all of it lies outside. In
between, a longer measurement is needed: no evidence of a difference is no evidence of sameness.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from pydantic import JsonValue

from crosswind.analysis.network.document import FingerprintDocument
from crosswind.analysis.network.ends import EndFacts
from crosswind.analysis.network.figures import AtLeast, Found, Trait, figures_of
from crosswind.analysis.network.way import Way
from crosswind.analysis.plain import as_plain
from crosswind.errors import Exit
from crosswind.machine import machine_fingerprint
from crosswind.results import MachineFacts
from crosswind.stats import Alike, Bounded, alike, difference_of, ratio_of

# What is compared of every end, and of a machine; the provenance has it of a machine that both ends share.
_OF_ENDS = {"interface", "sysctls", "cloud"}
_OF_MACHINES = {"kernel", "cpu", "cores", "clock_source", "governor", "virtualisation"}
# These differ in every fabric.
_OF_EVERY_RUN = ("interface.name", "interface.address")

_EXITS = {"same": Exit.DONE, "different": Exit.NOT_COMPARABLE, "undecided": Exit.UNDECIDED}


@dataclass(frozen=True)
class FigureChange:
    """How a figure of the other network differs from the base: by a ratio, or by a difference."""

    kind: Literal["ratio", "difference"]
    interval: Bounded
    least: float  # ends of the margin
    most: float


@dataclass(frozen=True)
class FigureComparison:
    """One figure of both networks."""

    figure: Trait
    base: Found
    other: Found
    change: FigureChange | None  # None unless both have a value
    verdict: Alike
    why: str  # the reason in a few words, where the change does not show it; else empty

    def as_json(self) -> dict[str, JsonValue]:
        """Return the comparison as plain values."""
        about = {"key": self.figure.key, "title": self.figure.title, "unit": self.figure.unit}
        said = {name: value for name, value in vars(self).items() if name != "figure"}
        return as_plain(about | said | {"margin": self.figure.margin})


@dataclass(frozen=True)
class FingerprintComparison:
    """The comparison of two networks."""

    figures: list[FigureComparison]
    notes: list[str]  # other differences, in sentences

    @property
    def verdict(self) -> Alike:
        """Different if any figure is, same if all are."""
        verdicts = {found.verdict for found in self.figures}
        if "different" in verdicts:
            return "different"
        return "same" if verdicts == {"same"} else "undecided"

    @property
    def exit(self) -> Exit:
        """The exit status that goes with the verdict."""
        return _EXITS[self.verdict]

    def named(self, verdict: Alike) -> list[str]:
        """Return the titles of the figures with a verdict."""
        return [found.figure.title for found in self.figures if found.verdict == verdict]

    def as_json(self) -> dict[str, JsonValue]:
        """Return the comparison as plain values."""
        figures: list[JsonValue] = [found.as_json() for found in self.figures]
        return {
            "verdict": self.verdict,
            "exit": int(self.exit),
            "figures": figures,
            "notes": list(self.notes),
        }


def compare_fingerprints(
    base: Sequence[FingerprintDocument], other: Sequence[FingerprintDocument]
) -> FingerprintComparison:
    """Compare two networks.

    Args:
        base: the documents of one network, such as those before and after a run. A figure then lies anywhere
            between the lowest and the highest of them.
        other: the documents of the other network.
    """
    found = []
    for figure in figures_of((*base, *other)):
        sides = [_spanned([figure.read(document) for document in side]) for side in (base, other)]
        if sides != [None, None]:
            found.append(_compared(figure, *sides))
    return FingerprintComparison(found, _notes(base[0], other[0]))


def _spanned(found: Sequence[Found]) -> Found:
    """Return the range that covers all results of a figure; a bound only where there is no value."""
    values = [each for each in found if isinstance(each, Bounded)]
    if values:
        middle = sum(each.value for each in values) / len(values)
        return Bounded(middle, min(each.low for each in values), max(each.high for each in values))
    bounds = [each.at_least for each in found if isinstance(each, AtLeast)]
    return AtLeast(max(bounds)) if bounds else None


def _compared(figure: Trait, base: Found, other: Found) -> FigureComparison:
    if isinstance(base, Bounded) and isinstance(other, Bounded):
        change = _change(figure, base, other)
        interval = change.interval
        verdict = alike(interval.low, interval.high, change.least, change.most)
        return FigureComparison(figure, base, other, change, verdict, "")
    if base is None or other is None:
        why = f"only the {'other' if base is None else 'base'} has it"
        return FigureComparison(figure, base, other, None, "undecided", why)
    if isinstance(base, AtLeast) and isinstance(other, AtLeast):
        why = "not reached in either, so the same as far as both were measured"
        return FigureComparison(figure, base, other, None, "same", why)
    bound, value = (base, other) if isinstance(base, AtLeast) else (other, base)
    assert isinstance(bound, AtLeast)
    assert isinstance(value, Bounded)
    beyond = bound.at_least > value.high + figure.margin.of(value.high, bound.at_least)
    why = "the bound is beyond the value" if beyond else "the bound is below the value"
    return FigureComparison(figure, base, other, None, "different" if beyond else "undecided", why)


def _change(figure: Trait, base: Bounded, other: Bounded) -> FigureChange:
    """Return a ratio where the margin is a share and both values are above 0, else a difference."""
    if not figure.margin.absolute and min(base.low, other.low) > 0:
        most = 1 + figure.margin.share
        return FigureChange("ratio", ratio_of(base, other), 1 / most, most)
    margin = figure.margin.of(base.value, other.value)
    return FigureChange("difference", difference_of(base, other), -margin, margin)


def _ends(base: FingerprintDocument, other: FingerprintDocument) -> list[str]:
    """Return differences between the ends: interfaces, sysctls, and what the machine of a far end is."""
    sides = [side.machines.before for side in (base, other)]
    shared = any(side is not None and side.here is not None for side in sides)
    of_far = _OF_ENDS if shared else _OF_ENDS | _OF_MACHINES
    return [
        *_differing("near", [side.near if side else None for side in sides], _OF_ENDS),
        *_differing("far", [side.far if side else None for side in sides], of_far),
    ]


def _differing(name: str, facts: Sequence[EndFacts | None], keys: set[str]) -> list[str]:
    base, other = (_flat("", end.model_dump(include=keys)) if end else {} for end in facts)
    return [
        f"{name} end, {key}: {base.get(key, 'absent')} and {other.get(key, 'absent')}"
        for key in sorted({*base, *other})
        if base.get(key) != other.get(key) and key not in _OF_EVERY_RUN
    ]


def _flat(name: str, found: JsonValue) -> dict[str, JsonValue]:
    """Return nested values by names such as `interface.mtu_bytes`."""
    if not isinstance(found, dict):
        return {} if found is None else {name: found}
    parts = (_flat(f"{name}.{part}".lstrip("."), inner) for part, inner in found.items())
    return {key: value for part in parts for key, value in part.items()}


def _notes(base: FingerprintDocument, other: FingerprintDocument) -> list[str]:
    """Return differences between two fingerprints other than their figures."""
    facts = [_facts(document) for document in (base, other)]
    notes = [
        f"{title}: {before} and {facts[1][title]}"
        for title, before in facts[0].items()
        if before != facts[1][title]
    ]
    notes += _ends(base, other)
    was, found = (
        machine_fingerprint(MachineFacts.model_validate(document.provenance or {}))
        for document in (base, other)
    )
    if was is None or found is None:
        return [*notes, "provenance is missing or incomplete, so the machines that measured are unknown"]
    for name in sorted({*was, *found}):
        before, now = was.get(name, "absent"), found.get(name, "absent")
        if before != now:
            notes.append(f"{name}: {before} and {now}")
    return notes


def _facts(document: FingerprintDocument) -> dict[str, str]:
    """Return the facts of a document that should be the same in the other one, by their titles."""
    way = document.way or Way()
    facts = {
        "ended early": document.ended,
        "condition": document.condition,
        "between": ", ".join(document.between),
        "place": way.place,
        "tunnel": way.tunnel,
        "distance": way.distance,
        "token bucket": document.token_bucket and document.token_bucket.kind,
    }
    return {title: str(fact) for title, fact in facts.items()}
