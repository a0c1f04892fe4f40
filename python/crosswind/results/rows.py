"""The rows of trials.parquet and metrics.parquet, as they travel through the journal."""

from dataclasses import asdict, dataclass
from typing import Literal, NamedTuple

# `interrupted`: the run ended in the middle of the attempt, which says nothing about its condition.
Status = Literal["done", "failed", "interrupted", "pending"]
# `unverified`: no emulator timed and counted the packets.
Fidelity = Literal["faithful", "degraded", "void", "unverified"]


class Metric(NamedTuple):
    """One number of a trial; `node` is null for the whole trial, a node's name or a place otherwise.

    `low` and `high` are what it may have been without the machine's disturbances, null where that is unknown.
    """

    node: str | None
    metric: str
    unit: str
    statistic: str
    value: float
    low: float | None = None
    high: float | None = None


@dataclass(frozen=True)
class TrialRow:
    """One attempt of one trial.

    `trial` names the attempt: a repeated trial has `-a2`, `-a3` ... after its planned name.
    `started` is an ISO 8601 instant in UTC, null before the trial started.
    """

    trial: str
    block: int
    position: int
    condition: str
    application: str
    status: Status
    reason: str | None
    fidelity: Fidelity | None
    fidelity_reason: str | None
    started: str | None
    duration_s: float | None
    attempt: int
    seed: int

    def as_dict(self) -> dict[str, object]:
        """Return the row as values that JSON can hold."""
        return asdict(self)

    @property
    def satisfies(self) -> bool:
        """Whether this attempt counts for its trial: it was measured, and the emulation can be believed."""
        return self.status == "done" and self.fidelity != "void"


def attempt_name(planned: str, attempt: int) -> str:
    """Return the name of an attempt (from 1) of a planned trial; each attempt has its own files."""
    return planned if attempt == 1 else f"{planned}-a{attempt}"
