"""Certify that an experiment's results do not depend on how much its time is slowed down."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path

from crosswind.analysis.invariance import MARGIN, Agreement, agreements
from crosswind.analysis.measure import Measure
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import Summary
from crosswind.certify.certificate import Certificate, Invariance
from crosswind.certify.claim import Claim, Decision, at_most, not_measured
from crosswind.results.reading import Results
from crosswind.text.change import change, change_interval

CLOCK = "perceived"
CLOCKS = "clocks"
BECAUSE = (
    f"two one-sided tests at 5 %, of the mean ratio within blocks: changes up to {100 * (MARGIN - 1):g} % do "
    "not matter"
)
_DECISIONS = {"same": Decision.HELD, "different": Decision.FAILED, "undecided": Decision.UNDECIDED}


def certificate_of(
    folder: Path, dilations: Sequence[int | None], left_out: str, took_s: float
) -> Certificate:
    """Return the certificate of a run that has every condition under each of some dilations.

    Args:
        left_out: why there was no null run; empty where there was one.
        took_s: the run.
    Raises: NotAResultsFolder: `folder` holds no results.
    """
    results = Results(folder)
    summary = summarise(results)
    claims = [*_clocks(summary, results), *map(_claim, agreements(summary, measures_of_application(summary)))]
    before = summary.provenance.before
    return Certificate.of(
        claims,
        {} if before is None else before.as_json(),
        took_s,
        None,
        suite="dilation",
        invariance=Invariance(dilations=tuple(dilations), results=str(results.path), left_out=left_out),
    )


def measures_of_application(summary: Summary) -> list[Measure]:
    """Return the figures that the application names; of a folder that names none, the first."""
    named = {Measure.of(figure) for figure in summary.resolved.application.figures}
    return [measure for measure in summary.measures if measure in named] or [summary.primary]


def _clocks(summary: Summary, results: Results) -> Iterator[Claim]:
    """Claim that time was slowed down for every program of every trial, and name all others."""
    odd: dict[str, int] = {}
    refused: dict[str, int] = {}
    counters: dict[str, int] = {}
    nodes = 0
    for trial in summary.trials:
        measurement = results.measurement(trial.row.trial)
        for node in [] if measurement is None else measurement.nodes:
            if node.dilation is None:
                continue
            nodes += 1
            for each in (*node.dilation.undilated, *node.dilation.killed):
                odd[each.program] = odd.get(each.program, 0) + each.count
            for call in node.dilation.refused:
                refused[call.call] = refused.get(call.call, 0) + call.count
            for read in node.dilation.counters:
                what = read.program if read.file == read.program else f"{read.program} in {read.file}"
                counters[what] = counters.get(what, 0) + read.reads
    name, because = "not slowed down", "a program in real time makes every figure of its trial doubtful"
    if not nodes:
        yield not_measured(CLOCKS, name, CLOCK, "programs", because, "no trial was measured to its end")
        return
    parts = (
        ("in real time, or ended because of it: ", odd),
        ("calls refused: ", refused),
        ("read the time-stamp counter, which is not slowed down, this often or more: ", counters),
    )
    remark = "; ".join(
        words + ", ".join(f"{what} ({count})" for what, count in found.items())
        for words, found in parts
        if found
    )
    yield at_most(CLOCKS, name, CLOCK, sum(odd.values()), 0, "programs", because, remark=remark)


def _claim(found: Agreement) -> Claim:
    pair, measure = found.pair, found.measure
    family = f"{pair.words} (null run)" if pair.is_null else pair.words
    name = f"{measure.label} under {pair.condition}"
    if found.low is None or found.high is None or found.change is None:
        return not_measured(family, name, CLOCK, "%", BECAUSE, _more(found.reason, found))
    largest = max(found.high, 1 / found.low)
    # A figure has one name in all families, so its note names the two.
    base, slower = pair.dilations
    against = f"dilation {slower} against {'real time' if base is None else base}"
    interval = change_interval(found.low, found.high)
    remark = f"{against}: {change(found.change)} ({interval}, {found.rounds} rounds)"
    if found.outcome == "same":
        remark = ""
    return Claim(
        family,
        name,
        CLOCK,
        100 * (largest - 1),
        100 * (MARGIN - 1),
        "%",
        BECAUSE,
        _DECISIONS[found.outcome],
        _more(remark, found),
        {
            "change_percent": 100 * (found.change - 1),
            "low_percent": 100 * (found.low - 1),
            "high_percent": 100 * (found.high - 1),
            "rounds": found.rounds,
        },
    )


def _more(reason: str, found: Agreement) -> str:
    if found.outcome != "undecided" or found.low is None:
        return reason
    if found.more_rounds is None:
        return f"{reason}; too close to the margin to decide"
    return f"{reason}; about {found.more_rounds} more would decide"
