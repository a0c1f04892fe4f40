"""The file of a regime: JSON lines that are appended while it is measured.

The first line says what is measured. Each sitting begins with a line of its own, which records the time
without measurement before it. Each point is a line. Where a sitting ended by itself, a line gives the reason.
A line is on disk before the next point is measured, so a killed run loses only the point that it was
measuring. A last line without a newline is incomplete: it is ignored, and cut off when the file is continued.

Format: docs/reference/contracts.md, section 9.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import Self

from pydantic import Field, JsonValue, TypeAdapter, ValidationError

from crosswind.analysis.network.ip_bits import TCP_HEADERS_BYTES, ip_share
from crosswind.analysis.network.part import problem_of
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.measure.machines import ANYTHING, Bounds
from crosswind.fingerprint.regime.appended import AppendedLines, RegimeFileError
from crosswind.fingerprint.regime.points import RegimePart, RegimePoint
from crosswind.spec import FabricSpec

SCHEMA = 1
# A point whose numbers all have the greatest length.
LINE_BYTES = 300


class Header(RegimePart):
    """What is measured; a file is only continued with the same header.

    Attributes:
        regime: as `Pattern` writes it.
        condition: None where the network is not Crosswind's.
        network: a hash that tells networks apart: of the fabric, or of the words for both ends.
        ip_per_payload: IP bytes per payload byte in full segments.
        provenance: of the machine, before the first point.
        bounds: limits of what else the machine may do when a sitting begins.
    """

    schema_version: int = Field(SCHEMA, alias="schema")
    regime: str
    point_s: float
    connections: int
    between: tuple[str, str]
    condition: str | None
    network: str
    ip_per_payload: float
    provenance: dict[str, JsonValue]
    bounds: Bounds = ANYTHING

    @classmethod
    def of(
        cls,
        spec: FabricSpec,
        regime: str,
        point_s: float,
        connections: int,
        provenance: dict[str, JsonValue],
        bounds: Bounds = ANYTHING,
    ) -> Header:
        """Return the header of a regime from a fabric's first node to its second one."""
        first, second = (node.name for node in spec.nodes)
        return cls(
            regime=regime,
            point_s=point_s,
            connections=connections,
            between=(first, second),
            condition=spec.condition.name,
            network=_hash_of(spec.as_json()),
            ip_per_payload=_ip_per_payload(spec.mtu_bytes),
            provenance=provenance,
            bounds=bounds,
        )

    @classmethod
    def of_ends(
        cls,
        between: tuple[str, str],
        words: Sequence[str],
        path_mtu_bytes: int,
        regime: str,
        point_s: float,
        connections: int,
        provenance: dict[str, JsonValue],
        bounds: Bounds = ANYTHING,
    ) -> Header:
        """Return the header of a regime between two ends of an existing network.

        Args:
            between: their names.
            words: the prefixes of commands at both ends, and the address of the far one.
        """
        return cls(
            regime=regime,
            point_s=point_s,
            connections=connections,
            between=between,
            condition=None,
            network=_hash_of(list(words)),
            ip_per_payload=_ip_per_payload(path_mtu_bytes),
            provenance=provenance,
            bounds=bounds,
        )

    def differences(self, other: Header) -> list[str]:
        """Return how another header differs, without the machine's state and its bounds."""
        own, others = (header.model_dump(exclude={"provenance", "bounds"}) for header in (self, other))
        return [f"{key} {own[key]} in the file, {others[key]} now" for key in own if own[key] != others[key]]


def _hash_of(network: JsonValue) -> str:
    return hashlib.sha256(json.dumps(network, sort_keys=True).encode()).hexdigest()[:16]


def _ip_per_payload(mtu_bytes: int) -> float:
    return ip_share(mtu_bytes - TCP_HEADERS_BYTES, TCP_HEADERS_BYTES)


class SittingBegin(RegimePart):
    """The start of a sitting.

    Attributes:
        began: date and time in UTC.
        boot: differs for each boot of this machine; a monotonic clock belongs to one boot.
        monotonic_ns: the clock of this boot at `at_ns`.
        at_ns: since the start of the first sitting.
        gap_s: time without measurement before it; None for the first.
    """

    began: str
    boot: str
    monotonic_ns: int
    at_ns: int
    gap_s: float | None


class SittingLine(RegimePart):
    """The line with which a sitting begins."""

    sitting: SittingBegin


class EndedLine(RegimePart):
    """The line with which a sitting ends: why."""

    ended: str


_LINE: TypeAdapter[SittingLine | EndedLine | RegimePoint] = TypeAdapter(SittingLine | EndedLine | RegimePoint)


@dataclass(frozen=True)
class RegimeSitting:
    """What was measured without interruption, on a network that stayed up.

    Attributes:
        points: with instants since the start of the first sitting.
        ended: why, where it ended by itself.
    """

    begin: SittingBegin
    points: tuple[RegimePoint, ...] = ()
    ended: str | None = None

    @property
    def end_ns(self) -> int:
        """When its last point ended."""
        return self.points[-1].end_ns if self.points else self.begin.at_ns

    @property
    def measured_s(self) -> float:
        """Its length, rests included."""
        return (self.end_ns - self.points[0].begin_ns) / 1e9 if self.points else 0.0


@dataclass(frozen=True)
class Record:
    """The content of a regime's file."""

    header: Header
    sittings: tuple[RegimeSitting, ...]

    @property
    def measured_s(self) -> float:
        """Length of all sittings, without the gaps between them."""
        return sum(sitting.measured_s for sitting in self.sittings)

    @property
    def points(self) -> tuple[RegimePoint, ...]:
        """Of all sittings."""
        return tuple(point for sitting in self.sittings for point in sitting.points)

    def traces(self) -> list[TrafficTrace]:
        """Return the trace of each sitting with points, in IP bits, since the start of the first sitting."""
        return [self._trace(sitting.points) for sitting in self.sittings if sitting.points]

    def longest_trace(self) -> TrafficTrace:
        """Return the trace of the longest sitting; sittings do not share a network.

        Raises: ValueError: nothing was measured.
        """
        traces = self.traces()
        if not traces:
            raise ValueError("a regime without a point: nothing was measured yet; continue it")
        return max(traces, key=lambda trace: trace.bits.size)

    def _trace(self, points: tuple[RegimePoint, ...]) -> TrafficTrace:
        factor = 8 * self.header.ip_per_payload
        rows = [(point.begin_ns / 1e9, point.end_ns / 1e9, factor * point.payload_bytes) for point in points]
        return TrafficTrace.of(*zip(*rows, strict=True))


def is_record(content: bytes) -> bool:
    """Return whether a file begins like a regime."""
    try:
        first = json.loads(content.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "regime" in first


def read_record(content: bytes) -> Record:
    """Return the content of a regime's file, as far as it is complete. Pure.

    Raises: ValueError: a line is not one of a regime; names it.
    """
    # What follows the last newline was being written when the run was killed.
    first, *lines = content.split(b"\n")[:-1] or [b""]
    if not first:
        raise ValueError("no whole line: is it a regime's file?")
    with _blaming_line(1):
        header = _header(first)
    sittings: list[_SittingRead] = []
    for number, line in enumerate(lines, 2):
        with _blaming_line(number):
            match _LINE.validate_json(line):
                case SittingLine(sitting=begin):
                    sittings.append(_SittingRead(begin))
                case EndedLine(ended=why):
                    sittings[-1].ended = why
                case RegimePoint() as point:
                    sittings[-1].points.append(point)
    return Record(header, tuple(RegimeSitting(one.begin, tuple(one.points), one.ended) for one in sittings))


@dataclass
class _SittingRead:
    """A sitting while its lines are read."""

    begin: SittingBegin
    points: list[RegimePoint] = field(default_factory=list)
    ended: str | None = None


@contextmanager
def _blaming_line(number: int) -> Iterator[None]:
    """Name the line that cannot be read in the block."""
    try:
        yield
    except ValidationError as error:
        raise ValueError(f"line {number}: is no line of a regime ({problem_of(error)})") from None
    except IndexError:
        raise ValueError(f"line {number}: is no line of a regime (it is before the first sitting)") from None
    except ValueError as error:
        raise ValueError(f"line {number}: is no line of a regime ({error})") from None


def _header(line: bytes) -> Header:
    header = Header.model_validate_json(line)
    if header.schema_version != SCHEMA:
        raise ValueError(f"schema {header.schema_version}; this crosswind reads {SCHEMA}")
    return header


@dataclass(frozen=True)
class Now:
    """This instant, on the clocks that a sitting records."""

    began: str
    boot: str
    monotonic_ns: int
    wall_ns: int


class Recorder:
    """A regime's file, open for appending."""

    def __init__(self, file: AppendedLines, path: Path, before: Record) -> None:
        self._file = file
        self.path = path
        self.before = before
        self._shift_ns = 0

    @classmethod
    @contextmanager
    def open(cls, path: Path, header: Header, wanted_s: float) -> Iterator[Self]:
        """Create a file, or continue it.

        Args:
            wanted_s: length of the whole measurement, which must fit on the disk.
        Raises: RegimeFileError: it holds a different regime, another process writes it, or the disk is full.
        """
        with AppendedLines.open(path, _line(header), wanted_s / header.point_s * LINE_BYTES) as file:
            before = Record(header, ()) if file.content is None else _to_continue(path, file.content, header)
            yield cls(file, path, before)

    def sit(self, now: Now) -> None:
        """Begin a sitting, and record the time without measurement before it."""
        last = self.before.sittings[-1] if self.before.sittings else None
        if last is None:
            at_ns, gap_s = 0, None
        else:
            gap_ns = _gap_ns(last, now)
            at_ns, gap_s = last.end_ns + gap_ns, gap_ns / 1e9
        self._shift_ns = at_ns - now.monotonic_ns
        begin = SittingBegin(
            began=now.began, boot=now.boot, monotonic_ns=now.monotonic_ns, at_ns=at_ns, gap_s=gap_s
        )
        self._file.append(_line(SittingLine(sitting=begin)))

    def add(self, point: RegimePoint) -> None:
        """Append a point of this sitting, whose instants are of the monotonic clock."""
        shifted = {"begin_ns": point.begin_ns + self._shift_ns, "end_ns": point.end_ns + self._shift_ns}
        self._file.append(_line(point.model_copy(update=shifted)))

    def end(self, why: str) -> None:
        """Append why this sitting ends."""
        self._file.append(_line(EndedLine(ended=why)))


def _to_continue(path: Path, content: bytes, header: Header) -> Record:
    try:
        before = read_record(content)
    except ValueError as error:
        raise RegimeFileError(f"{path}: {error}; give another --out") from None
    differences = before.header.differences(header)
    if differences:
        raise RegimeFileError(
            f"{path}: holds another regime ({'; '.join(differences)}); give the same options, or "
            "another --out"
        )
    return before


def _gap_ns(last: RegimeSitting, now: Now) -> int:
    """Return the time without measurement: by the monotonic clock, or after a reboot by the date."""
    if last.begin.boot == now.boot:
        return now.monotonic_ns - (last.begin.monotonic_ns + last.end_ns - last.begin.at_ns)
    began_ns = round(datetime.fromisoformat(last.begin.began).timestamp() * 1e9)
    # A date that was set back would make time run backwards.
    return max(0, now.wall_ns - (began_ns + last.end_ns - last.begin.at_ns))


def _line(part: RegimePart) -> bytes:
    return json.dumps(part.model_dump(by_alias=True)).encode() + b"\n"
