"""Find where packets of nodes waited, from the series of a trial, sampled at the end of each step."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from crosswind.results.reading import QueueRow
from crosswind.spec.description import descriptions

STEP_NS = 100_000_000  # of the series, where a trial does not record it
STANDING_SHARE = 0.5  # of the samples in which packets must have waited
WAIT_SHARE = 0.1  # of the operation's time that the fullest sample takes to drain


@dataclass(frozen=True)
class QueueSample:
    """A sample of a queue with packets of nodes in it."""

    at_ns: int
    drain_ns: float  # time to empty it, at the higher rate of the steps before and after


class Queues:
    """The queues of one trial.

    Args:
        rows: of the trial.
        step_ns: of its series.
    """

    def __init__(self, rows: Iterable[QueueRow], step_ns: int = STEP_NS) -> None:
        self._step_ns = step_ns
        steps: dict[tuple[str, int], list[QueueRow]] = defaultdict(list)
        for row in rows:
            steps[row.element, row.at_ns].append(row)
        self._looks: dict[str, list[QueueSample]] = defaultdict(list)
        # Packets of nodes and ghosts share the queue, so both have to drain.
        departed = {step: sum(row.departed_bytes for row in both) for step, both in steps.items()}
        for (element, at_ns), both in steps.items():
            if any(row.queued_bytes for row in both if row.traffic == "real"):
                queued = sum(row.queued_bytes for row in both)
                # Where one of the two steps was idle for a while, its rate is not the queue's.
                most = max(departed[element, at_ns], departed.get((element, at_ns + step_ns), 0))
                drain_ns = step_ns * queued / most if most else float("inf")
                self._looks[element].append(QueueSample(at_ns + step_ns, drain_ns))

    def longest(self, begin_ns: int, end_ns: int) -> str | None:
        """Return the element where an operation of that time waited, None if there is none.

        For an operation shorter than two steps, the samples before and after it count as well.
        """
        around_ns = self._step_ns if end_ns - begin_ns < 2 * self._step_ns else 0
        first_ns, last_ns = begin_ns - around_ns, end_ns + around_ns
        looks_in_all = max(1, (last_ns - first_ns) // self._step_ns)
        found: dict[str, float] = {}
        for element, looks in self._looks.items():
            inside = [look.drain_ns for look in looks if first_ns <= look.at_ns <= last_ns]
            longest = max(inside, default=0.0)
            if len(inside) >= STANDING_SHARE * looks_in_all and longest >= WAIT_SHARE * (end_ns - begin_ns):
                found[element] = longest
        return max(found, key=lambda element: found[element]) if found else None


def waited_at(element: str) -> str:
    """Return the kind of waiting at an element in words: in a queue, or for a shaper."""
    kind = element.rpartition(":")[2]
    return f"shaper wait at {element}" if kind in _shapers() else f"queueing at {element}"


def _shapers() -> set[str]:
    """Return the names of elements that make packets wait for a rate."""
    limiting = [each for each in descriptions().values() if each.limits_rate is not None]
    return {name for each in limiting for name in each.names}
