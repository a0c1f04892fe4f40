"""Events: what they say, as types. The agent's are described in docs/reference/contracts.md, section 2."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from crosswind.spec.resolved import NodeFaultKind, ResolvedCut
from crosswind.spec.resolved.part import left_out_if_empty


class _Part(BaseModel):
    model_config = ConfigDict(frozen=True, validate_by_name=True, validate_by_alias=True)


class Event(_Part):
    """Something that happened; `event` names its kind."""

    event: str


class Row(_Part):
    """What one element did to packets of one class in a step; bytes are IP bytes.

    Attributes:
        element: its name, such as `h0/uplink` or `h0/switch.ingress/0:police`.
        packet_class: `real`, or `ghost` for competing traffic that the emulator makes.
        queued_bytes: what waits in it at the end of the step.
    """

    at_ns: int
    element: str
    packet_class: Literal["real", "ghost"] = Field(alias="class")
    arrived_bytes: int
    departed_bytes: int
    dropped_packets: int
    dropped_bytes: int
    queued_bytes: int


class Credit(_Part):
    """What a credit bucket holds."""

    element: str
    left_bits: int


class Change(_Part):
    """A condition, a step of its timeline, or a cut by hand became active.

    Attributes:
        at_ns: the instant at which it took effect.
        asked_ns: the instant for which it was requested.
        by: `up`, `set`, `timeline` or `cut`.
        places: elements by place, as the agent takes them; of a timeline only the places that it replaced.
        cuts: all cuts from then on, of the condition or, of a `cut`, those by hand; None where they did not
            change.
    """

    at_ns: int
    asked_ns: int
    by: Literal["up", "set", "timeline", "cut"]
    condition: str
    places: dict[str, Any]
    cuts: list[ResolvedCut] | None = left_out_if_empty(None)


class Stall(_Part):
    """A time in which the emulator should have been awake and was not."""

    at_ns: int
    length_ns: int


class Lateness(_Part):
    """Packets of the window so far: how many, how many too early or too late, and the greatest lateness."""

    packets: int
    early: int
    missed: int
    max_ns: int


class Step(Event):
    """What happened in a step of 100 ms. With several domains, each of them has an event for every step.

    Attributes:
        domain: number of the domain, from 0.
        at_ns: its begin, on CLOCK_MONOTONIC.
        window_started_ns: begin of the measurement window.
        rows: an entry for each element and class of packets for which something happened.
        changes, stalls: those of this domain since its last event.
        lateness: of the packets that left this domain, since the begin of the window.
        left_out: steps so far that were not reported, because their reader was too slow.
        made_ns: time that the packet thread has spent on all events so far.
    """

    event: Literal["step"]
    domain: int
    at_ns: int
    window_started_ns: int
    rows: tuple[Row, ...]
    credit: tuple[Credit, ...]
    changes: tuple[Change, ...]
    stalls: tuple[Stall, ...]
    lateness: Lateness
    left_out: int
    made_ns: int


class NodeFault(Event):
    """Nodes were paused, resumed, killed, restarted, squeezed, given a bad disk or released.

    Attributes:
        at_ns: when that was done to the last of them, on CLOCK_MONOTONIC.
        due_ns: when it was to be done; a restart takes a while from then on.
        words: as shown: `kill db0`.
        by: the timeline of a condition, or a hand.
    """

    event: Literal["node-fault"] = "node-fault"
    at_ns: int
    due_ns: int
    kind: NodeFaultKind
    nodes: tuple[str, ...]
    words: str
    by: Literal["timeline", "hand"]


class OperationsStep(Event):
    """What the load of a trial did in about 100 ms, its warm-up included.

    Attributes:
        at_ns: the begin of the step, on CLOCK_MONOTONIC.
        node: from which it runs.
        ended: operations that ended, of which `failed` failed.
        median_ns, p99_ns, slowest_ns: latencies of those that succeeded, from the instant at which each was
            due, within 1/32; None where there are none.
    """

    event: Literal["operations"] = "operations"
    application: str
    node: str
    at_ns: int
    length_ns: int
    ended: int
    failed: int
    median_ns: int | None
    p99_ns: int | None
    slowest_ns: int | None


class Note(Event):
    """A sentence for the user, such as why the run waits."""

    event: Literal["note"] = "note"
    text: str


class RunBegun(Event):
    """A run began, or goes on.

    Attributes:
        folder: its results folder.
        conditions: in the order of the experiment.
        baseline: the condition that others are compared with.
        trials: planned so far; an experiment that grows plans more.
        ended: trials of them that need no attempt any more.
        dilations: how many times slower time passes in the nodes, each once; None where nothing slows it.
    """

    event: Literal["run-begun"] = "run-begun"
    name: str
    summary: str
    folder: str
    application: str
    conditions: tuple[str, ...]
    baseline: str
    trials: int
    ended: int
    dilations: tuple[int | None, ...] = ()


class TrialBegun(Event):
    """An attempt of a trial began.

    Attributes:
        attempt: from 1.
        ended: trials that ended before, of `trials` planned so far.
        left_s: estimated time until the last planned trial ends, in seconds; None where it is not known.
    """

    event: Literal["trial-begun"] = "trial-begun"
    trial: str
    attempt: int
    condition: str
    block: int
    ended: int
    trials: int
    left_s: float | None


class TrialReached(Event):
    """An attempt reached a step of the journal: network up, application prepared, load measured."""

    event: Literal["trial-reached"] = "trial-reached"
    trial: str
    step: Literal["up", "prepared", "measured"]


class TrialMoved(Event):
    """A hand moved the network of the trial that runs, so this attempt counts for nothing.

    Attributes:
        at_ns: when it became active, on CLOCK_MONOTONIC.
        words: what was moved; of a slider that is dragged the first value.
    """

    event: Literal["trial-moved"] = "trial-moved"
    trial: str
    at_ns: int
    words: str


class FigureOfTrial(_Part):
    """A figure of one trial, with its name in words."""

    name: str
    value: float
    unit: str


class TrialEnded(Event):
    """An attempt ended.

    Attributes:
        trial: the name of the attempt.
        reason: why it failed or was interrupted.
        fidelity_reason: why it is not faithful.
        explored: whether a hand moved its network: it is made again, however it ended.
        figures: those that the experiment shows; none of a failed attempt.
    """

    event: Literal["trial-ended"] = "trial-ended"
    trial: str
    attempt: int
    condition: str
    block: int
    status: Literal["done", "failed", "interrupted"]
    reason: str | None
    fidelity: Literal["faithful", "degraded", "void", "unverified"] | None
    fidelity_reason: str | None
    explored: bool = False
    duration_s: float | None
    figures: tuple[FigureOfTrial, ...]


class ConditionSoFar(_Part):
    """What is known of one condition.

    Attributes:
        trials: that count.
        value, low, high: the figure over these trials, and its interval; None where there are too few.
        needed: more trials that it needs for an interval, or by the stopping rule; None where unknown.
        settled: whether no more trials are needed.
    """

    condition: str
    trials: int
    value: float | None
    low: float | None
    high: float | None
    needed: int | None
    settled: bool


class SoFar(Event):
    """What a run knows after a trial: its first figure of every condition, and how sure it is.

    Attributes:
        figure, unit: the figure in words, such as `P99`, and its unit.
        confidence: of the intervals, such as 0.95.
        blocks: blocks that are complete, of `blocks_planned` so far.
    """

    event: Literal["so-far"] = "so-far"
    figure: str
    unit: str
    better: Literal["lower", "higher"]
    confidence: float
    blocks: int
    blocks_planned: int
    conditions: tuple[ConditionSoFar, ...]


class RunEnded(Event):
    """A run ended, or was interrupted: exit status and sentences for the user, the most important first."""

    event: Literal["run-ended"] = "run-ended"
    exit: int
    remarks: tuple[str, ...]


class FingerprintBegun(Event):
    """The measurement of a network began.

    Attributes:
        between: the two ends.
        condition: the emulated one; None where the network is not Crosswind's.
        measurements: how many there will be.
    """

    event: Literal["fingerprint-begun"] = "fingerprint-begun"
    between: tuple[str, str]
    condition: str | None
    measurements: int


class MeasurementBegun(Event):
    """A measurement of a fingerprint began, such as `round trips of small messages`."""

    event: Literal["measurement-begun"] = "measurement-begun"
    name: str


class Measured(Event):
    """What a measurement of a fingerprint found.

    Attributes:
        name: of the measurement; one may find several things.
        quantity: `goodput`, or what the median is of, such as `round trip`.
        value: of the quantity, in `unit`.
        values: the series behind it, in the order in which they were measured.
    """

    event: Literal["measured"] = "measured"
    name: str
    quantity: str
    unit: Literal["ns", "bit/s"]
    value: float
    values: tuple[float, ...]


class FingerprintEnded(Event):
    """The measurement of a network ended; `reason`: why it is not complete."""

    event: Literal["fingerprint-ended"] = "fingerprint-ended"
    reason: str | None
