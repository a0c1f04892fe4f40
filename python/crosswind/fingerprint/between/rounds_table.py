"""How the figures of each pair varied over the rounds, as a table; it describes, and judges nothing."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rich import box
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from crosswind.fingerprint.between.document import PairFigures
from crosswind.fingerprint.between.rounds import RoundsRecord
from crosswind.stats import Refused, coefficient_of_variation, quantile
from crosswind.text.console import widen
from crosswind.text.quantities import rate_text, time_text
from crosswind.text.units import percent

READING = (
    "Each figure: the median over rounds, and the range (least .. most). variation: standard deviation of "
    "the TCP rate over its mean."
)


@dataclass(frozen=True)
class PairOverRounds:
    """One ordered pair over all rounds.

    Attributes:
        rounds: in which it was measured; `missing` those in which it was not.
    """

    source: str
    target: str
    rounds: int
    missing: int
    figures: tuple[PairFigures, ...]

    def values(self, read: Callable[[PairFigures], float | None]) -> list[float]:
        """Return a figure of each round that has it."""
        return [value for it in self.figures if (value := read(it)) is not None]


def pairs_over_rounds(record: RoundsRecord) -> list[PairOverRounds]:
    """Return each ordered pair with its figures, in the order of the machines."""
    names = [machine.name for machine in record.header.machines]
    found = []
    for source in names:
        for target in names:
            lines = [
                line.figures
                for line in record.measured
                if (line.figures.source, line.figures.target) == (source, target)
            ]
            whole = tuple(figures for figures in lines if figures.ended is None)
            if lines:
                found.append(PairOverRounds(source, target, len(whole), len(lines) - len(whole), whole))
    return found


def print_rounds(record: RoundsRecord, console: Console) -> None:
    """Print the table."""
    widen(console)
    pairs = pairs_over_rounds(record)
    rounds = len({line.round for line in record.measured})
    console.print(
        f"[bold]{len(record.header.machines)} machines[/bold], {record.header.pattern}: {rounds} round"
        f"{'' if rounds == 1 else 's'} in {time_text(1e9 * record.measured_s)}, "
        f"{len(record.sittings_s)} sitting{'' if len(record.sittings_s) == 1 else 's'}"
    )
    shown = Table(box=box.SIMPLE_HEAD, pad_edge=False, header_style="bold")
    for head in ("from", "to"):
        shown.add_column(head, no_wrap=True)
    for head in ("rounds", "one way", "bound", "jitter", "round trip", "loss", "TCP", "variation"):
        shown.add_column(head, justify="right", no_wrap=True)
    for pair in pairs:
        missing = f" [yellow](+{pair.missing} missing)[/yellow]" if pair.missing else ""
        loss, rates = pair.values(lambda it: it.loss), pair.values(lambda it: it.goodput_bps)
        shown.add_row(
            escape(pair.source),
            escape(pair.target),
            f"{pair.rounds}{missing}",
            _range(pair.values(lambda it: it.delay_ns), time_text),
            _median(pair.values(lambda it: it.bound_ns), lambda ns: f"\u00b1 {time_text(ns)}"),
            _range(pair.values(lambda it: it.jitter_ns), time_text),
            _range(pair.values(lambda it: it.round_trip_ns), time_text),
            percent(sum(loss) / len(loss)) if loss else "-",
            _range(rates, rate_text),
            _variation(rates),
        )
    console.print(shown, soft_wrap=False)
    console.print(READING, style="dim", markup=False)


def _median(values: Sequence[float], show: Callable[[float], str]) -> str:
    return show(quantile(values, 0.5)) if values else "-"


def _range(values: Sequence[float], show: Callable[[float], str]) -> str:
    if not values:
        return "-"
    return f"{_median(values, show)}\n[dim]{show(min(values))} .. {show(max(values))}[/dim]"


def _variation(values: Sequence[float]) -> str:
    try:
        return percent(coefficient_of_variation(values))
    except Refused:
        return "-"
