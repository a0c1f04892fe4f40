"""The first screen of a report: what was compared, what changed, how sure that is, can it be trusted."""

from collections import Counter
from dataclasses import dataclass
from typing import Literal

from crosswind.analysis.histories import QUESTION, data_answer
from crosswind.analysis.measure import Measure
from crosswind.analysis.moved import meet, of_median, ranges_meet
from crosswind.analysis.summary import ConditionSummary, Summary, TrialSummary
from crosswind.stats import NeedsTrials, RatioInterval, RefusedInterval
from crosswind.text.change import change
from crosswind.text.units import count, duration, percent, quantity, short_names

Mood = Literal["plain", "good", "wary", "bad"]

_MOODS: dict[str, Mood] = {"ok": "good", "unknown": "wary", "violation": "bad"}
_NAMED = 3  # how many conditions an answer names; it counts the others


@dataclass(frozen=True)
class Answer:
    """One question, its answer in a few words, and a sentence that supports it."""

    question: str
    short: str
    text: str
    mood: Mood


def answers(summary: Summary) -> list[Answer]:
    """Return the answers of the first screen; the first one gives the reason where no trial counts."""
    first = _compared(summary) if any(trial.counted for trial in summary.trials) else _failed(summary)
    return [first, *_right(summary), _differs(summary), _sure(summary), _believe(summary)]


def trials_so_far(summary: Summary) -> str:
    """Return how many of the planned trials have ended, where some have not; otherwise an empty text."""
    planned = {(trial.row.block, trial.row.position) for trial in summary.trials}
    ended = {
        (trial.row.block, trial.row.position)
        for trial in summary.trials
        if trial.row.status in ("done", "failed")
    }
    return "" if ended == planned else f"So far: {len(ended)} of {len(planned)} trials"


def _failed(summary: Summary) -> Answer:
    """Return why no trial of a run counts."""
    question = "What was measured?"
    reasons = Counter(
        reason
        for trial in summary.trials
        if (reason := trial.row.reason if trial.row.status == "failed" else trial.row.fidelity_reason)
    )
    if not reasons:
        return Answer(question, "Nothing yet", "No trial has ended.", "wary")
    counts = [f"{n} {kind}" for kind in ("failed", "void") if (n := summary.count(kind))]
    (reason, many), *others = reasons.most_common()
    text = f"{many} {summary.counts}{_s(many)}: {reason}"
    if others:
        text += f" (and {len(others)} other reason{_s(len(others))}, in the trial tables)"
    return Answer(question, f"Nothing: {' and '.join(counts)}", text, "bad")


def _compared(summary: Summary) -> Answer:
    ended = _ended(summary)
    trials = len({(trial.row.block, trial.row.position) for trial in ended})
    order, size = summary.resolved.trials.order, summary.resolved.application.size
    text = f"{summary.application or 'The application'}{f' at size {size}' if size else ''} in {trials} "
    text += f"trial{_s(trials)}"
    if summary.counts == "attempt":
        text += f" ({len(ended)} attempts)"
    if summary.has_operations:
        operations = sum(trial.operations or 0 for trial in summary.trials)
        loop = "open loop, from the intended start" if summary.open_loop else "closed loop"
        text += f", {count(operations)} operations in all, {loop}"
    return Answer(
        "What was compared?",
        f"{len(summary.conditions)} condition{_s(len(summary.conditions))}",
        text + (f", in {order.replace('-', ' ')} order." if order else "."),
        "plain",
    )


def _right(summary: Summary) -> list[Answer]:
    """Return whether the data are still right, where clients wrote histories."""
    if (found := data_answer(summary.histories)) is None:
        return []
    return [Answer(QUESTION, found.short, found.text, _MOODS[found.verdict])]


def _differs(summary: Summary) -> Answer:
    short = short_names(condition.name for condition in summary.conditions)
    question = "What changed, and by how much?"
    primary = summary.primary
    base = summary.base
    compared = [
        (estimate, condition)
        for condition in summary.conditions
        if (of := condition.ratios.get(primary.key)) is not None and (estimate := of.estimate) is not None
    ]
    if not compared:
        return Answer(
            question,
            "Nothing to compare",
            "A comparison needs two conditions with a counted trial each.",
            "plain",
        )
    # Without an interval, a difference that the machine alone may have made is no answer.
    known = [found for found in compared if not ranges_meet(found[1], base, primary.key)]
    ratio, farthest = max(known or compared, key=lambda found: max(found[0], 1 / found[0]))
    median, against = (quantity(c.estimates[primary.key].estimate, primary.unit) for c in (farthest, base))
    text = f"{short[farthest.name]}: {primary.label} {median} against {against} under {short[base.name]}"
    if meeting := _meeting(base, farthest, primary):
        text += f"; without this machine's disturbances {meeting}: these ranges meet"
    text += _body(summary, base, farthest, ratio)
    if share := farthest.slow_share.estimate:
        text += f". {percent(share)} of its operations took longer than 100 ms"
    said = change(ratio) if known else "may differ only because of this machine"
    return Answer(question, f"{primary.title} {said}", text + ".", "plain")


def _body(summary: Summary, base: ConditionSummary, farthest: ConditionSummary, ratio: float) -> str:
    """Return how the median of operations changed, where the answer is about another quantile."""
    body = next((m for m in summary.measures if m.of_operations and m.statistic == "p50"), None)
    if body is None or body == summary.primary or not summary.primary.of_operations:
        return ""
    found = farthest.ratios.get(body.key)
    if found is None or (estimate := found.estimate) is None:
        return ""
    if ranges_meet(farthest, base, body.key):
        return f"; the machine may have moved its median: {_meeting(base, farthest, body)}"
    # "Only" compares with the answer, so both have to change in one direction.
    little = (estimate > 1) == (ratio > 1) and max(ratio, 1 / ratio) > 3 * max(estimate, 1 / estimate)
    return f"; its median {'only ' if little else ''}{change(estimate)}"


def _meeting(base: ConditionSummary, other: ConditionSummary, measure: Measure) -> str:
    """Return the ranges of two medians in words if they meet; otherwise an empty text."""
    one, another = of_median(other, measure.key), of_median(base, measure.key)
    if one is None or another is None or not meet(one, another):
        return ""
    return " against ".join(
        f"{quantity(found.low, measure.unit)} to {quantity(found.high, measure.unit)}"
        for found in (one, another)
    )


def _sure(summary: Summary) -> Answer:
    question = "How sure is that?"
    primary = summary.primary
    others = [condition for condition in summary.conditions if condition.name != summary.baseline]
    known = [c for c in others if isinstance(c.ratios.get(primary.key), RatioInterval)]
    refused = [c for c in summary.conditions if isinstance(c.estimates[primary.key], RefusedInterval)]
    dependent = [condition for condition in refused if condition in others]
    if known and len(known) + len(dependent) == len(others):
        return _counted(question, summary, known, dependent)
    if refused:
        return Answer(question, "Trials are not independent", _dependent(summary, refused), "bad")
    estimates = [condition.estimates[primary.key] for condition in summary.conditions]
    lacking = [estimate for estimate in estimates if isinstance(estimate, NeedsTrials)]
    if not lacking and not others:
        return Answer(question, "See the interval", "The table has the exact interval over trials.", "plain")
    if not lacking:
        text = (
            f"Some values of {primary.label} are 0, so there is no ratio. Compare the intervals in the table."
        )
        return Answer(question, "See the intervals", text, "plain")
    needed = max((estimate.needed for estimate in lacking), default=6)
    fewest = min((estimate.n for estimate in lacking), default=0)
    return Answer(
        question,
        "Too few trials",
        f"A condition has only {fewest} trial{_s(fewest)}. A 95 % interval needs {needed} for a median, and "
        "4 on each side for a ratio. Large gaps between the dots below are informative even so.",
        "wary",
    )


def _counted(
    question: str, summary: Summary, known: list[ConditionSummary], dependent: list[ConditionSummary]
) -> Answer:
    """Return how many conditions differ from the baseline, corrected for all comparisons of the report."""
    differing = sum(condition.verdict(summary.primary) != "" for condition in known)
    text = (
        f"At 95 %, {differing} of {len(known)} conditions differ from the baseline in "
        f"{summary.primary.label}, corrected for all comparisons of this report (Holm). Each interval is "
        "exact, over trials, and not corrected."
    )
    if dependent:
        text += f" {_dependent(summary, dependent)}"
    mood: Literal["good", "wary"] = "wary" if dependent else "good"
    return Answer(question, f"{differing} of {len(known)} differ", text, mood)


def _dependent(summary: Summary, refused: list[ConditionSummary]) -> str:
    """Return which conditions have no interval, and what follows for the others."""
    short = short_names(condition.name for condition in summary.conditions)
    named = ", ".join(short[condition.name] for condition in refused[:_NAMED])
    if (more := len(refused) - _NAMED) > 0:
        named += f" and {more} more"
    text = (
        f"Trials are not independent under {named}, so no interval over them would hold. The warnings give "
        "the reasons and remedies."
    )
    if any(condition.name == summary.baseline for condition in refused):
        return f"{text} {short[summary.baseline]} is the baseline, so nothing can be compared with it."
    return text


def _believe(summary: Summary) -> Answer:
    question = "Can I trust the emulation?"
    faithful, all_trials = summary.count("faithful"), len(_ended(summary))
    every = f"{all_trials}{' attempts' if summary.counts == 'attempt' else ''}"
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    worst = max(
        (trial.ledger_error_ns["p99"] for trial in counted if "p99" in trial.ledger_error_ns), default=None
    )
    kinds = ("unverified", "degraded", "void", "failed", "interrupted", "pending")
    others = [f"{n} {kind}" for kind in kinds if (n := summary.count(kind))]
    error = (
        f"In every counted trial 99 % of packets left within {duration(worst)} of their due instant. "
        if worst is not None
        else ""
    )
    if unverified := summary.count("unverified"):
        text = (
            "Another program than the emulator carried the packets: nobody timed and counted each of them. "
        )
        others = [f"{n} {kind}" for kind in kinds[1:] if (n := summary.count(kind))]
        rest = f"Others: {', '.join(others)}." if others else ""
        return Answer(question, f"{unverified} of {every} unverified", (text + rest).strip(), "wary")
    rest = f"Others: {', '.join(others)}." if others else "No trial was degraded, void or failed."
    mood: Literal["good", "wary", "bad"] = (
        "good" if faithful == all_trials else "wary" if 2 * faithful >= all_trials else "bad"
    )
    return Answer(question, f"{faithful} of {every} faithful", error + rest, mood)


def _ended(summary: Summary) -> list[TrialSummary]:
    """Return the trials without interrupted and pending ones, which say nothing about a condition."""
    return [trial for trial in summary.trials if trial.row.status not in ("interrupted", "pending")]


def _s(number: int) -> str:
    return "" if number == 1 else "s"
