"""The fingerprint of a network as a document, written and read (docs/reference/contracts.md, section 9)."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, ValidationError, model_validator

from crosswind.analysis.network.ends import Looks
from crosswind.analysis.network.part import FingerprintPart, problem_of
from crosswind.analysis.network.token_bucket import TokenBucketPart
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.analysis.network.transfers import (
    BulkPart,
    CapacityPart,
    DelayPart,
    RoundTripPart,
    SentPart,
    WriteSizePart,
)
from crosswind.analysis.network.way import Way
from crosswind.errors import CrosswindError
from crosswind.spec.read_file import read_file

# The schema that this version writes, and the highest that it reads.
SCHEMA = 3


class NotAFingerprint(CrosswindError):
    """A file is no fingerprint that this version can read; the message gives the reason."""


class FingerprintDocument(FingerprintPart):
    """What a network is from one end to the other, as far as it was measured.

    Attributes:
        ended: why it ended early; None where it is complete.
        between: names of the sending end and of the receiving one.
        condition: that Crosswind emulated; None where the network is not Crosswind's.
        trace: begin in s, end in s and IP bits of each sample, counted where they arrive; a gap is a rest.
        provenance, provenance_after: of the machine that measured.
    """

    schema_version: int = Field(alias="schema")
    ended: str | None = None
    between: tuple[str, str]
    way: Way | None = None
    condition: str | None = None
    delay: DelayPart | None = None
    round_trip: RoundTripPart = RoundTripPart()
    bulk: BulkPart | None = None
    token_bucket: TokenBucketPart | None = None
    trace: list[tuple[float, float, int | float]] | None = None
    writes: list[WriteSizePart] = Field(default_factory=list)
    capacity: list[CapacityPart] = Field(default_factory=list)
    sent: SentPart | None = None
    machines: Looks = Looks()
    provenance: dict[str, JsonValue] = Field(default_factory=dict)
    provenance_after: dict[str, JsonValue] | None = None

    @model_validator(mode="after")
    def _has_samples_in_order(self) -> Self:
        self.traffic()
        return self

    def traffic(self) -> TrafficTrace | None:
        """Return the trace; None where it was not measured."""
        return TrafficTrace.of(*zip(*self.trace, strict=True)) if self.trace else None


def read_fingerprint(path: Path) -> FingerprintDocument:
    """Return the document in a file.

    Raises: NotAFingerprint: it cannot be read, is none, is damaged, or is of a later schema.
    """
    try:
        content = read_file(path)
        document = json.loads(content)
    except OSError as error:
        raise NotAFingerprint(f"{path}: cannot be read: {error.strerror or error}") from None
    except (ValueError, RecursionError) as error:
        raise NotAFingerprint(f"{path}: is no whole JSON ({error}); is the file cut off?") from None
    schema = document.get("schema") if isinstance(document, dict) else None
    if not isinstance(schema, int) or "between" not in document:
        raise NotAFingerprint(f"{path}: is no fingerprint; `crosswind fingerprint FILE` measures one")
    if schema > SCHEMA:
        raise NotAFingerprint(
            f"{path}: is a fingerprint of schema {schema}, and this version reads up to {SCHEMA}; "
            "use the version that wrote it, or a later one"
        )
    try:
        return FingerprintDocument.model_validate_json(content)
    except ValidationError as error:
        raise NotAFingerprint(f"{path}: {problem_of(error)}; was the file edited?") from None


def text_of(document: FingerprintDocument) -> str:
    """Return a document as it is stored, one sample of its trace on a line."""
    rest = document.as_json()
    samples = rest.pop("trace", None)
    text = json.dumps(rest, indent=2, ensure_ascii=False)
    if samples is None:
        return f"{text}\n"
    trace = ",\n    ".join(json.dumps(row) for row in document.trace or [])
    return f'{text[:-2]},\n  "trace": [\n    {trace}\n  ]\n}}\n'
