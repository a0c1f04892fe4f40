"""A backlog at a shaper with RED, built in steps as Linux' sch_red.sh builds it.

A stream that is shaped to 10 Mbit/s passes a second shaper of the same rate, so it holds whatever backlog
there is. Further packets of another sender raise it. Each step depends on the backlog before it, and virtual
time is repeatable, so a step plays everything again with its packets added.

Source: Linux, tools/testing/selftests/net/forwarding/sch_red.sh.
"""

from __future__ import annotations

import numpy as np

from crosswind.certify.table import Fates, Packets, play
from crosswind.spec import FabricSpec
from crosswind.spec.resolved import Parameters
from crosswind.testbed.plain import plain_fabric

RATE_BPS = 10_000_000
BURST_BYTES = 10_240
BUFFER_BYTES = 1_048_576
LIMIT_BYTES = 30_000
# 1400 bytes after the headers of IP and TCP.
IP_BYTES, PAYLOAD_BYTES = 1440, 1400
# `burst 38 avpkt 1400 min 30000` is a weight of 2^-5 by tc's rule: the least shift with
# burst + 1 - min / avpkt <= (1 - (1 - W)^burst) / W.
WEIGHT_PPB = 1_000_000_000 // 32
ATTEMPTS = 11
STEP_NS = 1_000_000_000


class Backlog:
    """The backlog after each step; the stream begins at 0, the first step a second later."""

    limit_bytes = LIMIT_BYTES

    def __init__(self) -> None:
        self.now_ns = STEP_NS
        self._sent: list[tuple[int, int]] = []  # Instant and number of packets.

    def build(self, size_bytes: int) -> bool:
        """Send until the backlog has this size, a step a second; return whether it ever had."""
        for _ in range(ATTEMPTS):
            short = size_bytes - self.backlog_bytes()
            if short <= 0:
                return True
            self.send(-(-short // PAYLOAD_BYTES))
            self.wait(STEP_NS)
        return self.backlog_bytes() >= size_bytes

    def send(self, packets: int) -> None:
        """Send packets of the second sender at once."""
        self._sent.append((self.now_ns, packets))

    def wait(self, time_ns: int) -> None:
        """Let time pass."""
        self.now_ns += time_ns

    def backlog_bytes(self) -> int:
        """Return the IP bytes that wait now."""
        packets, fates = self._played()
        arrived = packets.at_ns < self.now_ns
        gone = np.zeros(len(packets), dtype=np.bool_)
        gone[fates.packet[fates.at_ns <= self.now_ns]] = True
        # What waits at the first shaper is no backlog of the second; the stream is no faster than its shaper.
        return int(packets.ip_bytes[arrived & ~gone].sum())

    def offered(self, since_ns: int) -> int:
        """Return how many packets were sent since then."""
        packets, _ = self._played()
        return int(np.sum((packets.at_ns >= since_ns) & (packets.at_ns < self.now_ns)))

    def dropped(self, since_ns: int) -> int:
        """Return how many packets were dropped since then."""
        _, fates = self._played()
        return int(np.sum((fates.fate != "departed") & (fates.at_ns >= since_ns)))

    def _played(self) -> tuple[Packets, Fates]:
        stream = np.arange(0, self.now_ns, IP_BYTES * 8 * 10**9 // RATE_BPS)
        bursts = [np.full(count, at_ns) for at_ns, count in self._sent]
        at_ns = np.concatenate([stream, *bursts])
        source = np.concatenate([np.zeros(len(stream)), np.ones(len(at_ns) - len(stream))])
        packets = Packets.of(at_ns, IP_BYTES, source=source.astype(np.int64), destination=2)
        return packets, play(_fabric(), packets)


def _fabric() -> FabricSpec:
    shaper: Parameters = {"rate_bps": RATE_BPS, "burst_bytes": BURST_BYTES, "buffer_bytes": BUFFER_BYTES}
    red: Parameters = {
        "min_bytes": LIMIT_BYTES,
        "max_bytes": LIMIT_BYTES + 1,
        "probability_ppb": 1_000_000_000,
        "weight_ppb": WEIGHT_PPB,
    }
    return plain_fabric(
        ("n0", "n1", "n2"),
        places={
            "host.egress": [{"shape": {**shaper, "drop": "tail", "on": ["h0"]}}],
            "switch.egress": [{"shape": {**shaper, "drop": {"red": red}, "on": ["h2"]}}],
        },
    )
