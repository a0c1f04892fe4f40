"""Figures of all pairs as tables whose cells are darker where a figure is larger."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from crosswind.fingerprint.between.document import BetweenDocument, PairFigures
from crosswind.text import units

# Of the colour, in per cent: the largest value is still behind readable text.
_DARKEST = 45


@dataclass(frozen=True)
class HeatCell:
    """A cell: its text, a smaller line below it, how dark it is in per cent, and why it is empty."""

    text: str
    below: str = ""
    shade: int = 0
    why: str = ""


@dataclass(frozen=True)
class HeatTable:
    """A square table; rows are where packets come from, columns where they go to."""

    key: str
    title: str
    caption: str
    names: list[str]
    rows: list[tuple[str, list[HeatCell | None]]]


def heat_tables(document: BetweenDocument) -> list[HeatTable]:
    """Return the tables for which there are figures; None is the diagonal."""
    drawn = (
        _table(
            document,
            "delay",
            "One-way delay.",
            "Median, and by how much it may be wrong: what is known of the two clocks. What one direction "
            "has too much, the other has too little.",
            lambda it: it.delay_ns,
            units.duration,
            lambda it: "" if it.bound_ns is None else f"\u00b1 {units.duration(it.bound_ns)}",
        ),
        _table(
            document,
            "jitter",
            "Jitter.",
            "Half of what lies between the 16th and the 84th percentile of the delays, and their P99.",
            lambda it: it.jitter_ns,
            units.duration,
            lambda it: "" if it.delay_p99_ns is None else f"P99 {units.duration(it.delay_p99_ns)}",
        ),
        _table(
            document,
            "trips",
            "Round trip.",
            "Median; it needs one clock only.",
            lambda it: it.round_trip_ns,
            units.duration,
        ),
        _table(document, "loss", "Loss.", "Share of small packets.", lambda it: it.loss, units.percent),
        _table(
            document,
            "rate",
            "TCP.",
            "Payload of the number of connections that carries most, median.",
            lambda it: it.goodput_bps,
            units.rate,
        ),
    )
    return [table for table in drawn if table is not None]


def _table(
    document: BetweenDocument,
    key: str,
    title: str,
    caption: str,
    read: Callable[[PairFigures], float | None],
    show: Callable[[float | None], str],
    below: Callable[[PairFigures], str] = lambda _: "",
) -> HeatTable | None:
    pairs = {(it.source, it.target): it for it in document.pairs}
    values = [value for it in document.pairs if (value := read(it)) is not None]
    if not values:
        return None
    names = [machine.name for machine in document.machines]

    def cell(source: str, target: str) -> HeatCell | None:
        if source == target:
            return None
        pair = pairs.get((source, target))
        value = None if pair is None else read(pair)
        if pair is None or value is None:
            return HeatCell("-", why="" if pair is None else pair.ended or "")
        shade = round(_DARKEST * value / max(values)) if max(values) > 0 else 0
        return HeatCell(show(value), below(pair), shade)

    rows = [(source, [cell(source, target) for target in names]) for source in names]
    return HeatTable(key, title, caption, names, rows)
