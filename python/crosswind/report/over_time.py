"""Prepare what happened over the time of each trial, as counts that the page can draw and add up.

The operations of a trial are counted by time step and latency bin. So one small table gives throughput and
latency quantiles of any step, and also of any part of the time or of the latencies that a reader selects.
Bins are CELLS_PER_DECADE to a power of ten, so a quantile is within 3 % of the exact one; the tables of the
report have the exact ones.
"""

from collections import Counter, defaultdict
from dataclasses import asdict, dataclass

import numpy as np

from crosswind.analysis.faults import CUTS
from crosswind.analysis.queueing import STEP_NS
from crosswind.analysis.summary import Summary, TrialSummary
from crosswind.report.network_figures import place_of
from crosswind.results.measurement import Change, Measurement
from crosswind.results.reading import Results
from crosswind.spec.network import Network
from crosswind.spec.resolved import Resolved
from crosswind.text.units import short_names

STEPS = 3000  # of all trials together: what keeps the page of hundreds of trials small
TRIAL_STEPS = 120  # of one trial: about six pixels each
LINKS = 6  # drawn of a trial: those that carried most
CELLS_PER_DECADE = 40
LOWEST_NS = 1000  # the first bin has all shorter latencies, too
BINS = 400  # up to 10 000 s
_LENGTHS = (1, 2, 5, 10, 20, 50, 100, 200, 500, 1000, 2000, 5000, 10_000, 20_000, 50_000)


@dataclass(frozen=True)
class LinkCourse:
    """A link, step by step."""

    used: list[float]  # % of its rate
    waiting: list[float]  # ms: the longest wait in its queue, at the ends of the recorded steps


@dataclass(frozen=True)
class TrialCourse:
    """One trial; instants and lengths in s since its measurement began."""

    trial: str
    condition: int
    counted: bool
    verdict: str
    length: float
    steps: int
    cells: list[
        int
    ]  # pairs: the distance to the next cell (step * BINS + bin) with operations, and their number
    links: dict[str, LinkCourse]
    drops: dict[str, list[tuple[int, int]]]  # place and reason -> (step, packets)
    stalls: list[tuple[float, float]]  # of the emulator: when, and for how long
    changes: list[tuple[float, str]]  # when the condition changed, and where
    faults: list[tuple[float, float, str, str]]  # from when to when, `cut` or `hit`, and words


@dataclass(frozen=True)
class OverTime:
    """All trials that were measured, on one time axis."""

    step: float  # s
    per_decade: int
    bins: int
    lowest_ms: float
    conditions: list[str]
    trials: list[TrialCourse]

    def as_json(self) -> dict[str, object]:
        """Return it as plain data."""
        return asdict(self)


def over_time(summary: Summary, results: Results) -> OverTime | None:
    """Return the courses of all measured trials, or None where there are none."""
    short = short_names(condition.name for condition in summary.conditions)
    lengths = [
        measurement.window.length_ns
        for trial in summary.trials
        if (measurement := results.measurement(trial.row.trial)) is not None
    ]
    if not lengths:
        return None
    step_ns = _step_ns(lengths)
    rates = _rates(summary.resolved)
    courses = [
        _course(results, trial, measurement, number, step_ns, rates)
        for number, condition in enumerate(summary.conditions)
        for trial in condition.trials
        if (measurement := results.measurement(trial.row.trial)) is not None
    ]
    return OverTime(
        step_ns / 1e9,
        CELLS_PER_DECADE,
        BINS,
        LOWEST_NS / 1e6,
        [short[c.name] for c in summary.conditions],
        courses,
    )


def _step_ns(lengths_ns: list[int]) -> int:
    """Return a length of steps that is a multiple of the recorded ones and keeps the page small."""
    least_ns = max(max(lengths_ns) / TRIAL_STEPS, sum(lengths_ns) / STEPS)
    return next((STEP_NS * n for n in _LENGTHS if STEP_NS * n >= least_ns), STEP_NS * _LENGTHS[-1])


def _rates(resolved: Resolved) -> dict[str, int]:
    """Return the rate of each limited link, by its name in the counters; empty where there is no network."""
    network = Network.of(resolved.topology)
    rates = {}
    for link in network.links:
        if link.rate_bps is None:
            continue
        name = (
            f"{link.source}/uplink" if link.source in network.hosts
            else f"{link.target}/downlink" if link.target in network.hosts
            else link.name
        )  # fmt: skip
        rates[name] = link.rate_bps
    return rates


def _course(
    results: Results,
    trial: TrialSummary,
    measurement: Measurement,
    condition: int,
    step_ns: int,
    rates: dict[str, int],
) -> TrialCourse:
    begin, length = measurement.window.started_ns, measurement.window.length_ns
    # A rest shorter than half a step belongs to the step before it: its rates would be those of an instant.
    steps = max(1, round(length / step_ns))

    def second(at_ns: int) -> float:
        return round((at_ns - begin) / 1e9, 3)

    def step(at_ns: int) -> int:
        return min(max((at_ns - begin) // step_ns, 0), steps - 1)

    name, drops = trial.row.trial, defaultdict[str, Counter[int]](Counter)
    for row in results.drops(name):
        drops[f"{place_of(row.element)}: {row.reason}"][step(row.at_ns)] += 1
    return TrialCourse(
        name,
        condition,
        trial.counted,
        trial.row.fidelity or trial.row.status,
        round(length / 1e9, 3),
        steps,
        _cells(results, name, begin, step_ns, steps),
        _links(results, measurement, step_ns, steps, rates, name),
        {label: sorted(counts.items()) for label, counts in sorted(drops.items())},
        [(second(stall.at_ns), round(stall.length_ns / 1e9, 4)) for stall in measurement.host.stalls or []],
        [
            (second(change.at_ns), _words(change))
            for change in measurement.changes_within
            if change.places or change.by != "timeline"
        ],
        [
            (
                round(fault.begin_ns / 1e9, 3),
                round((length if fault.end_ns is None else fault.end_ns) / 1e9, 3),
                "cut" if fault.kind in CUTS else "hit",
                fault.words,
            )
            for fault in trial.faults
        ],
    )


def _words(change: Change) -> str:
    """Return where the condition changed; after the begin of a trial, what is no timeline is a hand."""
    if change.by == "timeline":
        return ", ".join(change.places) or change.condition
    where = ", ".join(place for place, elements in change.places.items() if elements)
    return f"by hand: {where or change.condition}"


def _cells(results: Results, trial: str, begin_ns: int, step_ns: int, steps: int) -> list[int]:
    operations = results.operations(trial)
    if operations is None or not operations.ok.any():
        return []
    finished = operations.finished_ns[operations.ok]
    latency = np.maximum(finished - operations.intended_ns[operations.ok], LOWEST_NS)
    rows = np.clip((finished - begin_ns) // step_ns, 0, steps - 1)
    bins = np.minimum(np.floor(CELLS_PER_DECADE * np.log10(latency / LOWEST_NS)).astype(np.int64), BINS - 1)
    cells, counts = np.unique(rows * BINS + bins, return_counts=True)
    pairs: list[int] = np.column_stack((np.diff(cells, prepend=0), counts)).ravel().tolist()
    return pairs


def _links(
    results: Results, measurement: Measurement, step_ns: int, steps: int, rates: dict[str, int], trial: str
) -> dict[str, LinkCourse]:
    """Return the links that carried most, of the application's packets and of interference together."""
    begin = measurement.window.started_ns
    departed: dict[str, Counter[int]] = defaultdict(Counter)
    queued: dict[str, Counter[int]] = defaultdict(Counter)
    for row in results.queues(trial):
        if row.element in rates:
            departed[row.element][min((row.at_ns - begin) // step_ns, steps - 1)] += row.departed_bytes
            queued[row.element][row.at_ns] += row.queued_bytes
    busiest = sorted(departed, key=lambda link: departed[link].total(), reverse=True)[:LINKS]
    last_ns = measurement.window.length_ns - (steps - 1) * step_ns
    courses = {}
    for link in sorted(busiest):
        waiting = [0] * steps
        for at_ns, held in queued[link].items():
            at = min((at_ns - begin) // step_ns, steps - 1)
            waiting[at] = max(waiting[at], held)
        capacity = [rates[link] / 8e9 * (last_ns if at == steps - 1 else step_ns) for at in range(steps)]
        courses[link] = LinkCourse(
            [round(100 * departed[link][at] / capacity[at], 1) for at in range(steps)],
            [round(8e3 * held / rates[link], 3) for held in waiting],
        )
    return courses
