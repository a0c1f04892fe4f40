"""The first screen: what was compared, what differs, how sure that is, and whether to believe it."""

from dataclasses import dataclass
from typing import Literal

from crosswind.report.summary import ConditionSummary, Summary
from crosswind.report.units import count, duration, percent, short_names, times
from crosswind.stats import NeedsTrials, RatioInterval


@dataclass(frozen=True)
class Answer:
    """One question, its answer in a few words, and a sentence that supports it."""

    question: str
    short: str
    text: str
    mood: Literal["plain", "good", "wary", "bad"]


def answers(summary: Summary) -> list[Answer]:
    """Return the four answers of the first screen."""
    return [_compared(summary), _differs(summary), _sure(summary), _believe(summary)]


def _compared(summary: Summary) -> Answer:
    trials = len(summary.trials)
    operations = sum(trial.operations or 0 for trial in summary.trials)
    order = (summary.resolved.get("trials") or {}).get("order")
    loop = "open loop, from the intended start" if summary.open_loop else "closed loop"
    return Answer(
        "What was compared?",
        f"{len(summary.conditions)} condition{_s(len(summary.conditions))}",
        f"{summary.application or 'The application'} in {trials} trial{_s(trials)}, {count(operations)} "
        "operations "
        f"in all, {loop}" + (f", in {order.replace('-', ' ')} order." if order else "."),
        "plain",
    )


def _differs(summary: Summary) -> Answer:
    short = short_names(condition.name for condition in summary.conditions)
    question = "Who differs, by how much?"
    compared = [c for c in summary.conditions if (r := c.ratio["p99"]) is not None and r.estimate is not None]
    if not compared:
        return Answer(
            question, "Nothing to compare", "It takes two conditions with a counted trial each.", "plain"
        )

    def distance(condition: ConditionSummary) -> float:
        ratio = condition.ratio["p99"]
        assert ratio is not None
        assert ratio.estimate is not None
        return max(ratio.estimate, 1 / ratio.estimate)

    farthest = max(compared, key=distance)
    p99, p50 = farthest.ratio["p99"], farthest.ratio["p50"]
    base = next(c for c in summary.conditions if c.name == summary.baseline)
    text = (
        f"{short[farthest.name]}: P99 {duration(farthest.latency_ns['p99'].estimate)} against "
        f"{duration(base.latency_ns['p99'].estimate)} under {short[base.name]}"
    )
    if p50 is not None and p50.estimate is not None:
        text += (
            f"; its median only {times(p50.estimate)}"
            if distance(farthest) > 3 * p50.estimate
            else (f"; its median {times(p50.estimate)}")
        )
    if farthest.slow.share:
        text += f". {percent(farthest.slow.share)} of its operations took longer than 100 ms"
    return Answer(question, f"{times(p99.estimate if p99 else None)} in P99", text + ".", "plain")


def _sure(summary: Summary) -> Answer:
    question = "How sure is that?"
    ratios = [
        condition.ratio["p99"] for condition in summary.conditions if condition.ratio["p99"] is not None
    ]
    known = [ratio for ratio in ratios if isinstance(ratio, RatioInterval)]
    if ratios and len(known) == len(ratios):
        differing = sum(ratio.differs for ratio in known)
        return Answer(
            question,
            f"{differing} of {len(known)} differ",
            f"At 95 %, {differing} of {len(known)} conditions differ from the baseline in P99. Each interval "
            "is exact, over trials, and stands alone.",
            "good",
        )
    estimates = [condition.latency_ns["p99"] for condition in summary.conditions]
    lacking = [estimate for estimate in estimates if isinstance(estimate, NeedsTrials)]
    needed = max((estimate.needed for estimate in lacking), default=6)
    fewest = min((estimate.n for estimate in lacking), default=0)
    return Answer(
        question,
        "Not yet known",
        f"With as few as {fewest} trial{_s(fewest)} a condition no 95 % interval exists: {needed} are needed "
        "for a median, 4 a side for a ratio. Large gaps between the dots below are informative all the same.",
        "wary",
    )


def _believe(summary: Summary) -> Answer:
    question = "May I believe the emulation?"
    faithful, all_trials = summary.count("faithful"), len(summary.trials)
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    worst = max(
        (trial.ledger_error_ns["p99"] for trial in counted if "p99" in trial.ledger_error_ns), default=None
    )
    others = [
        f"{n} {kind}" for kind in ("degraded", "void", "failed", "pending") if (n := summary.count(kind))
    ]
    error = (
        f"In every counted trial 99 % of packets left within {duration(worst)} of the instant they were due. "
        if worst is not None
        else ""
    )
    rest = f"Others: {', '.join(others)}." if others else "No trial was degraded, void or failed."
    mood: Literal["good", "wary", "bad"] = (
        "good" if faithful == all_trials else "wary" if 2 * faithful >= all_trials else "bad"
    )
    return Answer(question, f"{faithful} of {all_trials} faithful", error + rest, mood)


def _s(number: int) -> str:
    return "" if number == 1 else "s"
