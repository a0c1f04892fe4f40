"""What faults did to a trial: how long each lasted, what it cut, and how long recovery took.

A fault ends with `heal`, `resume`, `restart` or `release`; one that nothing ends lasts until the end of the
measurement. An application has recovered at the beginning of the first second after the end of a fault in
which its throughput was on average RECOVERED of the throughput before the first fault of the trial. There is
no recovery where that second never came, or not before the next fault, and none is known where less than
a second was measured before the first fault.
"""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from statistics import median

import numpy as np
from numpy.typing import NDArray

from crosswind.results.measurement import Fault, Measurement
from crosswind.results.reading import Operations, PacketRow, Results

STEP_NS = 100_000_000
RECOVERED = 0.9
# How long throughput must have recovered, and the least time before the first fault: this many steps.
STEPS_OF_PROOF = 10
PARTITIONED = "partitioned"
CUTS = ("partition", "isolate", "cut")
_BOTH_WAYS = ("partition", "isolate")
# What ends a fault of a node; a restart also ends a pause.
_ENDS = {
    "resume": ("pause",),
    "restart": ("kill", "pause"),
    "release": ("squeeze", "disk"),
    "kill": ("pause",),
}


@dataclass(frozen=True)
class Outage:
    """A fault from its beginning to its end; instants count from the begin of the measurement.

    Attributes:
        end_ns: None where nothing ended it.
        late_ns: how much later than due it was done.
        cut_packets: dropped meanwhile because they crossed a cut, as far as drops were recorded.
        may_be_more: whether records of drops were lost, so that `cut_packets` is a lower bound.
        is_recovery_known: whether operations show if the application recovered.
        recovered_ns: after its end; None where the application did not recover, or that is unknown.
        error: why it was not done.
    """

    words: str
    kind: str
    nodes: tuple[str, ...]
    due_ns: int
    begin_ns: int
    end_ns: int | None
    late_ns: int
    cut_packets: int = 0
    may_be_more: bool = False
    is_recovery_known: bool = False
    recovered_ns: int | None = None
    error: str | None = None

    @property
    def direction(self) -> str:
        """Which way packets were cut; empty for a fault of a node."""
        return "" if self.kind not in CUTS else "both ways" if self.kind in _BOTH_WAYS else "one way"


@dataclass(frozen=True)
class Course:
    """Operations in steps of STEP_NS from the begin of a measurement; the last step may be shorter.

    Attributes:
        rate: successful operations per second.
        p99_ns: of successful operations that ended in the step; nan where none did.
        failed: operations that ended in the step and failed, per second.
    """

    rate: NDArray[np.float64]
    p99_ns: NDArray[np.float64]
    failed: NDArray[np.float64]


def course_of(operations: Operations, begin_ns: int, length_ns: int) -> Course:
    """Return the operations of a trial, step by step."""
    steps = max(1, round(length_ns / STEP_NS))
    at = np.clip((operations.finished_ns - begin_ns) // STEP_NS, 0, steps - 1)
    length_s = np.full(steps, STEP_NS / 1e9)
    length_s[-1] = (length_ns - (steps - 1) * STEP_NS) / 1e9
    good = operations.ok.astype(bool)
    took_ns = (operations.finished_ns - operations.intended_ns)[good]
    p99_ns = np.full(steps, np.nan)
    order = np.lexsort((took_ns, at[good]))
    sorted_at, sorted_ns = at[good][order], took_ns[order]
    first = np.searchsorted(sorted_at, np.arange(steps + 1))
    for step in np.flatnonzero(np.diff(first)):
        among = sorted_ns[first[step] : first[step + 1]]
        p99_ns[step] = among[min(among.size - 1, int(np.ceil(0.99 * among.size)) - 1)]
    return Course(
        np.bincount(at[good], minlength=steps) / length_s,
        p99_ns,
        np.bincount(at[~good], minlength=steps) / length_s,
    )


def outages(results: Results, trial: str) -> list[Outage]:
    """Return the faults of a trial, in the order in which they were due; empty where it had none."""
    measurement = results.measurement(trial)
    if measurement is None or not measurement.faults:
        return []
    window = measurement.window
    found = list(bands(measurement))
    found = [
        replace(each, cut_packets=count, may_be_more=measurement.drops.lost_records > 0)
        for each, count in _cut(found, results.drops(trial), window.started_ns)
    ]
    operations = results.operations(trial)
    if operations is None or not operations.ok.size:
        return found
    course = course_of(operations, window.started_ns, window.length_ns)
    recovered = recoveries(course.rate, found)
    if recovered is None:
        return found
    return [
        replace(each, is_recovery_known=True, recovered_ns=after_ns)
        for each, after_ns in zip(found, recovered, strict=True)
    ]


def bands(measurement: Measurement) -> Iterator[Outage]:
    """Yield the faults of a measurement with their ends."""
    began_ns = measurement.window.started_ns
    open_faults: list[tuple[Fault, set[str]]] = []
    ended: list[tuple[Fault, int | None]] = []
    for fault in measurement.faults:
        if fault.kind == "heal":
            ended += [(each, fault.done_ns) for each, _ in open_faults if each.kind in CUTS]
            open_faults = [each for each in open_faults if each[0].kind not in CUTS]
            continue
        hit = [left for each, left in open_faults if each.kind in _ENDS.get(fault.kind, ())]
        is_end = any(left & set(fault.nodes) for left in hit)
        for left in hit:
            left -= set(fault.nodes)
        ended += [(each, fault.done_ns) for each, left in open_faults if not left]
        open_faults = [each for each in open_faults if each[1]]
        if fault.error is not None:
            ended.append((fault, fault.done_ns))
        elif fault.kind in (*CUTS, "pause", "kill", "squeeze", "disk"):
            open_faults.append((fault, set(fault.nodes)))
        elif fault.kind == "restart" and not is_end:
            ended.append((fault, fault.done_ns))
    ended += [(each, None) for each, _ in open_faults]
    for fault, end_ns in sorted(ended, key=lambda each: each[0].due_ns):
        # A restart of a node that runs lasts as long as it takes.
        begin_ns = fault.due_ns if fault.kind == "restart" else fault.done_ns
        yield Outage(
            words=fault.words,
            kind=fault.kind,
            nodes=tuple(fault.nodes),
            due_ns=fault.due_ns - began_ns,
            begin_ns=begin_ns - began_ns,
            end_ns=None if end_ns is None else end_ns - began_ns,
            late_ns=fault.done_ns - fault.due_ns,
            error=fault.error,
        )


def _cut(found: Sequence[Outage], drops: Iterable[PacketRow], began_ns: int) -> Iterator[tuple[Outage, int]]:
    """Yield each fault with the packets that were dropped at cuts while it lasted."""
    at_ns = sorted(row.at_ns - began_ns for row in drops if row.reason == PARTITIONED)
    for each in found:
        last = len(at_ns) if each.end_ns is None else bisect_left(at_ns, each.end_ns)
        yield each, last - bisect_left(at_ns, each.begin_ns) if each.kind in CUTS else 0


def recoveries(rate: NDArray[np.float64], found: Sequence[Outage]) -> list[int | None] | None:
    """Return how long after the end of each fault the application had recovered, ns.

    The whole is None where too little was measured before the first fault.
    """
    first_ns = min((each.begin_ns for each in found), default=0)
    before = rate[: first_ns // STEP_NS]
    if before.size < STEPS_OF_PROOF or before.mean() == 0:
        return None
    enough = RECOVERED * before.mean()
    begins = sorted(each.begin_ns for each in found)
    return [_recovery(rate, each, enough, begins) for each in found]


def _recovery(
    rate: NDArray[np.float64], fault: Outage, enough: float, begins_ns: Sequence[int]
) -> int | None:
    if fault.end_ns is None or fault.error is not None:
        return None
    # The step in which it ended has operations from before its end.
    first = -(-fault.end_ns // STEP_NS)
    following = [begin_ns for begin_ns in begins_ns if begin_ns >= fault.end_ns]
    last = min([rate.size, *(begin_ns // STEP_NS for begin_ns in following)]) - STEPS_OF_PROOF
    for step in range(first, last + 1):
        if rate[step : step + STEPS_OF_PROOF].mean() >= enough:
            return step * STEP_NS - fault.end_ns
    return None


@dataclass(frozen=True)
class FaultAnswer:
    """A fault of a condition over its trials.

    Attributes:
        like: of the first trial.
        late_ns: the most in any trial.
        cut_packets, recovered_ns: median over trials; of a recovery over those that recovered.
        may_be_more: whether `cut_packets` is a lower bound.
        recovered: how many trials recovered.
        judged: in how many that is known.
        trials: how many had the fault.
    """

    like: Outage
    late_ns: int
    cut_packets: float
    may_be_more: bool
    recovered_ns: float | None
    recovered: int
    judged: int
    trials: int


def over_trials(trials: Iterable[Sequence[Outage]]) -> list[FaultAnswer]:
    """Return the faults of a condition; those of two trials are the same where words and instants agree."""
    alike: dict[tuple[int, str], list[Outage]] = {}
    for found in trials:
        for each in found:
            # A trial's instants are exact; the begin of its measurement is known to a fraction of this.
            alike.setdefault((round(each.due_ns / 1e6), each.words), []).append(each)
    return [_over(same) for _, same in sorted(alike.items(), key=lambda item: item[0])]


def _over(same: Sequence[Outage]) -> FaultAnswer:
    recovered = [each.recovered_ns for each in same if each.recovered_ns is not None]
    return FaultAnswer(
        like=same[0],
        late_ns=max(each.late_ns for each in same),
        cut_packets=median(each.cut_packets for each in same),
        may_be_more=any(each.may_be_more for each in same),
        recovered_ns=median(recovered) if recovered else None,
        recovered=len(recovered),
        judged=sum(each.is_recovery_known for each in same),
        trials=len(same),
    )
