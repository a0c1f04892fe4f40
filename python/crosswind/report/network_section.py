"""The section of a report about the network before the trials and after them."""

from __future__ import annotations

from dataclasses import dataclass

from crosswind.analysis.network.attached import attached, before_and_after
from crosswind.analysis.network.comparison import FigureComparison, FingerprintComparison
from crosswind.analysis.network.comparison_text import change_text, margin_text, unit_of, value_text
from crosswind.results.reading import Results
from crosswind.stats import Alike

_OLDER = "the run is older than this feature"


@dataclass(frozen=True)
class ComparedRow:
    """A figure; each value is a text and that of its interval, which may be empty."""

    title: str
    before: tuple[str, str]
    after: tuple[str, str]
    change: tuple[str, str]
    margin: str
    verdict: Alike
    why: str


@dataclass(frozen=True)
class NetworkSection:
    """The section; where there is nothing to compare, `rows` is empty and `left_out` has the reason."""

    about: str  # what was measured; empty where nothing was
    answer: str
    rows: list[ComparedRow]
    left_out: str


def network_section(results: Results) -> NetworkSection:
    """Return the section of a results folder."""
    found = attached(results.path)
    compared = before_and_after(found)
    if compared is None:
        planned = None if results.provenance.before is None else results.provenance.before.fingerprint
        lacking = " or ".join(side for side in ("before", "after") if side not in found)
        why = _OLDER if planned is None else planned.left_out
        return NetworkSection("", "", [], why or f"the run has no fingerprint from {lacking} it")
    before = found["before"]
    about = f"from {' to '.join(before.between)} under {before.condition}"
    return NetworkSection(about, _answer(compared), [_row(figure) for figure in compared.figures], "")


def _answer(compared: FingerprintComparison) -> str:
    if named := compared.named("different"):
        return f"It changed during the run: {', '.join(named)}."
    if named := compared.named("undecided"):
        return f"No change was found; undecided: {', '.join(named)}."
    return "Every figure was the same before and after."


def _row(found: FigureComparison) -> ComparedRow:
    unit = unit_of(found)
    return ComparedRow(
        found.figure.title,
        value_text(found.base, unit),
        value_text(found.other, unit),
        ("-", "") if found.change is None else change_text(found.change, found.figure.unit),
        margin_text(found.figure.margin, found.figure.unit),
        found.verdict,
        found.why,
    )
