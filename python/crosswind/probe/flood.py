"""More packets than a path can carry; their times at the receiver show the path's rate and bursts."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from crosswind.probe.bare import BarePair
from crosswind.probe.pairs import Task, over_bare, over_fabric
from crosswind.results import Measurement
from crosswind.spec import FabricSpec
from crosswind.testbed import find_binary
from crosswind.testbed.binaries import LOAD

IP_BYTES = 1500
WIRE_BYTES = 1538
HEADER_BYTES = 28
# Longer than any gap while the path still holds packets: at 1 Mbit/s they are 12 ms apart.
SILENCE_S = 0.25
# Each system call sends the packets of this time. Longer, they come in bursts; shorter, the sender is too
# slow.
_CALL_S = 50e-6
_TRAIN_MAX = 44  # 44 x 1472 bytes are the most that one call can send.
_WHERE = "10.77.0.2:5003"
# The file of the receiver, in the folder of its task.
FILE = "flood.csv"


@dataclass(frozen=True)
class Flood:
    """The packets that arrived, by system call of the receiver; each array has shape (calls,).

    Attributes:
        received_ns: CLOCK_REALTIME.
        packets, ip_bytes: of each call.
        offered_s: how long the sender sent.
    """

    received_ns: NDArray[np.int64]
    packets: NDArray[np.int64]
    ip_bytes: NDArray[np.int64]
    offered_s: float

    @property
    def span_s(self) -> float:
        """Time from the first arrival to the last."""
        return float(self.received_ns[-1] - self.received_ns[0]) / 1e9

    def packet_rate(self) -> float:
        """Return packets per second: the median over all windows of half the time after the first fifth.

        In the first fifth, trains are sent first, and buckets spend their burst. The median does not change
        with a single packet that was late because of a stall of the machine.
        """
        begin = int(np.searchsorted(self.received_ns, self.received_ns[0] + self.span_s * 2e8))
        received_ns, arrived = self.received_ns[begin:], np.cumsum(self.packets[begin:])
        half = len(received_ns) // 2
        if not half:
            return 0.0
        took_s = (received_ns[half:] - received_ns[:-half]) / 1e9
        return float(np.median((arrived[half:] - arrived[:-half])[took_s > 0] / took_s[took_s > 0]))


def flood_fabric(
    spec: FabricSpec, ip_rate_bps: float, duration_s: float, record: Path | None = None
) -> tuple[Flood, Measurement]:
    """Send IP packets of 1500 bytes through a fabric; return those that arrived, and the measurement.

    Args:
        record: a new file for a recording of the emulator's decisions.
    """
    task = flood_task(ip_rate_bps, duration_s)
    return over_fabric(task, lambda folder: read_flood(folder, duration_s), spec, record)


def flood_bare(
    ip_rate_bps: float, duration_s: float, prepare: Callable[[BarePair], None] = lambda _: None
) -> Flood:
    """Send the same packets over a bare veth pair, after `prepare` has changed the pair."""
    task = flood_task(ip_rate_bps, duration_s)
    return over_bare(task, lambda folder: read_flood(folder, duration_s), prepare)


def paced_bare(ip_rate_bps: float, duration_s: float, train: int) -> Flood:
    """Send `train` packets a call over a bare veth pair, each call when it is due."""
    task = flood_task(ip_rate_bps, duration_s, train)
    return over_bare(task, lambda folder: read_flood(folder, duration_s))


def flood_task(
    ip_rate_bps: float,
    duration_s: float,
    train: int | None = None,
    where: str = _WHERE,
    ip_bytes: int = IP_BYTES,
) -> Task:
    """Return the commands that send IP packets of one size and record their arrival.

    Args:
        train: packets that are sent in one call; chosen by the rate when absent.
        where: address and port of the receiver.
        ip_bytes: of a packet, up to 1500.
    """
    load = str(find_binary(LOAD))
    train = train or min(_TRAIN_MAX, max(1, round(ip_rate_bps * _CALL_S / (8 * ip_bytes))))
    send = [
        *("--to", where, "--rate-bps", f"{ip_rate_bps:.0f}", "--payload-bytes", str(ip_bytes - HEADER_BYTES)),
        *("--train", str(train), "--duration", f"{duration_s:g}"),
    ]
    receive = ["--listen", where, "--silence", str(SILENCE_S)]
    return Task(
        receive=lambda folder: [load, "flood-receive", *receive, "--out", str(folder / FILE)],
        send=lambda folder: [load, "flood-send", *send],
    )


def read_flood(folder: Path, duration_s: float) -> Flood:
    """Return the flood that a receiver has written into the folder of its task."""
    rows = np.loadtxt(folder / FILE, delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
    # Two CPUs may queue packets in another order than that of their timestamps.
    rows = rows.reshape(-1, 3)
    received_ns, payload, segment = rows[np.argsort(rows[:, 0], kind="stable")].T
    packets = -(-payload // segment)
    return Flood(received_ns, packets, payload + packets * HEADER_BYTES, duration_s)
