"""What the network of a run was before its trials and after them, as the report shows it."""

from __future__ import annotations

from dataclasses import dataclass

from crosswind.analysis.network.attached import attached, before_and_after
from crosswind.analysis.network.comparison import FigureComparison, FingerprintComparison
from crosswind.analysis.network.comparison_text import change_text, margin_text, unit_of, value_text
from crosswind.results.reading import Results
from crosswind.stats import Alike

_OLDER = "the run was made before runs took them"


@dataclass(frozen=True)
class Row:
    """A figure; each text goes with that of its interval, which may be empty."""

    title: str
    before: tuple[str, str]
    after: tuple[str, str]
    change: tuple[str, str]
    margin: str
    verdict: Alike
    why: str


@dataclass(frozen=True)
class NetworkSection:
    """The section; `rows` are empty where there is nothing to compare, and `left_out` says why."""

    about: str  # what was measured; empty where nothing was
    answer: str
    rows: list[Row]
    left_out: str


def network_section(results: Results) -> NetworkSection:
    """Return the section of a results folder."""
    found = attached(results.path)
    compared = before_and_after(found)
    if compared is None:
        planned = None if results.provenance.before is None else results.provenance.before.fingerprint
        lacking = " or ".join(side for side in ("before", "after") if side not in found)
        why = _OLDER if planned is None else planned.left_out
        return NetworkSection("", "", [], why or f"the run has not got one from {lacking} it")
    before = found["before"]
    about = f"from {' to '.join(before.between)} under {before.condition}"
    return NetworkSection(about, _answer(compared), [_row(figure) for figure in compared.figures], "")


def _answer(compared: FingerprintComparison) -> str:
    if named := compared.named("different"):
        return f"It changed during the run: {', '.join(named)}."
    if named := compared.named("undecided"):
        return f"Nothing is shown to have changed; undecided: {', '.join(named)}."
    return "It was the same before and after, in every figure."


def _row(found: FigureComparison) -> Row:
    unit = unit_of(found)
    return Row(
        found.figure.title,
        value_text(found.base, unit),
        value_text(found.other, unit),
        ("-", "") if found.change is None else change_text(found.change, found.figure.unit),
        margin_text(found.figure.margin, found.figure.unit),
        found.verdict,
        found.why,
    )
