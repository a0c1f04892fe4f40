"""Write a fingerprint as one self-contained HTML file that looks like the report of a run."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime
from pathlib import Path

from crosswind.analysis.answer import Answer
from crosswind.analysis.network.comparison_text import margin_text, value_text
from crosswind.analysis.network.document import FingerprintDocument, read_fingerprint
from crosswind.analysis.network.figures import AtLeast, Found, figures_of, until_empty
from crosswind.analysis.network.token_bucket import TokenBucketPart
from crosswind.analysis.network.transfers import BulkPart, DelayPart, RoundTripPart
from crosswind.fingerprint.machine_state import changes, states
from crosswind.fingerprint.pictures import pictures
from crosswind.text import html_file, units

Facts = list[tuple[str, str]]


def write_page(path: Path) -> Path:
    """Write the page of a fingerprint beside its file, and return the path of the page.

    Raises: NotAFingerprint: the file is none.
    """
    text = render(read_fingerprint(path))
    page = path.with_suffix(".html")
    page.write_text(text, encoding="utf-8")
    return page


def render(document: FingerprintDocument) -> str:
    """Return the page as text."""
    measured = document.provenance.get("time")
    return html_file.render(
        "fingerprint.html.j2",
        pictures(document),
        document=document,
        way=document.way and str(document.way),
        answers=answers(document),
        rows=_rows(document),
        states=states(document),
        changes=changes(document),
        machines=_machines(document),
        fitted=_bucket(document.token_bucket, until_empty(document)).text if document.token_bucket else "",
        measured=datetime.fromisoformat(measured) if isinstance(measured, str) else None,
    )


def _machines(document: FingerprintDocument) -> dict[str, tuple[Facts, Facts]]:
    """Return all facts of each end and of the machine that measured, before and after, by their titles."""
    before, after = document.machines.before, document.machines.after
    looks = {
        "The near end": (before and before.near.as_json(), after and after.near.as_json()),
        "The far end": (before and before.far.as_json(), after and after.far.as_json()),
        "The machine that measured": (document.provenance, document.provenance_after),
    }
    return {
        title: (html_file.flat(was), html_file.flat(now) if now else [])
        for title, (was, now) in looks.items()
        if was
    }


@dataclass(frozen=True)
class FigureRow:
    """A figure as a row of the table."""

    title: str
    value: str
    interval: str
    margin: str


def _rows(document: FingerprintDocument) -> list[FigureRow]:
    rows = []
    for figure in figures_of([document]):
        found = figure.read(document)
        if found is None:
            continue
        value = found.at_least if isinstance(found, AtLeast) else found.value
        unit = units.column_unit([value], units.units_of(figure.unit))
        rows.append(
            FigureRow(figure.title, *value_text(found, unit), margin_text(figure.margin, figure.unit))
        )
    return rows


def answers(document: FingerprintDocument) -> list[Answer]:
    """Return the answers on the first screen."""
    found = [_ended(document.ended)] if document.ended else []
    if document.delay is not None:
        found.append(_delay(document.delay, document.round_trip))
    if document.bulk is not None:
        found.append(_bulk(document.bulk))
    if document.token_bucket is not None:
        found.append(_bucket(document.token_bucket, until_empty(document)))
    if (changed := changes(document)) is not None:
        found.append(_stayed(document, changed))
    return found


def _stayed(document: FingerprintDocument, changed: list[str]) -> Answer:
    question = "Did the machines change?"
    name = "the machine" if len(states(document)) < 2 else "the machines"
    if changed:
        some = f"{len(changed)} thing{'s' if len(changed) > 1 else ''}"
        return Answer(question, f"{some} changed", f"{changed[0]}. See {name}, before and after.", "bad")
    loads = "; ".join(
        f"{state.name}: {state.rows[0].before}, then {state.rows[0].after}" for state in states(document)
    )
    load = f" Load average of 1, 5 and 15 min of {loads}." if loads else ""
    return Answer(question, "No", f"No setting, device or tool changed meanwhile.{load}", "good")


def _ended(why: str) -> Answer:
    question = "Is it complete?"
    return Answer(question, "It ended early", f"{why} This page has what was measured before that.", "bad")


def _delay(delay: DelayPart, round_trip: RoundTripPart) -> Answer:
    question = "How late is a packet?"
    there_and_back = _round_trips(round_trip)
    if not delay.one_way_ns:
        text = f"The one-way delay is unknown: the two ends have no common clock.{there_and_back}"
        return Answer(question, "See the round trips", text, "plain")
    late = {name: units.duration(value) for name, value in delay.one_way_ns.items()}
    lost = f"{units.count(delay.lost)} of {units.count(delay.packets)} packets were lost"
    return Answer(
        question,
        late["p50"],
        f"One-way delay of small packets on an idle network (median). P90 {late['p90']}, P99 {late['p99']}; "
        f"{lost}.{there_and_back}",
        "bad" if delay.lost else "plain",
    )


def _round_trips(found: RoundTripPart) -> str:
    idle, loaded = (trips.ns.get("p50") if trips else None for trips in (found.idle, found.loaded))
    if idle is None:
        return ""
    during = f", and {units.duration(loaded)} during a bulk transfer" if loaded else ""
    return f" A round trip takes {units.duration(idle)}{during}."


def _bulk(bulk: BulkPart) -> Answer:
    again = "an unknown number of" if bulk.retransmits is None else units.count(bulk.retransmits)
    return Answer(
        "How much does it carry?",
        units.rate(bulk.goodput_bps),
        f"Payload over {len(bulk.each_bps)} TCP connections, in their common window. Jain's index "
        f"{units.number(bulk.jain)}, {again} retransmissions.",
        "plain",
    )


def _bucket(bucket: TokenBucketPart, carried: Found) -> Answer:
    question, high = "Is there a token bucket?", units.rate(bucket.high_bps.value)
    if isinstance(carried, AtLeast):
        return Answer(
            question,
            f"Not within {units.quantity(carried.at_least, 'bit')}",
            f"At {high} the rate never fell. If there is a bucket, it held at least that, less the refill of "
            "that time; a longer measurement may still empty it.",
            "plain",
        )
    refill, budget = bucket.refill_bps, bucket.budget_bits
    low = units.rate(bucket.low_bps.value if bucket.low_bps else None)
    back = f"its refill is {units.rate(refill.value)}" if refill else "its refill is unknown"
    kind = {
        "bucket": "A bucket: the low rate is the refill.",
        "two-state": "A controller with two rates: the low rate is not the refill.",
    }.get(bucket.kind, "No rest shows whether the low rate is the refill.")
    return Answer(
        question,
        f"{units.quantity(budget.value if budget else None, 'bit')} deep",
        f"{high} for {units.number(bucket.emptied_s)} s, then {low}; {back}. {kind}",
        "wary",
    )
