"""The recordings and the capture of a fabric that several machines carry.

Each machine's agent writes what is its own, in its folder of the run. When the fabric is down, the recordings
come here, one of each machine, and the captures become one file.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from crosswind.results.measurement import CaptureState, RecordingState
from crosswind.results.measurement.clock import ClockLine
from crosswind.testbed.at_once import at_once
from crosswind.testbed.captures import CapturePart, merge_captures
from crosswind.testbed.fabric import FabricFiles
from crosswind.testbed.files import MachineFiles
from crosswind.testbed.replies import Down


class ClusterFiles:
    """Where the machines of a fabric write, and what becomes of it here.

    Args:
        names: of the machines, in order.
        machines: their files, likewise.
        files: where the files of the fabric belong here.

    Attributes:
        there: the files that each machine's agent writes, in order.
    """

    def __init__(self, names: Sequence[str], machines: Sequence[MachineFiles], files: FabricFiles) -> None:
        self._names = names
        self._machines = machines
        self._files = files
        # A machine that is alone makes the files of the fabric.
        self._here = [files if len(names) == 1 else _of_machine(files, name) for name in names]
        self.there = at_once(self._placed, range(len(names)))

    def bring(
        self, written: Sequence[Down], clocks: Sequence[ClockLine], realtime_minus_monotonic_ns: int
    ) -> Down:
        """Copy the files here and return what became of them.

        Args:
            written: what each agent says of them.
            clocks: of the machines, against the first one's.
            realtime_minus_monotonic_ns: the clocks of the first one.
        Raises: TestbedError: a file differs from the machine's, or a capture is none.
        """
        at_once(self._bring, range(len(self._names)))
        capture = self._files.capture
        if capture is not None and len(self._names) > 1:
            paths = [files.capture for files in self._here]
            parts = [
                CapturePart(name, path, clock)
                for name, path, clock in zip(self._names, paths, clocks, strict=True)
                if path is not None
            ]
            merge_captures(parts, capture, realtime_minus_monotonic_ns)
            for part in parts:
                part.path.unlink()
        return Down(
            recording=_recording(self._names, [it.recording for it in written]),
            capture=_capture(self._names, [it.capture for it in written]),
        )

    def _placed(self, machine: int) -> FabricFiles:
        here = self._here[machine]
        there = dict(zip(_paths(here), self._machines[machine].place_written(_paths(here)), strict=True))
        return replace(
            here,
            record=None if here.record is None else there[here.record],
            capture=None if here.capture is None else there[here.capture],
        )

    def _bring(self, machine: int) -> None:
        for there, here in zip(_paths(self.there[machine]), _paths(self._here[machine]), strict=True):
            self._machines[machine].bring_written(there, here)


def _paths(files: FabricFiles) -> list[Path]:
    return [path for path in (files.record, files.capture) if path is not None]


def _of_machine(files: FabricFiles, name: str) -> FabricFiles:
    def named(path: Path | None) -> Path | None:
        return None if path is None else path.with_name(f"{path.stem}.{name}{path.suffix}")

    return replace(files, record=named(files.record), capture=named(files.capture))


def _recording(names: Sequence[str], each: Sequence[RecordingState | None]) -> RecordingState | None:
    known = [it for it in each if it is not None]
    if not known:
        return None
    return RecordingState(
        records=sum(it.records for it in known),
        lost_records=sum(it.lost_records for it in known),
        error=_first_error(names, [None if it is None else it.error for it in each]),
    )


def _capture(names: Sequence[str], each: Sequence[CaptureState | None]) -> CaptureState | None:
    known = [it for it in each if it is not None]
    if not known:
        return None
    return CaptureState(
        packets=sum(it.packets for it in known),
        left_out_packets=sum(it.left_out_packets for it in known),
        error=_first_error(names, [None if it is None else it.error for it in each]),
    )


def _first_error(names: Sequence[str], errors: Sequence[str | None]) -> str | None:
    named = (f"{name}: {error}" for name, error in zip(names, errors, strict=True) if error is not None)
    return next(named, None)
