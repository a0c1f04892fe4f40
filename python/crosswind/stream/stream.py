"""One stream of events: published from any thread, read by any number of readers, and never held up."""

from __future__ import annotations

import threading
from collections import deque
from collections.abc import Iterator
from types import TracebackType
from typing import Generic, Self, TypeVar

from crosswind.stream.events import Event

E = TypeVar("E", bound=Event)

# A minute of steps of one domain.
WAITING_MAX = 600


class Subscription(Generic[E]):
    """A reader's end: the events since it was made, in order, until the stream ends or this is closed.

    Use it as a context manager, and iterate over it. A reader that is too slow loses the oldest events;
    `lost` counts them.
    """

    def __init__(self, stream: Stream[E], waiting_max: int, kinds: tuple[type[Event], ...]) -> None:
        self._stream = stream
        self._kinds = kinds
        self._waiting: deque[E] = deque(maxlen=waiting_max)
        self._changed = threading.Condition()
        self._ended = False
        self.lost = 0

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def __iter__(self) -> Iterator[E]:
        while (event := self.take()) is not None:
            yield event

    def take(self, timeout_s: float | None = None) -> E | None:
        """Return the next event; None at the end of the stream, or where none came within `timeout_s`."""
        with self._changed:
            self._changed.wait_for(lambda: self._waiting or self._ended, timeout_s)
            return self._waiting.popleft() if self._waiting else None

    @property
    def ended(self) -> bool:
        """Whether no event will come after those that wait."""
        return self._ended

    def close(self) -> None:
        """Take no more events."""
        self._stream._leave(self)
        self._end()

    def _wants(self, kind: type[Event]) -> bool:
        return issubclass(kind, self._kinds)

    def _put(self, event: E) -> None:
        if not self._wants(type(event)):
            return
        with self._changed:
            self.lost += len(self._waiting) == self._waiting.maxlen
            self._waiting.append(event)
            self._changed.notify()

    def _end(self) -> None:
        with self._changed:
            self._ended = True
            self._changed.notify_all()


class Stream(Generic[E]):
    """Hands every event to every subscription; `publish` waits for no reader."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._subscriptions: list[Subscription[E]] = []
        self._ended = False

    def publish(self, event: E) -> None:
        """Hand an event to every subscription there is."""
        # Under the lock, so that events of several threads have one order for all readers.
        with self._lock:
            for subscription in self._subscriptions:
                subscription._put(event)

    def wants(self, kind: type[Event]) -> bool:
        """Return whether a subscription takes events of this kind: some of them cost time to make."""
        with self._lock:
            return any(subscription._wants(kind) for subscription in self._subscriptions)

    def subscribe(
        self, waiting_max: int = WAITING_MAX, kinds: tuple[type[Event], ...] = (Event,)
    ) -> Subscription[E]:
        """Return a reader's end, for events from now on.

        Args:
            waiting_max: events that may wait for the reader.
            kinds: types of the events that it takes; all events when absent.
        """
        subscription = Subscription(self, waiting_max, kinds)
        with self._lock:
            self._subscriptions.append(subscription)
            if self._ended:
                subscription._end()
        return subscription

    def end(self) -> None:
        """Let every reader come to an end after the events that wait for it."""
        with self._lock:
            self._ended = True
            for subscription in self._subscriptions:
                subscription._end()

    def _leave(self, subscription: Subscription[E]) -> None:
        with self._lock:
            if subscription in self._subscriptions:
                self._subscriptions.remove(subscription)
