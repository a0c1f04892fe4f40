"""Latency and bandwidth against the size of a `write()`.

A network card, above all a cloud's virtual one, may send large writes as large packets, which are fewer and
wait longer (Uta et al. 2020, NSDI, section 3.3). So one connection writes each size continuously, and its
kernel reports the round-trip time. Then each size is sent as single messages that are answered.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from crosswind.analysis.network.transfers import WriteSizePart
from crosswind.fingerprint.measure.bulk import WARM_UP_S, Bulk, bulk
from crosswind.fingerprint.measure.ends import Network
from crosswind.fingerprint.measure.messages import Messages, ask
from crosswind.fingerprint.measure.sent_bytes import SentBytes

SIZES_BYTES = tuple(1024 << shift for shift in range(0, 11, 2))
DURATION_S = 0.5
_SAMPLES_MAX = 100


@dataclass(frozen=True)
class WriteSize:
    """One size of writes, continuous and as messages."""

    write_bytes: int
    stream: Bulk
    messages: Messages

    def part(self) -> WriteSizePart:
        """Return what a fingerprint records."""
        return WriteSizePart(
            write_bytes=self.write_bytes,
            stream=self.stream.part(),
            message_ns=list(self.messages.thinned(most=_SAMPLES_MAX)),
        )


def write_sizes_s(sizes_bytes: Sequence[int]) -> float:
    """Return how long `write_sizes` sends, in total."""
    return len(sizes_bytes) * (WARM_UP_S + 2 * DURATION_S)


def write_sizes(
    network: Network,
    sent: SentBytes,
    sizes_bytes: Sequence[int] = SIZES_BYTES,
    say: Callable[[str], None] = lambda _: None,
) -> Iterator[WriteSize]:
    """Measure each size, and yield it.

    Args:
        say: is called with the name of each measurement.
    """
    for size in sizes_bytes:
        say(f"writes of {size >> 10} KiB")
        sent.expect_seconds(WARM_UP_S + 2 * DURATION_S, f"writes of {size >> 10} KiB")
        with network() as ends:
            stream = bulk(ends, 1, DURATION_S, size)
        sent.count(stream)
        with network() as ends:
            messages = ask(ends, DURATION_S, request_bytes=size)
        sent.add(size * len(messages.round_trip_ns))
        yield WriteSize(size, stream, messages)
