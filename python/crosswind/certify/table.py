"""Send a table of packets through a fabric in virtual time, with the same engine as the emulator."""

from __future__ import annotations

import json
import subprocess
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from crosswind.spec import FabricSpec
from crosswind.testbed import TestbedError, find_binary
from crosswind.testbed.binaries import SIMULATE

# A million packets take about two seconds.
_PATIENCE_S = 120.0


@dataclass(frozen=True)
class Packets:
    """Packets in the order of their instants; each array has shape (n,).

    Attributes:
        at_ns: when each is sent.
        source, destination: positions in the fabric's nodes.
        ip_bytes: sizes, IP header included.
        dscp: code points.
    """

    at_ns: NDArray[np.int64]
    source: NDArray[np.int64]
    destination: NDArray[np.int64]
    ip_bytes: NDArray[np.int64]
    dscp: NDArray[np.int64]

    @classmethod
    def of(
        cls,
        at_ns: ArrayLike,
        ip_bytes: ArrayLike = 1500,
        *,
        dscp: ArrayLike = 0,
        source: ArrayLike = 0,
        destination: ArrayLike = 1,
    ) -> Packets:
        """Return packets, sorted by their instants; a single value applies to all packets."""
        at, *rest = np.broadcast_arrays(
            *(np.asarray(column, dtype=np.int64) for column in (at_ns, source, destination, ip_bytes, dscp))
        )
        order = np.argsort(at, kind="stable")
        return cls(at[order], *(column[order] for column in rest))

    def __len__(self) -> int:
        return len(self.at_ns)


@dataclass(frozen=True)
class Fates:
    """What happened to packets, in the order in which it happened; each array has shape (outcomes,).

    Attributes:
        sent: the packets.
        packet: positions in `sent`.
        at_ns: when it happened.
        fate: `departed`, the reason of a drop, or `duplicated` where a packet became two.
    """

    sent: Packets
    packet: NDArray[np.int64]
    at_ns: NDArray[np.int64]
    fate: NDArray[np.str_]

    @cached_property
    def departed_ns(self) -> NDArray[np.float64]:
        """When each sent packet first departed; inf where it never did."""
        departed = self.fate == "departed"
        at = np.full(len(self.sent), np.inf)
        # Written backwards, so that the first departure of a duplicated packet overwrites the second.
        at[self.packet[departed][::-1]] = self.at_ns[departed][::-1]
        return at

    @property
    def unaccounted(self) -> int:
        """Sent packets whose number of ends is not 1 plus the number of their duplications."""
        doubled = self.fate == "duplicated"
        copies = np.bincount(self.packet[doubled], minlength=len(self.sent))
        ends = np.bincount(self.packet[~doubled], minlength=len(self.sent))
        return int(np.sum(ends != 1 + copies))

    @property
    def overtaken(self) -> int:
        """Packets that departed after a later packet of their own flow (sender, receiver, DSCP)."""
        departed = self.packet[self.fate == "departed"]
        flow = (self.sent.source * 65_536 + self.sent.destination) * 64 + self.sent.dscp
        count = 0
        for number in np.unique(flow):
            order = departed[flow[departed] == number]
            count += int(np.sum(order < np.maximum.accumulate(order)))
        return count


def play(fabric: FabricSpec, packets: Packets) -> Fates:
    """Return what happens to packets in a fabric; instant 0 is the start of its condition.

    Raises: TestbedError: the fabric or a packet was refused; the message has the line.
    """
    table = np.column_stack(
        (packets.at_ns, packets.source, packets.destination, packets.ip_bytes, packets.dscp)
    )
    lines = [json.dumps(fabric.as_json(), separators=(",", ":"))]
    lines += [",".join(map(str, row)) for row in table.tolist()]
    done = subprocess.run(
        [str(find_binary(SIMULATE)), "table"],
        input="\n".join(lines) + "\n",
        capture_output=True,
        text=True,
        timeout=_PATIENCE_S,
        check=False,
    )
    if done.returncode != 0:
        raise TestbedError(f"{SIMULATE} table: {done.stderr.strip()}")
    rows = [line.split(",") for line in done.stdout.splitlines()[1:]]
    return Fates(
        packets,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.str_),
    )
