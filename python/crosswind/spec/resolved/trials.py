"""Number, order and duration of a resolved experiment's trials, and the selected part of it."""

from __future__ import annotations

from crosswind.spec.resolved.part import ResolvedPart, left_out_if_empty


class ResolvedUntil(ResolvedPart):
    """When an interval is narrow enough; all three are shares of 1."""

    quantile: float
    within: float
    confidence: float


class ResolvedRepeat(ResolvedPart):
    """Trials of each condition; `until` is None where their number is fixed."""

    at_least: int = 1
    at_most: int = 1
    until: ResolvedUntil | None = None


class ResolvedLimits(ResolvedPart):
    """Limits of a run, and what happens after void and failed trials.

    Attributes:
        duration_s: of the whole run; None without a limit.
        void: `stop` or `accept`, of a trial that is void after its repetitions.
        failed: `continue` or `stop`, after a failed trial.
    """

    duration_s: float | None = None
    void: str = "stop"
    failed: str = "continue"


class ResolvedCapture(ResolvedPart):
    """How much of the packets is stored: of each frame, and of each trial's file."""

    snap_bytes: int
    limit_bytes: int


class ResolvedTrials(ResolvedPart):
    """Repetitions of every condition.

    Attributes:
        order: `randomised-blocks` or `sequential`.
        rest_s: between trials; None: until kept budgets are back at their first level.
        budgets: `fresh` or `kept`: the level of credit buckets at the start of a trial.
    """

    repeat: ResolvedRepeat = ResolvedRepeat()
    order: str = ""
    rest_s: float | None = 0
    budgets: str = "fresh"
    seed: int = 0
    limits: ResolvedLimits = ResolvedLimits()
    record: bool = False
    capture: ResolvedCapture | None = None


class ResolvedAdaptive(ResolvedPart):
    """Points before the first look, points in all, and points between two looks."""

    start: int
    at_most: int
    step: int


class ResolvedDesign(ResolvedPart):
    """How conditions are chosen during the run."""

    adaptive: ResolvedAdaptive


class Selection(ResolvedPart):
    """What the command line chose: these conditions (all when empty), with one trial of each if `once`.

    Attributes:
        dilation: in the place of the experiment's; that counts when absent.
        dilations: every condition is run under each of them; once, as the experiment says, when empty.
    """

    only: list[str]
    once: bool
    dilation: int | None = left_out_if_empty(None)
    dilations: list[int | None] = left_out_if_empty([])
