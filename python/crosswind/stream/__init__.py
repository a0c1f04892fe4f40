"""What happens while it happens: typed events, and a stream that hands them to any number of readers."""

from crosswind.stream.events import Change, Credit, Event, Lateness, Row, Stall, Step
from crosswind.stream.stream import Stream, Subscription

__all__ = ["Change", "Credit", "Event", "Lateness", "Row", "Stall", "Step", "Stream", "Subscription"]
