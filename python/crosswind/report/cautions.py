"""What a reader must know before quoting a number: each caution says what is the matter and what to do."""

from dataclasses import dataclass
from typing import Literal

from crosswind.report.measure import QUANTILE_NAMES
from crosswind.report.summary import Summary
from crosswind.report.units import count, quantity, short_names
from crosswind.stats import GUARD_TRIALS_MIN, NeedsTrials, RefusedInterval, guard, modes


@dataclass(frozen=True)
class Caution:
    """`serious`: numbers may mislead as they stand. `note`: how to read them."""

    level: Literal["serious", "note"]
    title: str
    text: str


def cautions(summary: Summary) -> list[Caution]:
    """Return the cautions that apply to `summary`, serious ones first."""
    found = [
        *_trials(summary), *_unknown(summary), *_repetitions(summary), *_modes(summary), *_intervals(summary),
        *_operations(summary), *_loop(summary), *_scale(summary), *_declared(summary), *_pictures(summary),
    ]  # fmt: skip
    return sorted(found, key=lambda caution: caution.level != "serious")


def _trials(summary: Summary) -> list[Caution]:
    found = []
    done = {(trial.row.block, trial.row.position) for trial in summary.trials if trial.counted}
    short = short_names(condition.name for condition in summary.conditions)

    def where(kind: str) -> str:
        return ", ".join(f"{short[c.name]} ({c.count(kind)})" for c in summary.conditions if c.count(kind))

    def repeated(kind: str) -> str:
        again = sum(
            kind in (trial.row.status, trial.row.fidelity) and (trial.row.block, trial.row.position) in done
            for trial in summary.trials
        )
        return f" Succeeded when tried again: {again}." if again else ""

    if failed := summary.count("failed"):
        found.append(
            Caution(
                "serious",
                f"{_trial_count(failed)} failed",
                f"{where('failed')}. Left out of every number, so a condition that makes trials fail looks "
                f"better than it is; the reasons stand in the trial tables.{repeated('failed')}",
            )
        )
    if void := summary.count("void"):
        found.append(
            Caution(
                "serious",
                f"{_trial_count(void)} void",
                f"{where('void')}. The emulation was not what the condition says: left out of every number."
                f"{repeated('void')}",
            )
        )
    if degraded := summary.count("degraded"):
        found.append(
            Caution(
                "note",
                f"{_trial_count(degraded)} degraded",
                f"{where('degraded')}. Counted, but differences as small as the ledger error mean nothing.",
            )
        )
    if pending := summary.count("pending"):
        found.append(
            Caution(
                "serious",
                f"{_trial_count(pending)} missing",
                "The run is not complete: continue it with resume.",
            )
        )
    return found


def _unknown(summary: Summary) -> list[Caution]:
    """Tell of counted trials that have no value of a measure: the estimate leaves them out."""
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    lacking = {
        measure.label: sum(measure.key not in trial.values for trial in counted)
        for measure in summary.measures
    }
    return [
        Caution(
            "serious",
            f"{_trial_count(many)} without {label}",
            f"Of {len(counted)}. They are left out of its medians, which are those of the others; their logs "
            "may say why it is missing.",
        )
        for label, many in lacking.items()
        if many
    ]


def _repetitions(summary: Summary) -> list[Caution]:
    """Tell of series that the guard refused, and of intervals that more trials did not narrow."""
    found = []
    short = short_names(condition.name for condition in summary.conditions)
    primary = summary.primary
    for condition in summary.conditions:
        estimate = condition.estimates[primary.key]
        if isinstance(estimate, RefusedInterval):
            seen = estimate.guard
            levels = [quantity(level, primary.unit) for level in seen.levels]
            change = f": {levels[0]} before, {levels[1]} after" if levels else ""
            found.append(
                Caution(
                    "serious",
                    f"Interval refused under {short[condition.name]}",
                    f"The trials are not repetitions of one experiment in {primary.label}: {seen.reason}"
                    f"{change}. An "
                    f"interval over them would not hold. What helps: {seen.remedy}.",
                )
            )
        elif warning := guard(condition.per_trial(primary.key)).warning:
            found.append(
                Caution(
                    "note",
                    f"More trials did not help under {short[condition.name]}",
                    f"In {primary.label} {warning}. Look at the dots in the order they ran.",
                )
            )
    beside = {
        measure.label: sum(isinstance(c.estimates[measure.key], RefusedInterval) for c in summary.conditions)
        for measure in summary.measures
        if measure != primary
    }
    if any(beside.values()):
        named = ", ".join(f"{label} ({many})" for label, many in beside.items() if many)
        found.append(
            Caution(
                "serious",
                "Intervals of other figures refused",
                f"By conditions: {named}. Their trials differ with time or with the trials before them.",
            )
        )
    return found


def _modes(summary: Summary) -> list[Caution]:
    """Tell of trials that gather around two values."""
    found = []
    short = short_names(condition.name for condition in summary.conditions)
    for condition in summary.conditions:
        values = condition.per_trial(summary.primary.key).values
        if len(split := modes(values) if values else ()) == 2:
            low, high = (f"{quantity(mode.median, summary.primary.unit)} ({mode.n} trials)" for mode in split)
            found.append(
                Caution(
                    "serious",
                    f"Two modes under {short[condition.name]}",
                    f"{summary.primary.title} is around {low} or around {high}. The median lies in one of "
                    "them, or between them where no trial was: quote both, and look for what decides.",
                )
            )
    return found


def _intervals(summary: Summary) -> list[Caution]:
    missing = {
        condition.name: estimate
        for condition in summary.conditions
        if isinstance(estimate := condition.estimates[summary.primary.key], NeedsTrials)
    }
    if not missing:
        if len(summary.conditions) < 3:
            return []
        return [
            Caution(
                "note",
                "Each interval stands alone",
                f"Intervals hold at 95 % one by one. Among {len(summary.conditions) - 1} comparisons one in "
                "twenty misses on average: confirm a single small difference with a run of its own.",
            )
        ]
    fewest = min(answer.n for answer in missing.values())
    needed = max(answer.needed for answer in missing.values())
    which = "every condition" if len(missing) == len(summary.conditions) else f"{len(missing)} conditions"
    return [
        Caution(
            "serious",
            "Too few trials for an interval",
            f"A 95 % interval for the median over trials needs {needed}; {which} has fewer (the fewest: "
            f"{fewest}). Sessions of one set-up easily differ by 10 to 20 %, so read smaller differences as "
            f"none, and add trials (repeat: {{at least: {needed}}}).{_untold(fewest)}",
        )
    ]


def _untold(trials: int) -> str:
    few = f" Not enough trials to tell whether they are repetitions either: that takes {GUARD_TRIALS_MIN}."
    return few if trials < GUARD_TRIALS_MIN else ""


def _operations(summary: Summary) -> list[Caution]:
    found = []
    counted = [trial for condition in summary.conditions for trial in condition.counted]
    fewest = min((trial.operations for trial in counted if trial.operations is not None), default=None)
    tails = any(measure.of_operations for measure in summary.measures)
    if tails and fewest is not None and fewest < 10_000:
        quantile, limit = ("p99", 1000) if fewest < 1000 else ("p999", 10_000)
        found.append(
            Caution(
                "note",
                f"{QUANTILE_NAMES[quantile]} rests on few operations",
                f"The shortest trial has {count(fewest)} operations: fewer than ten lie beyond its "
                f"{QUANTILE_NAMES[quantile]}, which needs {count(limit)}. Make trials longer.",
            )
        )
    errors = sum(trial.errors or 0 for trial in counted)
    if errors:
        total = sum(trial.operations or 0 for trial in counted)
        found.append(
            Caution(
                "serious",
                f"{count(errors)} operations failed",
                f"Of {count(total)}. A failed operation has no latency, so the tails shown are those of the "
                "others.",
            )
        )
    if late := sum(trial.not_started or 0 for trial in counted):
        found.append(
            Caution(
                "serious",
                f"{count(late)} operations were due and never sent",
                "The offered rate was more than the application could take: a queue grew until the end, and "
                "latency would have gone on growing. Read throughput as the capacity, and lower the rate to "
                "measure latency.",
            )
        )
    if lost := summary.slow.lost_records:
        found.append(
            Caution(
                "serious",
                f"{count(lost)} packet records were lost",
                "More packets were dropped or sent again than could be recorded. Counters are complete; "
                "curves of drops over time and the causes of slow operations are not.",
            )
        )
    return found


def _loop(summary: Summary) -> list[Caution]:
    if summary.open_loop or not summary.has_operations:
        return []
    return [
        Caution(
            "note",
            "A closed loop hides stalls",
            "Each client sends its next operation when the last one has ended, so a stall of 200 ms is one "
            "slow operation and not the thousand that a steady stream of users would have felt (coordinated "
            "omission). Throughput shows the loss that quantiles hide; give the workload a rate to measure "
            "what users feel.",
        )
    ]


def _scale(summary: Summary) -> list[Caution]:
    scale = summary.resolved.get("scale")
    if scale in (None, 1):
        return []
    preserved = summary.resolved.get("preserved") or []
    kept = f"Preserved are: {', '.join(preserved)}." if preserved else "No ratio is declared as preserved."
    return [
        Caution(
            "note",
            f"Run at scale {scale:g}",
            f"Every rate and every buffer is multiplied by {scale:g}. {kept} Everything else, CPU time and "
            "timers such as TCP's retransmission timeout among it, is not scaled: compare conditions with "
            "one another, not with a machine at full scale.",
        )
    ]


def _declared(summary: Summary) -> list[Caution]:
    return [Caution("note", "From the experiment", text) for text in summary.resolved.get("warnings") or []]


def _pictures(summary: Summary) -> list[Caution]:
    if not summary.has_operations:
        return []
    return [
        Caution(
            "note",
            "Operations are pooled for pictures only",
            "Boxes describe all operations of a condition together. They carry no interval: operations of "
            "one trial are not independent, and an interval from them would be many times too narrow.",
        )
    ]


def _trial_count(number: int) -> str:
    return f"{number} trial{'s' if number != 1 else ''}"
