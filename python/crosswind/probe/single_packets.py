"""Single UDP packets between the two ends of a pair, with the times of sending and arrival."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosswind.probe.pairs import Task, over_bare, over_fabric
from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.testbed import find_binary
from crosswind.testbed.binaries import LOAD

# The smallest Ethernet frame: 14 Ethernet, 20 IP, 8 UDP, 18 payload, 4 check sum.
PAYLOAD_BYTES = 18
HEADER_BYTES = 28
_WHERE = "10.77.0.2:5002"
# The file of the receiver, in the folder of its task.
FILE = "probe.csv"


@dataclass(frozen=True)
class Probes:
    """Packets in the order of their arrival; each array has shape (arrived,).

    Attributes:
        sent: number of packets sent.
        sequence: from 0.
        planned_ns, sent_ns, received_ns: CLOCK_REALTIME; the last is the kernel's timestamp.
    """

    sent: int
    sequence: NDArray[np.int64]
    planned_ns: NDArray[np.int64]
    sent_ns: NDArray[np.int64]
    received_ns: NDArray[np.int64]

    @property
    def delay_ns(self) -> NDArray[np.int64]:
        """One-way delays."""
        return self.received_ns - self.sent_ns

    @property
    def lost(self) -> int:
        """Packets that never arrived."""
        return self.sent - len(np.unique(self.sequence))

    @property
    def overtaken(self) -> int:
        """Packets that arrived after one that was sent later."""
        return int(np.sum(self.sequence < np.maximum.accumulate(self.sequence)))


def probe_task(
    rate_per_s: float,
    count: int,
    payload_bytes: int = PAYLOAD_BYTES,
    *,
    gaps: str = "even",
    where: str = _WHERE,
    file: str = FILE,
) -> Task:
    """Return the commands that send packets and record their arrival.

    Args:
        gaps: `even` (about) or `exponential`.
        where: address and port of the receiver.
        file: the file of the receiver, in the folder of the task.
    """
    load = str(find_binary(LOAD))
    send = ["--rate", f"{rate_per_s:g}", "--count", str(count), "--payload-bytes", str(payload_bytes)]
    receive = ["--listen", where, "--count", str(count)]
    return Task(
        receive=lambda folder: [load, "probe-receive", *receive, "--out", str(folder / file)],
        send=lambda folder: [load, "probe-send", "--to", where, "--gaps", gaps, *send],
    )


def probe_bare(rate_per_s: float, count: int) -> Probes:
    """Send packets over a bare veth pair."""
    return over_bare(probe_task(rate_per_s, count), lambda folder: read_probes(folder / FILE, count))


def probe_fabric(
    spec: FabricSpec,
    rate_per_s: float,
    count: int,
    payload_bytes: int = PAYLOAD_BYTES,
    *,
    gaps: str = "even",
) -> tuple[Probes, Measurement]:
    """Send packets through a fabric; return those that arrived, and the measurement."""
    return over_fabric(
        probe_task(rate_per_s, count, payload_bytes, gaps=gaps),
        lambda folder: read_probes(folder / FILE, count),
        spec,
    )


def read_probes(file: Path, sent: int) -> Probes:
    """Return the packets that `crosswind-load probe-receive` has written."""
    rows = np.loadtxt(file, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
    return Probes(sent, *rows.reshape(-1, 4).T)
