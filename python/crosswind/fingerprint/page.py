"""A fingerprint as one HTML file with everything in it, in the look of the report."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from pathlib import Path
from typing import Any

from crosswind.analysis.answer import Answer
from crosswind.analysis.network.comparison_text import margin_text, value_text
from crosswind.analysis.network.document import NotAFingerprint, read_fingerprint
from crosswind.analysis.network.figures import AtLeast, at, figures_of, until_empty
from crosswind.fingerprint.machine_state import changes, states
from crosswind.fingerprint.measure.way import way_text
from crosswind.fingerprint.pictures import pictures
from crosswind.text import html_file, units

Facts = list[tuple[str, str]]


def write_page(path: Path) -> Path:
    """Write the page of a fingerprint's file beside it and return its path.

    Raises: NotAFingerprint: the file is none.
    """
    document = read_fingerprint(path)
    try:
        text = render(document)
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise NotAFingerprint(f"{path}: cannot be read ({error!r}); was the file edited?") from error
    page = path.with_suffix(".html")
    page.write_text(text, encoding="utf-8")
    return page


def render(document: Mapping[str, Any]) -> str:
    """Return the page as text."""
    figures = pictures(document)
    measured = document["provenance"].get("time")
    return html_file.render(
        "fingerprint.html.j2",
        figures,
        document=document,
        way=way_text(document["way"]) if "way" in document else None,
        answers=answers(document),
        rows=_rows(document),
        states=states(document),
        changes=changes(document),
        machines=_machines(document),
        fitted=_bucket(document).text if "token_bucket" in document else "",
        measured=datetime.fromisoformat(measured) if measured else None,
    )


def _machines(document: Mapping[str, Any]) -> dict[str, tuple[Facts, Facts]]:
    """Return all facts of each end and of the machine that measured, before and after, by their titles."""
    looks = {
        f"The {end} end": [at(document, "machines", when, end) for when in ("before", "after")]
        for end in ("near", "far")
    }
    looks["The machine that measured"] = [document["provenance"], document.get("provenance_after")]
    return {
        title: (html_file.flat(before), html_file.flat(after) if after else [])
        for title, (before, after) in looks.items()
        if before
    }


@dataclass(frozen=True)
class Row:
    """A figure as the table shows it."""

    title: str
    value: str
    interval: str
    margin: str


def _rows(document: Mapping[str, Any]) -> list[Row]:
    rows = []
    for figure in figures_of([document]):
        found = figure.read(document)
        if found is None:
            continue
        value = found.at_least if isinstance(found, AtLeast) else found.value
        unit = units.column_unit([value], units.units_of(figure.unit))
        rows.append(Row(figure.title, *value_text(found, unit), margin_text(figure.margin, figure.unit)))
    return rows


def answers(document: Mapping[str, Any]) -> list[Answer]:
    """Return what the first screen says."""
    found = [_ended(document["ended"])] if at(document, "ended") else []
    if "delay" in document:
        found.append(_delay(document["delay"], at(document, "round_trip")))
    if "bulk" in document:
        found.append(_bulk(document["bulk"]))
    if "token_bucket" in document:
        found.append(_bucket(document))
    if (changed := changes(document)) is not None:
        found.append(_stayed(document, changed))
    return found


def _stayed(document: Mapping[str, Any], changed: list[str]) -> Answer:
    question = "Did the machines change?"
    name = "the machine" if len(states(document)) < 2 else "the machines"
    if changed:
        some = f"{len(changed)} thing{'s' if len(changed) > 1 else ''}"
        return Answer(question, f"{some} changed", f"{changed[0]}. See {name}, before and after.", "bad")
    loads = "; ".join(
        f"{state.name}: {state.rows[0].before}, then {state.rows[0].after}" for state in states(document)
    )
    beside = f" Load of 1, 5 and 15 min of {loads}." if loads else ""
    return Answer(question, "No", f"No setting, device or tool changed meanwhile.{beside}", "good")


def _ended(why: str) -> Answer:
    question = "Is it whole?"
    return Answer(question, "It ended early", f"{why} What stands here was measured until then.", "bad")


def _delay(delay: Mapping[str, Any], round_trip: Mapping[str, Any] | None) -> Answer:
    question = "How late is a packet?"
    there_and_back = _round_trips(round_trip) if round_trip else ""
    if not delay["one_way_ns"]:
        text = f"One way is not known: the two ends have no common clock.{there_and_back}"
        return Answer(question, "See the round trips", text, "plain")
    late = {name: units.duration(value) for name, value in delay["one_way_ns"].items()}
    lost = f"{units.count(delay['lost'])} of {units.count(delay['packets'])} packets were lost"
    return Answer(
        question,
        late["p50"],
        f"One way, small packets, nothing else under way. P90 {late['p90']}, P99 {late['p99']}; {lost}."
        f"{there_and_back}",
        "bad" if delay["lost"] else "plain",
    )


def _round_trips(found: Mapping[str, Any]) -> str:
    idle, loaded = (at(found, name, "ns", "p50") for name in ("idle", "loaded"))
    beside = f", and {units.duration(loaded)} beside a bulk transfer" if loaded else ""
    return f" There and back {units.duration(idle)}{beside}."


def _bulk(bulk: Mapping[str, Any]) -> Answer:
    connections = len(bulk["each_bps"])
    again = "an unknown number of" if bulk["retransmits"] is None else units.count(bulk["retransmits"])
    return Answer(
        "What does it carry?",
        units.rate(bulk["goodput_bps"]),
        f"Of payload, over {connections} TCP connections in the window that all of them have. Jain's index "
        f"{units.number(bulk['jain'])}, {again} segments sent again.",
        "plain",
    )


def _bucket(document: Mapping[str, Any]) -> Answer:
    bucket, carried = document["token_bucket"], until_empty(document)
    question, high = "Is there a token bucket?", units.rate(bucket["high_bps"]["value"])
    if isinstance(carried, AtLeast):
        return Answer(
            question,
            f"Not within {units.quantity(carried.at_least, 'bit')}",
            f"At {high} the rate never fell. If there is a bucket, it held at least that, less what came "
            "back meanwhile; a longer measurement may still empty it.",
            "plain",
        )
    low = units.rate(bucket["low_bps"]["value"])
    refill = bucket["refill_bps"]
    back = f"its refill is {units.rate(refill['value'])}" if refill else "its refill is not known"
    kind = {
        "bucket": "A bucket: the low rate is the refill.",
        "two-state": "A controller with two rates: the low rate is not the refill.",
    }.get(bucket["kind"], "No rest says whether the low rate is the refill.")
    return Answer(
        question,
        f"{units.quantity(bucket['budget_bits']['value'], 'bit')} deep",
        f"{high} for {units.number(bucket['emptied_s'])} s, then {low}; {back}. {kind}",
        "wary",
    )
