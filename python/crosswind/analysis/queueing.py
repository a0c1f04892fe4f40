"""Where packets of nodes were waiting, as the series of a trial shows it, a look at the end of each step."""

from collections import defaultdict
from collections.abc import Iterable
from dataclasses import dataclass

from crosswind.results.reading import QueueRow
from crosswind.spec.description import descriptions

STEP_NS = 100_000_000  # of the series, where a trial does not say it
STANDING_SHARE = 0.5  # of the looks at which something must have stood there
WAIT_SHARE = 0.1  # of the operation's time that the fullest look would have taken to drain


@dataclass(frozen=True)
class Look:
    """A queue with packets of nodes in it."""

    at_ns: int
    drain_ns: float  # how long it would take to empty, at the pace of the step before


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
        self._looks: dict[str, list[Look]] = defaultdict(list)
        for (element, at_ns), both in steps.items():
            # Nodes and ghosts wait in one line, so both drain before the last of them is gone.
            queued, departed = (sum(getattr(r, f"{f}_bytes") for r in both) for f in ("queued", "departed"))
            if any(row.queued_bytes for row in both if row.traffic == "real"):
                drain_ns = step_ns * queued / departed if departed else float("inf")
                self._looks[element].append(Look(at_ns + step_ns, drain_ns))

    def longest(self, begin_ns: int, end_ns: int) -> str | None:
        """Return the element that held up an operation of that time, None if none stands out.

        One that is shorter than two steps is judged by the looks before and after it as well.
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
    """Return in words what it is to wait at an element: in a queue, or for a shaper."""
    kind = element.rpartition(":")[2]
    return f"shaper wait at {element}" if kind in _shapers() else f"queueing at {element}"


def _shapers() -> set[str]:
    """Return the names in series of what makes packets wait for a rate; what only drops has no queue."""
    limiting = [each for each in descriptions().values() if each.limits_rate is not None]
    return {name for each in limiting for name in each.names}
