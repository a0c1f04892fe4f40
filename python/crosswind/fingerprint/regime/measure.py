"""Measure a network under a regime, and record every point at once.

The network stays up during a sitting, so that a token bucket keeps its level through the rests. Each phase
makes new connections, as in the study. Points within a phase follow each other without a gap. Bytes are
counted where they arrive.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from crosswind.errors import CrosswindError
from crosswind.fingerprint.measure.bulk import pairs, serving
from crosswind.fingerprint.measure.ends import GRACE_S, Ends, Network, Running
from crosswind.fingerprint.regime.pattern import Pattern
from crosswind.fingerprint.regime.points import ClockReadings, ConnectionLost, PhasePoints, RegimePoint
from crosswind.fingerprint.regime.record import Now, Record, Recorder
from crosswind.machine.provenance import steal_s
from crosswind.testbed import TestbedError

# The reason for the end of a complete sitting.
ALL_MEASURED = "all measured"
# A phase is started this long before it is due, since it has to connect and announces its start 0.2 s ahead.
_LEAD_S = 0.25
_BEGIN_S = 60.0
# TCP itself would wait for a quarter of an hour.
SILENCE_S = 30.0
# A shorter rest of a measurement would only be slow start.
_SHORTEST_S = 0.1
_LOOK_S = 0.2


class Silence(TestbedError):
    """Nothing arrives any more."""


def is_complete(record: Record, pattern: Pattern, wanted_s: float) -> bool:
    """Return whether enough is recorded; a rest at the end is not waited for."""
    left_s = wanted_s - record.measured_s
    ended = record.sittings[-1].ended if record.sittings else None
    return left_s < _SHORTEST_S or (ended == ALL_MEASURED and left_s < pattern.off_s + _SHORTEST_S)


def keep_measuring(
    network: Network,
    pattern: Pattern,
    wanted_s: float,
    recorder: Recorder,
    say: Callable[[RegimePoint], None] = lambda _: None,
) -> None:
    """Measure until the record is complete.

    Args:
        network: of two ends on this machine; the near one sends.
        wanted_s: length of all sittings together, rests included.
        say: is called with every point; an exception from it ends the sitting.
    Raises: TestbedError: an end or the path is gone; the record has the reason, and all points before it.
    """
    left_s = wanted_s - recorder.before.measured_s
    with network() as ends, ends.near.folder() as folder, serving(ends, folder) as servers:
        sitting = _Sitting(ends, servers, folder, pattern, recorder, say)
        recorder.sit(_now())
        try:
            sitting.carry_out(left_s)
        except KeyboardInterrupt:
            recorder.end("interrupted")
            raise
        except (CrosswindError, ConnectionLost) as error:
            recorder.end(str(error))
            kind = type(error) if isinstance(error, CrosswindError) else TestbedError
            raise kind(
                f"{error}; what was measured is in {recorder.path}, and the same command continues it"
            ) from None
        recorder.end(ALL_MEASURED)


class _Sitting:
    def __init__(
        self,
        ends: Ends,
        servers: Sequence[Running],
        folder: str,
        pattern: Pattern,
        recorder: Recorder,
        say: Callable[[RegimePoint], None],
    ) -> None:
        self._ends = ends
        self._folder = folder
        self._pattern = pattern
        self._recorder = recorder
        self._say = say
        self._header = recorder.before.header
        self._silence = SilenceWatch(self._header.between, SILENCE_S)
        self._tails = [_Tail(server) for server in servers]

    def carry_out(self, left_s: float) -> None:
        origin_ns, elapsed_s = None, 0.0
        while True:
            begin_s, length_s = self._pattern.phase(elapsed_s, left_s - elapsed_s)
            if length_s < _SHORTEST_S:
                break
            if origin_ns is not None:
                time.sleep(max(0.0, origin_ns / 1e9 + begin_s - _LEAD_S - time.monotonic()))
            begins_ns, ends_ns = self._phase(length_s)
            origin_ns = begins_ns if origin_ns is None else origin_ns
            elapsed_s = (ends_ns - origin_ns) / 1e9

    def _phase(self, length_s: float) -> tuple[int, int]:
        """Send for `length_s`; return start and end, CLOCK_MONOTONIC."""
        before = _clocks()
        command = [
            *pairs(self._ends, self._folder, self._header.connections, length_s),
            *("--progress", f"{self._header.point_s:.9f}"),
        ]
        with Running(self._ends.near, command) as sender:
            begins_ns = _begins_ns(sender)
            points = PhasePoints(begins_ns, self._header.connections, before)
            ends_ns, ended = begins_ns, False
            while not ended:
                ended = sender.has_ended(min(_LOOK_S, self._header.point_s))
                now = _clocks()
                for line in (line for tail in self._tails for line in tail.lines()):
                    for point in points.hear(line, now):
                        self._recorder.add(point)
                        self._say(point)
                        self._silence.hear(point)
                        ends_ns = point.end_ns
            sender.finish(GRACE_S)
        return begins_ns, ends_ns


class SilenceWatch:
    """Ends a sitting in which nothing arrives any more; points without a byte are still recorded."""

    def __init__(self, between: tuple[str, str], longest_s: float) -> None:
        self._between = between
        self._longest_s = longest_s
        self._silent_s = 0.0

    def hear(self, point: RegimePoint) -> None:
        lasted_s = (point.end_ns - point.begin_ns) / 1e9
        self._silent_s = 0.0 if point.payload_bytes else self._silent_s + lasted_s
        if self._silent_s >= self._longest_s:
            first, second = self._between
            raise Silence(
                f"{second}: nothing arrived for {self._silent_s:g} s of sending, and {first} sent "
                f"{point.retransmits} segments again in the last point; {second} is gone, or a firewall "
                "between the two drops everything"
            )


class _Tail:
    """The complete lines that a server has printed since the last call."""

    def __init__(self, server: Running) -> None:
        self._server = server
        self._offset = 0

    def lines(self) -> list[str]:
        whole, newline, _ = self._server.said(self._offset).rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        # The first line is the address where it listens.
        return [line for line in whole.decode().splitlines() if line.startswith("{")]


def _begins_ns(sender: Running) -> int:
    """Return the instant that `traffic` announces.

    Raises: TestbedError: it ended instead, or made no connection in time.
    """
    deadline_s = time.monotonic() + _BEGIN_S
    while time.monotonic() < deadline_s:
        ended = sender.has_ended(0.01)
        words = sender.said().split()
        if len(words) == 2 and words[0] == b"begins":
            return int(words[1])
        if ended:
            sender.finish(GRACE_S)
    raise TestbedError(f"{sender}: made no connection within {_BEGIN_S:g} s; is there a path?")


def _clocks() -> ClockReadings:
    return ClockReadings(time.time(), time.monotonic(), steal_s())


def _now() -> Now:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    began = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Now(began, boot, time.monotonic_ns(), time.time_ns())
