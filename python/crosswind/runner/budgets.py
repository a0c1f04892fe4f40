"""The content of credit buckets between trials, where an experiment keeps their budgets.

Each trial has its own fabric, and the buckets go with the fabric. Where a bucket must outlive it, the next
trial under the same condition begins with what this one left, and the refill since. Conditions share no
bucket: each is a separate network, which rests while trials run under the others.
"""

from __future__ import annotations

import json
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass
from pathlib import Path
from types import MappingProxyType
from typing import Self

from pydantic import TypeAdapter

from crosswind.results import Measurement
from crosswind.results.buckets import credits_of
from crosswind.results.documents import RESTORE, blaming
from crosswind.results.durable import write_text
from crosswind.runner.steering import Steering
from crosswind.spec import FabricCondition, Resolved
from crosswind.spec.resolved import dilation_of
from crosswind.testbed import Fabric, TestbedError


@dataclass(frozen=True)
class Bucket:
    """A credit bucket after a trial.

    Attributes:
        budget_bits: the most that it holds.
        refill_bps: bits that it gains per second.
        first_bits: content when the first trial began.
        left_bits: content when the last one ended.
        at_s: the end of that trial, in seconds of UTC: a run that is continued tomorrow finds it full. Where
            the network is ten times slower than real time, these are a tenth of it.
    """

    budget_bits: int
    refill_bps: int
    first_bits: int
    left_bits: int
    at_s: float

    def held_bits(self, now_s: float) -> int:
        """Return its content now."""
        return min(self.budget_bits, self.left_bits + int(self.refill_bps * max(0.0, now_s - self.at_s)))

    def rest_s(self, now_s: float) -> float:
        """Return the time until it holds `first_bits` again."""
        return max(0, self.first_bits - self.held_bits(now_s)) / self.refill_bps


_Buckets = dict[str, dict[str, Bucket]]  # by condition and element


class Budgets:
    """The buckets of all conditions, in a file that a continued run reads again.

    Args:
        path: of the file; None where every trial has fresh budgets.
        factors: how many times slower than real time the network of each condition is: its buckets refill
            as slowly. Conditions without one are in real time.
    """

    def __init__(self, path: Path | None, factors: Mapping[str, int] = MappingProxyType({})) -> None:
        self._path = path
        self._factors = factors
        self._buckets: _Buckets = {}
        if path is not None and path.is_file():
            with blaming(path, RESTORE):
                self._buckets = TypeAdapter(_Buckets).validate_json(path.read_bytes())

    @classmethod
    def of(cls, resolved: Resolved, folder: Path) -> Self:
        """Return the buckets of a run whose results are in `folder`."""
        path = folder / "budgets.json" if resolved.trials.budgets == "kept" else None
        return cls(path, {each.name: dilation_of(resolved, each) or 1 for each in resolved.conditions})

    def rest_s(self, condition: str) -> float:
        """Return the time until each bucket of a condition holds what it held when the first trial began."""
        now_s = self._now_s(condition)
        return max((bucket.rest_s(now_s) for bucket in self._of(condition).values()), default=0.0)

    def applied(self, condition: FabricCondition) -> FabricCondition:
        """Return a condition as it has to be applied now: with the content of its buckets."""
        now_s = self._now_s(condition.name)
        held = {element: bucket.held_bits(now_s) for element, bucket in self._of(condition.name).items()}
        return condition.model_copy(update={"held_bits": held}) if held else condition

    @contextmanager
    def followed(self, condition: str, fabric: Fabric, steering: Steering) -> Iterator[None]:
        """Record the content of a condition's buckets when the block ends, also when it fails.

        A hand that moves the network takes the buckets away, so then the content from before remains.
        """
        try:
            yield
        finally:
            if self._path is not None and not steering.moves:
                # An agent that is gone reports nothing, and the content from before remains.
                with suppress(TestbedError):
                    self._record(condition, fabric.read())

    def _now_s(self, condition: str) -> float:
        """Return the present in seconds of UTC, which pass as slowly as in the network of a condition."""
        return time.time() / self._factors.get(condition, 1)

    def _of(self, condition: str) -> dict[str, Bucket]:
        return self._buckets.get(condition, {})

    def _record(self, condition: str, measurement: Measurement) -> None:
        known, now_s = self._of(condition), self._now_s(condition)
        for element, credit in credits_of(measurement).items():
            first_bits = known[element].first_bits if element in known else credit.first_bits
            known[element] = Bucket(
                credit.budget_bits, credit.refill_bps, first_bits, credit.left_bits, now_s
            )
        self._buckets[condition] = known
        plain = {
            name: {element: asdict(bucket) for element, bucket in buckets.items()}
            for name, buckets in self._buckets.items()
        }
        assert self._path is not None
        write_text(self._path, json.dumps(plain, indent=2) + "\n")
