"""What the agent answers (docs/reference/contracts.md, section 2), and its measurement (section 3)."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, ConfigDict, Field

from crosswind.results.measurement import CaptureState, RecordingState
from crosswind.results.measurement.clock import ClockEstimate
from crosswind.spec.resolved import PerceivedTime


class Reply(BaseModel):
    """The `ok` part of a reply; one without attributes says only that a request was carried out."""

    model_config = ConfigDict(strict=True, frozen=True)


class Hello(Reply):
    """What the agent reports about itself and the machine."""

    protocol: int
    version: str
    rootless: bool
    kernel: str
    application_uid: int
    application_gid: int


class Node(Reply):
    """A node as the agent made it; `pid` is its init process as seen by this process."""

    name: str
    host: str
    address: str
    pid: int


class Switch(Reply):
    """The init in which the programs run that carry a fabric without the emulator."""

    name: str
    pid: int


class Struck(Reply):
    """When the last process of some nodes was stopped, went on, or was killed."""

    done_ns: int


class Up(Reply):
    """A fabric that came up; `domains` is how many threads of the emulator carry it.

    Attributes:
        switch: where there is no emulator.
        dilation: None where time in the nodes is real time.
    """

    nodes: list[Node] = Field(default_factory=list)
    wait_mode: str = ""
    domains: int = 0
    switch: Switch | None = None
    dilation: PerceivedTime | None = None


class Bound(Reply):
    """A socket to other machines is open at this address, as IP:PORT, or that of an Ethernet interface.

    Attributes:
        interface, mtu_bytes: of Ethernet; None over UDP.
    """

    address: str
    interface: str | None = None
    mtu_bytes: int | None = None


class MetPeer(Reply):
    """What came from another machine while machines met.

    Attributes:
        longest_datagram: bytes of the longest that came.
        largest_size: that datagrams may have; some had it.
        round_trip_ns: the shortest; None where not both ways carry datagrams.
    """

    domain: int
    received_datagrams: int
    longest_datagram: int
    largest_size: int
    round_trip_ns: int | None


class Meeting(Reply):
    """What came from all others."""

    peers: list[MetPeer]


class PeerClock(ClockEstimate):
    """The clock of another machine, by the number of its domain."""

    domain: int


class Clocks(Reply):
    """The clocks of other machines against the own one, which shows `now_ns`."""

    now_ns: int
    peers: list[PeerClock] = Field(default_factory=list)


class Listener(Reply):
    """A socket that listens, at `address` or, where that is 0.0.0.0 or ::, everywhere."""

    protocol: Literal["tcp", "udp"]
    address: str = Field(max_length=45)
    port: int = Field(ge=0, le=65535)


class Listening(Reply):
    """The sockets of a node that listen, of every address and protocol."""

    sockets: list[Listener]


class WallClock(Reply):
    """The wall clock of a machine: it shows `wall_ns` when CLOCK_MONOTONIC shows `now_ns`."""

    now_ns: int
    wall_ns: int


class Started(Reply):
    """A process that was started; `process` is the agent's number for it."""

    process: int


class Stopped(Reply):
    """How a process ended."""

    code: int | None
    signal: int | None


class Changed(Reply):
    """A condition that was set; it holds from this instant, in ns of CLOCK_MONOTONIC."""

    effective_ns: int


class Measuring(Reply):
    """A measurement window that began at this instant, in ns of CLOCK_MONOTONIC."""

    started_ns: int


class FolderMade(Reply):
    """The folder of a run on a machine; where it was there already, the machine has the caller's files."""

    made: bool


class PieceRead(Reply):
    """A piece of a file, in base64, and the file's size; None where there is no such file."""

    bytes: str
    # Above, no file system here could hold the file, even one with a hole.
    size_bytes: int | None = Field(ge=0, lt=1 << 43)


class ChecksumRead(Reply):
    """The SHA-256 of a file, in hexadecimal; None where there is no such file."""

    sha256: str | None


class Down(Reply):
    """The files of a fabric that was taken down; None where there was none."""

    recording: RecordingState | None = None
    capture: CaptureState | None = None


class Refusal(Reply):
    """Why a request was refused; `kind` is `invalid`, `preflight` or `internal`."""

    kind: str
    message: str


class Message(Reply):
    """A line of the agent: a reply has an `id`, an event a name.

    Attributes:
        ok: the answer to a request, in the form that the request has.
        event: `exited`, of a process, or `fault`, of the emulator.
        message: of a fault.
    """

    id: int | None = None
    ok: object = None
    error: Refusal | None = None
    event: str | None = None
    process: int | None = None
    code: int | None = None
    signal: int | None = None
    message: str = ""
