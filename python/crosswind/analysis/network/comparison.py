"""Two networks by their fingerprints: figure by figure the same, different, or undecided.

The same: the whole interval of the change lies within the figure's margin. Different: all of it lies beyond.
In between a longer measurement is needed; that nothing was shown to differ is no sameness.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from crosswind.analysis.network.document import NotAFingerprint
from crosswind.analysis.network.figures import AtLeast, Found, Trait, at, figures_of
from crosswind.analysis.plain import as_plain
from crosswind.errors import Exit
from crosswind.machine import machine_fingerprint
from crosswind.results import MachineFacts
from crosswind.stats import Alike, Bounded, alike, difference_of, ratio_of

Document = Mapping[str, Any]

# What an end is besides its interface; of a machine that both share the provenance tells it.
_OF_MACHINES = ("kernel", "cpu", "cores", "clock_source", "governor", "virtualisation")
# Another one in every fabric.
_OF_EVERY_RUN = ("interface.name", "interface.address")

_EXITS = {"same": Exit.DONE, "different": Exit.NOT_COMPARABLE, "undecided": Exit.UNDECIDED}


@dataclass(frozen=True)
class Change:
    """What a figure of the other network is to that of the base: times as large, or larger by."""

    kind: Literal["ratio", "difference"]
    interval: Bounded
    least: float  # of the margin
    most: float


@dataclass(frozen=True)
class FigureComparison:
    """One figure in both."""

    figure: Trait
    base: Found
    other: Found
    change: Change | None  # None unless both have a value
    verdict: Alike
    why: str  # in a few words, where the change does not say it; else empty

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        about = {"key": self.figure.key, "title": self.figure.title, "unit": self.figure.unit}
        said = {name: value for name, value in vars(self).items() if name != "figure"}
        plain: dict[str, Any] = as_plain(about | said | {"margin": self.figure.margin})
        return plain


@dataclass(frozen=True)
class FingerprintComparison:
    """Two networks."""

    figures: list[FigureComparison]
    notes: list[str]  # what differs besides, in sentences

    @property
    def verdict(self) -> Alike:
        """DIFFERENT if any figure is, SAME if all are."""
        verdicts = {found.verdict for found in self.figures}
        if "different" in verdicts:
            return "different"
        return "same" if verdicts == {"same"} else "undecided"

    @property
    def exit(self) -> Exit:
        """The exit status that says the same."""
        return _EXITS[self.verdict]

    def named(self, verdict: Alike) -> list[str]:
        """Return the titles of the figures with a verdict."""
        return [found.figure.title for found in self.figures if found.verdict == verdict]

    def as_dict(self) -> dict[str, Any]:
        """Return the comparison as plain values."""
        figures = [found.as_dict() for found in self.figures]
        return {"verdict": self.verdict, "exit": int(self.exit), "figures": figures, "notes": self.notes}


def compare_fingerprints(base: Sequence[Document], other: Sequence[Document]) -> FingerprintComparison:
    """Compare two networks.

    Args:
        base: the documents of one, such as those of before and after a run: a figure lies anywhere between
            what the lowest and the highest of them say.
        other: those of the other.
    Raises: NotAFingerprint: a document is malformed.
    """
    try:
        figures = figures_of((*base, *other))
    except (AttributeError, KeyError, TypeError) as error:
        raise NotAFingerprint(f"fingerprint: cannot be read ({error!r}); was the file edited?") from error
    found = []
    for figure in figures:
        sides = [_spanned([_read(figure, document) for document in side]) for side in (base, other)]
        if sides != [None, None]:
            found.append(_compared(figure, *sides))
    return FingerprintComparison(found, _notes(base[0], other[0]))


def _read(figure: Trait, document: Document) -> Found:
    try:
        return figure.read(document)
    except (KeyError, TypeError, ValueError) as error:
        raise NotAFingerprint(
            f"fingerprint: {figure.title}: cannot be read ({error!r}); was the file edited?"
        ) from error


def _spanned(found: Sequence[Found]) -> Found:
    """Return what holds all that was found of a figure; a bound only where there is no value."""
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
        why = f"only the {'other' if base is None else 'base'} says"
        return FigureComparison(figure, base, other, None, "undecided", why)
    if isinstance(base, AtLeast) and isinstance(other, AtLeast):
        why = "not reached in either: the same as far as both went"
        return FigureComparison(figure, base, other, None, "same", why)
    bound, value = (base, other) if isinstance(base, AtLeast) else (other, base)
    assert isinstance(bound, AtLeast)
    assert isinstance(value, Bounded)
    beyond = bound.at_least > value.high + figure.margin.of(value.high, bound.at_least)
    why = "the bound lies beyond" if beyond else "the bound does not reach as far"
    return FigureComparison(figure, base, other, None, "different" if beyond else "undecided", why)


def _change(figure: Trait, base: Bounded, other: Bounded) -> Change:
    """Return a ratio where the margin is one and there is one, else a difference."""
    if not figure.margin.absolute and min(base.low, other.low) > 0:
        most = 1 + figure.margin.share
        return Change("ratio", ratio_of(base, other), 1 / most, most)
    margin = figure.margin.of(base.value, other.value)
    return Change("difference", difference_of(base, other), -margin, margin)


def _ends(base: Document, other: Document) -> list[str]:
    """Return what differs in the ends: their interfaces and sysctls, and of a far machine what it is."""
    notes = []
    for end in ("near", "far"):
        facts = [at(document, "machines", "before", end) or {} for document in (base, other)]
        shared = any(at(side, "machines", "before", "here") for side in (base, other))
        of_machine = _OF_MACHINES if end == "far" and not shared else ()
        for key in (*of_machine, "interface", "sysctls", "cloud"):
            sides = [_flat(key, side.get(key)) for side in facts]
            for name in sorted({*sides[0], *sides[1]}):
                before, now = (side.get(name, "absent") for side in sides)
                if before != now and name not in _OF_EVERY_RUN:
                    notes.append(f"{end} end, {name}: {before} and {now}")
    return notes


def _flat(name: str, found: Any) -> dict[str, Any]:
    """Return what stands in nested mappings by names such as `interface.mtu_bytes`."""
    if not isinstance(found, Mapping):
        return {} if found is None else {name: found}
    parts = (_flat(f"{name}.{part}", inner) for part, inner in found.items())
    return {key: value for part in parts for key, value in part.items()}


def _notes(base: Document, other: Document) -> list[str]:
    """Return what differs between two fingerprints besides their figures."""
    notes = []
    for title, path in (
        ("ended early", ("ended",)),
        ("condition", ("condition",)),
        ("between", ("between",)),
        ("place", ("way", "place")),
        ("tunnel", ("way", "tunnel")),
        ("distance", ("way", "distance")),
        ("token bucket", ("token_bucket", "kind")),
    ):
        sides = [at(document, *path) for document in (base, other)]
        if sides[0] != sides[1]:
            told = (", ".join(side) if isinstance(side, list) else side for side in sides)
            notes.append(f"{title}: {' and '.join(map(str, told))}")
    notes += _ends(base, other)
    was, found = (
        machine_fingerprint(MachineFacts.model_validate(document.get("provenance") or {}))
        for document in (base, other)
    )
    if was is None or found is None:
        return [*notes, "provenance is missing or incomplete, so nothing says where both were measured"]
    for name in sorted({*was, *found}):
        before, now = was.get(name, "absent"), found.get(name, "absent")
        if before != now:
            notes.append(f"{name}: {before} and {now}")
    return notes
