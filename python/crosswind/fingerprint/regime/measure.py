"""Put a network under a regime, and keep every point as it is measured.

The network is up for as long as the sitting lasts, so what it remembers (a token bucket) it remembers through
the rests. Each phase makes new connections, as the study's did, and one point follows another in it without a
gap. Bytes are counted where they arrive.
"""

from __future__ import annotations

import tempfile
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from crosswind.app.base import Stage
from crosswind.app.traffic.application import Traffic
from crosswind.app.traffic.parameters import TrafficParameters
from crosswind.fingerprint.regime.pattern import Pattern
from crosswind.fingerprint.regime.points import Clocks, ConnectionLost, Point, Points
from crosswind.fingerprint.regime.record import Now, Record, Recorder
from crosswind.store.provenance import steal_s
from crosswind.testbed import Agent, Ended, Fabric, Process, TestbedError, find_binary
from crosswind.testbed.binaries import LOAD

# Why a sitting ended that had nothing left to do.
ALL_MEASURED = "all measured"
# A phase is started so much before it is due: its connections are made, and it is named 0.2 s ahead.
_LEAD_S = 0.25
_BEGIN_S = 60.0
# The far end's own patience: TCP's goes on for a quarter of an hour.
SILENCE_S = 30.0
# What is left of a measurement and shorter than this would be a connection's slow start.
_SHORTEST_S = 0.1
_LOOK_S = 0.2


class Silence(TestbedError):
    """Nothing arrives any more."""


def is_complete(record: Record, pattern: Pattern, wanted_s: float) -> bool:
    """Return whether as much is recorded as is wanted; a rest that would end it is not waited for."""
    left_s = wanted_s - record.measured_s
    ended = record.sittings[-1].ended if record.sittings else None
    return left_s < _SHORTEST_S or (ended == ALL_MEASURED and left_s < pattern.off_s + _SHORTEST_S)


def keep_measuring(
    spec: Mapping[str, Any],
    pattern: Pattern,
    wanted_s: float,
    recorder: Recorder,
    say: Callable[[Point], None] = lambda _: None,
    silence_s: float = SILENCE_S,
) -> None:
    """Measure until as much is recorded as is wanted.

    Args:
        spec: the fabric (docs/reference/contracts.md, section 1): its first node sends to its second one.
        wanted_s: in all sittings together, rests included.
        say: is told every point.
        silence_s: nothing that arrives for so long ends the sitting.
    Raises: TestbedError: an end or the path is gone; it is also recorded, and every point before it is kept.
    """
    left_s = wanted_s - recorder.before.measured_s
    with Agent() as agent, tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        folder.chmod(0o777)  # The agent runs processes under an unprivileged account.
        with Fabric(agent, spec, folder / "logs") as fabric:
            fabric.measure()
            sitting = _Sitting(fabric, folder, pattern, recorder, say, silence_s)
            recorder.sit(_now())
            try:
                sitting.carry_out(left_s)
            except KeyboardInterrupt:
                recorder.end("interrupted")
                raise
            except (TestbedError, ConnectionLost) as error:
                recorder.end(str(error))
                raise TestbedError(
                    f"{error}; what was measured is in {recorder.path}, and the same command continues it"
                ) from None
            recorder.end(ALL_MEASURED)


class _Sitting:
    def __init__(
        self,
        fabric: Fabric,
        folder: Path,
        pattern: Pattern,
        recorder: Recorder,
        say: Callable[[Point], None],
        silence_s: float,
    ) -> None:
        self._fabric = fabric
        self._folder = folder
        self._pattern = pattern
        self._recorder = recorder
        self._say = say
        self._header = recorder.before.header
        self._silence = SilenceWatch(self._header.between, silence_s)
        self._tails = [_Tail(folder / "logs" / node / "traffic-serve.out") for node in self._header.between]

    def carry_out(self, left_s: float) -> None:
        traffic = Traffic(TrafficParameters.model_validate({"duration": "1s"}))
        stage = Stage(self._fabric, self._folder, seed=1)
        traffic.start(stage)
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
        traffic.stop(stage)

    def _phase(self, length_s: float) -> tuple[int, int]:
        """Send for so long; return begin and end, CLOCK_MONOTONIC."""
        first, second = self._header.between
        before = _clocks()
        process = self._fabric.start(
            first,
            "traffic",
            [
                *(find_binary(LOAD), "traffic", "--pattern", "pairs"),
                *("--connections", self._header.connections),
                *("--node", f"{first}={first}.sock", "--node", f"{second}={second}.sock"),
                *("--duration", f"{length_s:.9f}", "--progress", f"{self._header.point_s:.9f}"),
                *("--seed", 1, "--samples", "samples.csv", "--summary", "summary.json"),
            ],
            cwd=self._folder,
        )
        begins_ns = _begins_ns(process)
        points = Points(begins_ns, self._header.connections, before)
        ends_ns = begins_ns
        ended = None
        while ended is None:
            ended = process.wait(min(_LOOK_S, self._header.point_s))
            now = _clocks()
            for line in (line for tail in self._tails for line in tail.lines()):
                for point in points.hear(line, now):
                    self._recorder.add(point)
                    self._say(point)
                    self._silence.hear(point)
                    ends_ns = point.end_ns
        if ended != Ended(0, None):
            raise TestbedError(f"{process}: {ended}; {process.last_words()}")
        process.stdout.unlink()  # The next phase says its begin in a file of its own.
        return begins_ns, ends_ns


class SilenceWatch:
    """Ends a sitting in which nothing arrives any more; a point without a byte is kept all the same."""

    def __init__(self, between: tuple[str, str], longest_s: float) -> None:
        self._between = between
        self._longest_s = longest_s
        self._silent_s = 0.0

    def hear(self, point: Point) -> None:
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
    """The whole lines that a growing file has gained since the last look."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._offset = 0

    def lines(self) -> list[str]:
        with self._path.open("rb") as file:
            file.seek(self._offset)
            whole, newline, _ = file.read().rpartition(b"\n")
        self._offset += len(whole) + len(newline)
        # The first one says where it listens.
        return [line for line in whole.decode().splitlines() if line.startswith("{")]


def _begins_ns(process: Process) -> int:
    """Return the instant that `traffic` announces.

    Raises: TestbedError: it ended instead, or made no connection in time.
    """
    deadline_s = time.monotonic() + _BEGIN_S
    while time.monotonic() < deadline_s:
        ended = process.wait(0.01)
        words = process.stdout.read_text().split()
        if len(words) == 2 and words[0] == "begins":
            return int(words[1])
        if ended is not None:
            raise TestbedError(f"{process}: {ended}; {process.last_words()}")
    raise TestbedError(f"{process}: made no connection within {_BEGIN_S:g} s; is there a path?")


def _clocks() -> Clocks:
    return Clocks(time.time(), time.monotonic(), steal_s())


def _now() -> Now:
    boot = Path("/proc/sys/kernel/random/boot_id").read_text().strip()
    began = datetime.now(UTC).isoformat(timespec="milliseconds")
    return Now(began, boot, time.monotonic_ns(), time.time_ns())
