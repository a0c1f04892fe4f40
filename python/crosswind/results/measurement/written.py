"""Files that the agent writes during a trial, besides logs."""

from __future__ import annotations

from crosswind.results.part import StoredPart


class RecordingState(StoredPart):
    """A recording of everything that the engine did.

    Attributes:
        records: in the file, once it is complete.
        lost_records: with any, it cannot be replayed.
        error: of the system, where it gave one.
    """

    records: int = 0
    lost_records: int = 0
    error: str | None = None


class CaptureState(StoredPart):
    """A capture of packets.

    Attributes:
        packets: in the file, once it is complete.
        left_out_packets: not in the file: it was full, or the disk was too slow.
        error: of the system, where it gave one.
    """

    packets: int = 0
    left_out_packets: int = 0
    error: str | None = None
