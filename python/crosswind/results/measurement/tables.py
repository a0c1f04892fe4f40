"""Rows that the agent recorded; they become tables (docs/reference/contracts.md, section 5).

A row is a dataclass and not a model. A trial can have 100,000 rows, for which models take ten times the
memory and three times the time.
"""

from __future__ import annotations

from typing import Annotated, Generic, TypeVar

from pydantic import ConfigDict, Field
from pydantic.dataclasses import dataclass

from crosswind.results.part import StoredPart

STEP_NS = 100_000_000


@dataclass(frozen=True, slots=True, config=ConfigDict(validate_by_alias=True, validate_by_name=True))
class SeriesRow:
    """What one element did to packets of one class in one step; `at_ns` is the beginning of the step."""

    at_ns: int
    element: str
    traffic: Annotated[str, Field(alias="class")]  # `real` or `ghost`
    arrived_bytes: int
    departed_bytes: int
    dropped_packets: int
    dropped_bytes: int
    queued_bytes: int  # at the end of the step


@dataclass(frozen=True, slots=True)
class BucketRow:
    """What a credit bucket held at the end of a step; `at_ns` is the beginning of the step."""

    at_ns: int
    element: str
    left_bits: int


@dataclass(frozen=True, slots=True)
class DropRow:
    """A packet that was dropped; None where its headers were not read."""

    at_ns: int
    element: str
    reason: str
    src: str | None = None
    dst: str | None = None
    protocol: str | None = None
    ip_bytes: int | None = None
    payload_bytes: int | None = None
    tcp_seq: int | None = None
    tcp_flags: int | None = None


@dataclass(frozen=True, slots=True)
class RetransmissionRow:
    """A TCP segment that a node sent again; `since_first_ns` is None where the first sending is forgotten."""

    at_ns: int
    node: str
    src: str
    dst: str
    tcp_seq: int
    payload_bytes: int
    since_first_ns: int | None


@dataclass(frozen=True, slots=True)
class HeldRow:
    """An acknowledgement that its node held back while the other end waited for it."""

    at_ns: int  # when it was sent
    node: str
    src: str
    dst: str
    held_ns: int


Row = TypeVar("Row", DropRow, RetransmissionRow, HeldRow)


class RecordedRows(StoredPart, Generic[Row]):
    """Rows up to a bound, and how many more there were."""

    lost_records: int = 0
    rows: list[Row] = Field(default_factory=list)


class Series(StoredPart):
    """Counters of elements over time; steps in which nothing happened have no row.

    Attributes:
        credit: what credit buckets held; a bucket has a row for each step that changed it.
    """

    step_ns: int = Field(STEP_NS, gt=0)
    rows: list[SeriesRow] = Field(default_factory=list)
    credit: list[BucketRow] = Field(default_factory=list)
