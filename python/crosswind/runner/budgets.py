"""What credit buckets hold between trials, where an experiment keeps their budgets.

Every trial has a fabric of its own, which takes its buckets along when it goes. So that a bucket outlives it,
the next trial under the same condition begins with what this one left, and the refill since. Conditions share
no bucket: each is a network of its own, which rests while trials run under the others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Self

from crosswind.results.documents import RESTORE, blaming
from crosswind.results.durable import write_text
from crosswind.spec import FabricCondition, Resolved
from crosswind.testbed import RunningFabric, TestbedError


@dataclass(frozen=True)
class Bucket:
    """A credit bucket after a trial.

    Attributes:
        budget_bits: the most that it holds.
        refill_bps: bits that it gains per second.
        first_bits: what it held when the first trial began.
        left_bits: what the last one left in it.
        at_s: when that was, in seconds of UTC, so that a run that is continued tomorrow finds it full.
    """

    budget_bits: int
    refill_bps: int
    first_bits: int
    left_bits: int
    at_s: float

    def held_bits(self, now_s: float) -> int:
        """Return what it holds now."""
        return min(self.budget_bits, self.left_bits + int(self.refill_bps * max(0.0, now_s - self.at_s)))

    def rest_s(self, now_s: float) -> float:
        """Return the time until it holds what it held at first."""
        return max(0, self.first_bits - self.held_bits(now_s)) / self.refill_bps


class Budgets:
    """The buckets of all conditions, in a file that a continued run reads again.

    Args:
        path: of the file; None where every trial has fresh budgets, and nothing is kept.
    """

    def __init__(self, path: Path | None) -> None:
        self._path = path
        self._buckets: dict[str, dict[str, Bucket]] = {}
        if path is not None and path.is_file():
            with blaming(path, RESTORE):
                self._buckets = {
                    condition: {element: Bucket(**bucket) for element, bucket in buckets.items()}
                    for condition, buckets in json.loads(path.read_text()).items()
                }

    @classmethod
    def of(cls, resolved: Resolved, folder: Path) -> Self:
        """Return those of a run, whose results are in `folder`."""
        return cls(folder / "budgets.json" if resolved.trials.budgets == "kept" else None)

    def rest_s(self, condition: str) -> float:
        """Return the time until every bucket of a condition holds what it held when its first trial began."""
        return max((bucket.rest_s(time.time()) for bucket in self._of(condition).values()), default=0.0)

    def applied(self, condition: FabricCondition) -> FabricCondition:
        """Return a condition as it is to come into force now: with what its buckets hold."""
        held = {
            element: bucket.held_bits(time.time()) for element, bucket in self._of(condition.name).items()
        }
        return condition.model_copy(update={"held_bits": held}) if held else condition

    @contextmanager
    def followed(self, condition: str, fabric: RunningFabric) -> Iterator[None]:
        """Note what the buckets of a condition hold when the block ends, however it ends."""
        try:
            yield
        finally:
            if self._path is not None:
                # An agent that is gone tells nothing; what was known before has to do.
                with suppress(TestbedError):
                    self._note(condition, fabric.read()["elements"])

    def _of(self, condition: str) -> dict[str, Bucket]:
        return self._buckets.get(condition, {})

    def _note(self, condition: str, elements: list[dict[str, Any]]) -> None:
        known, now_s = self._of(condition), time.time()
        for element in elements:
            if credit := element.get("credit"):
                name = element["element"]
                first_bits = known[name].first_bits if name in known else credit["first_bits"]
                known[name] = Bucket(
                    credit["budget_bits"], credit["refill_bps"], first_bits, credit["left_bits"], now_s
                )
        self._buckets[condition] = known
        plain = {
            name: {element: asdict(bucket) for element, bucket in buckets.items()}
            for name, buckets in self._buckets.items()
        }
        assert self._path is not None
        write_text(self._path, json.dumps(plain, indent=2) + "\n")
