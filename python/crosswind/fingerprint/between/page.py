"""Write the measurement of all pairs as one HTML file that looks like the report of a run."""

from __future__ import annotations

from datetime import datetime
from pathlib import Path

from crosswind.analysis.answer import Answer
from crosswind.fingerprint.between.document import BetweenDocument, PairFigures, read_between
from crosswind.fingerprint.between.heat import heat_tables
from crosswind.fingerprint.between.placement_table import FIGURES, figure_text, placement_rows, reading
from crosswind.fingerprint.between.table import warnings
from crosswind.text import html_file, units

PAGE = "between.html"


def write_page(folder: Path) -> Path:
    """Write the page into the folder, and return its path.

    Raises: NotAFingerprint: the folder has no such measurement.
    """
    page = folder / PAGE
    page.write_text(render(read_between(folder)), encoding="utf-8")
    return page


def render(document: BetweenDocument) -> str:
    """Return the page as text."""
    measured = document.provenance.get("time")
    placements = placement_rows(document)
    return html_file.render(
        "between.html.j2",
        [],
        document=document,
        answers=answers(document),
        tables=heat_tables(document),
        warnings=list(warnings(document)),
        placement_heads=list(FIGURES),
        placements=[
            (
                row.placement,
                row.pairs,
                [figure_text(row.figures.get(name), show).split("\n") for name, (_, show) in FIGURES.items()],
            )
            for row in placements
        ],
        placement_reading=reading(placements) if placements else [],
        provenance=html_file.flat(document.provenance),
        measured=datetime.fromisoformat(measured) if isinstance(measured, str) else None,
    )


def answers(document: BetweenDocument) -> list[Answer]:
    """Return the answers on the first screen."""
    missing = [pair for pair in document.pairs if pair.ended is not None]
    whole = [pair for pair in document.pairs if pair.delay_ns is not None]
    found = []
    if missing:
        found.append(
            Answer(
                "Is it complete?",
                f"{len(missing)} of {len(document.pairs)} ordered pairs are missing",
                "The reasons are below.",
                "bad",
            )
        )
    if whole:
        far = max(whole, key=lambda it: it.delay_ns or 0)
        found.append(_named("Which way is longest?", far, units.duration(far.delay_ns), _bound(far)))
    carrying = [pair for pair in whole if pair.goodput_bps is not None]
    if carrying:
        slow = min(carrying, key=lambda it: it.goodput_bps or 0)
        found.append(_named("Which way carries least?", slow, units.rate(slow.goodput_bps), " (TCP payload)"))
    if losing := [pair for pair in whole if pair.loss]:
        worst = max(losing, key=lambda it: it.loss or 0)
        found.append(_named("Which way loses most?", worst, units.percent(worst.loss), " of small packets"))
    return found


def _bound(pair: PairFigures) -> str:
    return "" if pair.bound_ns is None else f" \u00b1 {units.duration(pair.bound_ns)}, median"


def _named(question: str, pair: PairFigures, short: str, more: str) -> Answer:
    return Answer(question, short, f"{pair.source} to {pair.target}: {short}{more}.", "plain")
