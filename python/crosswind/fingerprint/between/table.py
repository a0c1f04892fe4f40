"""The figures of all pairs as a table, and why some are missing."""

from __future__ import annotations

from collections.abc import Iterator

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.fingerprint.between.document import BetweenDocument, PairFigures
from crosswind.text.console import widen
from crosswind.text.quantities import rate_text, time_text
from crosswind.text.units import percent

# More would not be read; the document has them all.
ROWS_MAX = 90


def print_between(document: BetweenDocument, console: Console) -> None:
    """Print the table."""
    widen(console)
    measured = [pair for pair in document.pairs if pair.delay_ns is not None]
    rounds = f"{document.rounds} round{'' if document.rounds == 1 else 's'}"
    console.print(
        f"[bold]{len(document.machines)} machines[/bold], {len(measured)} of {len(document.pairs)} ordered "
        f"pairs measured in {rounds}"
    )
    if measured:
        console.print(_table(measured[:ROWS_MAX]), soft_wrap=False)
    if len(measured) > ROWS_MAX:
        console.print(f"and {len(measured) - ROWS_MAX} more pairs in the file", style="dim")
    for line in _notes(document, bool(measured)):
        console.print(line, style="dim", markup=False)
    for line in warnings(document):
        console.print(f"[bold yellow]![/bold yellow] {escape(line)}")


def _table(pairs: list[PairFigures]) -> Table:
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    shown.add_column("from", no_wrap=True)
    shown.add_column("to", no_wrap=True)
    for head in ("one way", "bound", "p99", "jitter", "round trip", "loss", "TCP"):
        shown.add_column(head, justify="right", no_wrap=True)
    source = None
    for pair in pairs:
        if source is not None and pair.source != source:
            shown.add_section()
        shown.add_row(
            "" if pair.source == source else escape(pair.source), escape(pair.target), *_cells(pair)
        )
        source = pair.source
    return shown


def _cells(pair: PairFigures) -> list[str]:
    bound = "-" if pair.bound_ns is None else f"± {time_text(pair.bound_ns)}"
    times = (pair.delay_p99_ns, pair.jitter_ns, pair.round_trip_ns)
    return [
        _time(pair.delay_ns),
        bound,
        *map(_time, times),
        "-" if pair.loss is None else percent(pair.loss),
        "-" if pair.goodput_bps is None else rate_text(pair.goodput_bps),
    ]


def _time(ns: float | None) -> str:
    return "-" if ns is None else time_text(ns)


def _notes(document: BetweenDocument, any_measured: bool) -> Iterator[str]:
    if any_measured:
        yield ("one way: median, not wrong by more than the bound, which is what is known of the two clocks")
        yield "jitter: half of what lies between the 16th and the 84th percentile. TCP: payload"


def warnings(document: BetweenDocument) -> Iterator[str]:
    """Yield why pairs are missing, a line for each reason, and what the matrices lack."""
    reasons: dict[str, list[str]] = {}
    for pair in document.pairs:
        for reason in (pair.ended, pair.note):
            if reason is not None:
                reasons.setdefault(reason, []).append(f"{pair.source} to {pair.target}")
    for why, pairs in reasons.items():
        some = ", ".join(pairs[:6]) + (f" and {len(pairs) - 6} more" if len(pairs) > 6 else "")
        yield f"{some}: {why}"
    if document.left_out:
        yield f"the matrices lack {', '.join(document.left_out)}, of which a pair was not measured"
