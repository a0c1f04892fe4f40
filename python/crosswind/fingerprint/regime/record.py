"""The file of a regime: JSON lines, appended as they are measured, read whatever cut it off.

The first line says what is measured. Each sitting begins with a line of its own, which says how long nobody
measured before it; a point is a line; where a sitting ended by itself a line says why. A line is on disk
before the next point is measured, so that a killed run loses the point that it was at. A last line without an
end is half a line: it is passed over, and cut off when the file is continued.

Format: docs/reference/contracts.md, section 9.
"""

from __future__ import annotations

import fcntl
import hashlib
import json
import os
import shutil
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass
from datetime import datetime
from pathlib import Path
from typing import Any, Self

from crosswind.analysis.network.ip_bits import TCP_HEADERS_BYTES, ip_share
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.errors import CrosswindError
from crosswind.fingerprint.measure.machines import ANYTHING, Bounds
from crosswind.fingerprint.regime.points import Point
from crosswind.results.durable import sync_folder
from crosswind.spec import FabricSpec

SCHEMA = 1
# A point with the longest of all numbers.
LINE_BYTES = 300
# So much of the first line is the same in every file: the schema.
_SIGN_BYTES = len('{"schema": ')


class RegimeFileError(CrosswindError):
    """A file is no regime's, or another one's; the message says where and what would help."""


@dataclass(frozen=True)
class Header:
    """What is measured; a file is continued with the same only.

    Attributes:
        regime: as `Pattern` writes it.
        condition: None where the network is there and nobody made it.
        network: tells networks apart: of all that the fabric was told, or of the words for both ends.
        ip_per_payload: IP bytes per payload byte in full segments.
        provenance: of the machine, before the first point.
        bounds: what the machine may do beside when a sitting begins.
    """

    regime: str
    point_s: float
    connections: int
    between: tuple[str, str]
    condition: str | None
    network: str
    ip_per_payload: float
    provenance: Mapping[str, Any]
    bounds: Bounds = ANYTHING

    @classmethod
    def of(
        cls,
        spec: FabricSpec,
        regime: str,
        point_s: float,
        connections: int,
        provenance: Mapping[str, Any],
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
            network=_told_apart(spec.as_json()),
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
        provenance: Mapping[str, Any],
        bounds: Bounds = ANYTHING,
    ) -> Header:
        """Return the header of a regime between two ends of a network that is there.

        Args:
            between: their names.
            words: what commands at both ends begin with, and the far one's address.
        """
        return cls(
            regime=regime,
            point_s=point_s,
            connections=connections,
            between=between,
            condition=None,
            network=_told_apart(words),
            ip_per_payload=_ip_per_payload(path_mtu_bytes),
            provenance=provenance,
            bounds=bounds,
        )

    def differences(self, other: Header) -> list[str]:
        """Return what another header says otherwise; the machine's state and its bounds are not compared."""
        mine, others = asdict(self), asdict(other)
        return [
            f"{key} {mine[key]} in the file, {others[key]} now"
            for key in mine
            if key not in ("provenance", "bounds") and mine[key] != others[key]
        ]


def _told_apart(network: Any) -> str:
    return hashlib.sha256(json.dumps(network, sort_keys=True).encode()).hexdigest()[:16]


def _ip_per_payload(mtu_bytes: int) -> float:
    return ip_share(mtu_bytes - TCP_HEADERS_BYTES, TCP_HEADERS_BYTES)


@dataclass(frozen=True)
class Sitting:
    """What was measured in one go, on one network that was up all the time.

    Attributes:
        began: date and time in UTC.
        boot: tells this machine's starts apart; the monotonic clock is of one of them.
        monotonic_ns: of this start's clock, at `at_ns`.
        at_ns: when it began, since the first sitting did.
        gap_s: for how long nobody had measured; None for the first.
        points: with instants since the begin of the first sitting.
        ended: why, where it ended by itself.
    """

    began: str
    boot: str
    monotonic_ns: int
    at_ns: int
    gap_s: float | None
    points: tuple[Point, ...]
    ended: str | None

    @property
    def end_ns(self) -> int:
        """When its last point ended."""
        return self.points[-1].end_ns if self.points else self.at_ns

    @property
    def measured_s(self) -> float:
        """How long it lasted, rests included."""
        return (self.end_ns - self.points[0].begin_ns) / 1e9 if self.points else 0.0


@dataclass(frozen=True)
class Record:
    """All that a regime's file says."""

    header: Header
    sittings: tuple[Sitting, ...]

    @property
    def measured_s(self) -> float:
        """Over all sittings, without the gaps between them."""
        return sum(sitting.measured_s for sitting in self.sittings)

    @property
    def points(self) -> tuple[Point, ...]:
        """Of all sittings."""
        return tuple(point for sitting in self.sittings for point in sitting.points)

    def traces(self) -> list[TrafficTrace]:
        """Return what each sitting with points was given, in IP bits; instants since the first one began."""
        return [self._trace(sitting.points) for sitting in self.sittings if sitting.points]

    def longest_trace(self) -> TrafficTrace:
        """Return the trace that says most: a sitting's network was not there before it.

        Raises: ValueError: nothing was measured.
        """
        traces = self.traces()
        if not traces:
            raise ValueError("a regime without a point: nothing was measured yet; continue it")
        return max(traces, key=lambda trace: trace.bits.size)

    def _trace(self, points: tuple[Point, ...]) -> TrafficTrace:
        factor = 8 * self.header.ip_per_payload
        rows = [(point.begin_ns / 1e9, point.end_ns / 1e9, factor * point.payload_bytes) for point in points]
        return TrafficTrace.of(*zip(*rows, strict=True))


def is_record(content: bytes) -> bool:
    """Return whether a file begins as that of a regime."""
    try:
        first = json.loads(content.partition(b"\n")[0])
    except (ValueError, RecursionError):
        return False
    return isinstance(first, dict) and "regime" in first


def read_record(content: bytes) -> Record:
    """Return what a regime's file says, as far as it goes. Pure.

    Raises: ValueError: a line is not one of a regime; names it.
    """
    # What follows the last newline was being written when the run was killed.
    lines = content.split(b"\n")[:-1]
    header: Header | None = None
    sittings: list[dict[str, Any]] = []
    for number, line in enumerate(lines, 1):
        try:
            said = json.loads(line)
            if header is None:
                header = _header(said)
            elif "sitting" in said:
                sittings.append({**said["sitting"], "points": [], "ended": None})
            elif "ended" in said:
                sittings[-1]["ended"] = str(said["ended"])
            else:
                sittings[-1]["points"].append(Point(**said))
        except (ValueError, TypeError, KeyError, IndexError, RecursionError) as error:
            raise ValueError(f"line {number}: is no line of a regime ({error})") from None
    if header is None:
        raise ValueError("no whole line: is it a regime's file?")
    try:
        read = tuple(Sitting(**{**one, "points": tuple(one["points"])}) for one in sittings)
    except TypeError as error:
        raise ValueError(f"a sitting that is none of a regime ({error})") from None
    return Record(header, read)


def _header(said: Mapping[str, Any]) -> Header:
    if said["schema"] != SCHEMA:
        raise ValueError(f"schema {said['schema']}; this crosswind reads {SCHEMA}")
    facts = {key: fact for key, fact in said.items() if key != "schema"}
    read = {"between": tuple(said["between"]), "bounds": Bounds(**said.get("bounds", {}))}
    return Header(**{**facts, **read})


@dataclass(frozen=True)
class Now:
    """This instant, on the clocks that a sitting is told by."""

    began: str
    boot: str
    monotonic_ns: int
    wall_ns: int


class Recorder:
    """A regime's file, open to be appended to."""

    def __init__(self, descriptor: int, path: Path, before: Record) -> None:
        self._descriptor = descriptor
        self.path = path
        self.before = before
        self._shift_ns = 0

    @classmethod
    @contextmanager
    def open(cls, path: Path, header: Header, wanted_s: float) -> Iterator[Self]:
        """Make a file, or continue it.

        Args:
            wanted_s: how long is measured in all, which must have room on the disk.
        Raises: RegimeFileError: it is another regime's, somebody else writes it, or the disk is too small.
        """
        _refuse_without_room(path, wanted_s / header.point_s * LINE_BYTES)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RegimeFileError(
                    f"{path}: another `crosswind fingerprint` writes it; wait for it"
                ) from None
            content = path.read_bytes()
            first_line = _line({"schema": SCHEMA, **asdict(header)})
            # Who was killed in the first line leaves the begin of one.
            if b"\n" not in content and first_line.startswith(content[:_SIGN_BYTES]):
                os.ftruncate(descriptor, 0)
                before = Record(header, ())
                _append(descriptor, first_line)
                sync_folder(path.absolute().parent)
            else:
                before = _to_continue(path, content, header)
                os.ftruncate(descriptor, content.rindex(b"\n") + 1)
            yield cls(descriptor, path, before)
        finally:
            os.close(descriptor)

    def sit(self, now: Now) -> None:
        """Begin a sitting; what was not measured since the last one is recorded with it."""
        last = self.before.sittings[-1] if self.before.sittings else None
        if last is None:
            at_ns, gap_s = 0, None
        else:
            gap_ns = _gap_ns(last, now)
            at_ns, gap_s = last.end_ns + gap_ns, gap_ns / 1e9
        self._shift_ns = at_ns - now.monotonic_ns
        said = {"began": now.began, "boot": now.boot, "monotonic_ns": now.monotonic_ns}
        _append(self._descriptor, _line({"sitting": {**said, "at_ns": at_ns, "gap_s": gap_s}}))

    def add(self, point: Point) -> None:
        """Keep a point of this sitting, whose instants are of the monotonic clock."""
        shifted = {key: getattr(point, key) + self._shift_ns for key in ("begin_ns", "end_ns")}
        _append(self._descriptor, _line({**asdict(point), **shifted}))

    def end(self, why: str) -> None:
        """Keep why this sitting ends."""
        _append(self._descriptor, _line({"ended": why}))


def _to_continue(path: Path, content: bytes, header: Header) -> Record:
    try:
        before = read_record(content)
    except ValueError as error:
        raise RegimeFileError(f"{path}: {error}; give another --out") from None
    differences = before.header.differences(header)
    if differences:
        raise RegimeFileError(
            f"{path}: holds another regime ({'; '.join(differences)}); ask for the same, or give "
            "another --out"
        )
    return before


def _gap_ns(last: Sitting, now: Now) -> int:
    """Return how long nobody measured: by the monotonic clock, or after a restart by the date."""
    if last.boot == now.boot:
        return now.monotonic_ns - (last.monotonic_ns + last.end_ns - last.at_ns)
    began_ns = round(datetime.fromisoformat(last.began).timestamp() * 1e9)
    # A date that was set back would make time run backwards.
    return max(0, now.wall_ns - (began_ns + last.end_ns - last.at_ns))


def _refuse_without_room(path: Path, needed_bytes: float) -> None:
    free_bytes = shutil.disk_usage(path.absolute().parent).free
    if needed_bytes > free_bytes:
        raise RegimeFileError(
            f"{path}: takes up to {needed_bytes / 1e6:.0f} MB and the disk has {free_bytes / 1e6:.0f} MB; "
            "measure for less time, or with points further apart"
        )


def _line(said: Mapping[str, Any]) -> bytes:
    return json.dumps(said).encode() + b"\n"


def _append(descriptor: int, line: bytes) -> None:
    os.write(descriptor, line)
    os.fdatasync(descriptor)
