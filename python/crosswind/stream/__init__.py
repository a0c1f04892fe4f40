"""What happens while it happens: typed events, and a stream that hands them to any number of readers."""

from crosswind.stream.events import (
    Change,
    ConditionSoFar,
    Credit,
    Event,
    FigureOfTrial,
    Lateness,
    Note,
    Row,
    RunBegun,
    RunEnded,
    SoFar,
    Stall,
    Step,
    TrialBegun,
    TrialEnded,
    TrialMoved,
    TrialReached,
)
from crosswind.stream.stream import Stream, Subscription

__all__ = [
    "Change",
    "ConditionSoFar",
    "Credit",
    "Event",
    "FigureOfTrial",
    "Lateness",
    "Note",
    "Row",
    "RunBegun",
    "RunEnded",
    "SoFar",
    "Stall",
    "Step",
    "Stream",
    "Subscription",
    "TrialBegun",
    "TrialEnded",
    "TrialMoved",
    "TrialReached",
]
