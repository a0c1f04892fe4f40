"""Captures of several machines as one pcapng file, on one clock.

Every machine describes the same interfaces, in the same order: three of each node. So packets keep the number
of their interface, and only their stamps change: a machine stamps with its monotonic clock (contracts.md,
section 12). How wrong a stamp can be stands in the comment of the file, which Wireshark shows under Capture
File Properties.

A machine may lie: a file that is no such capture is refused.
"""

from __future__ import annotations

import heapq
import struct
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO

from crosswind.results.measurement.clock import ClockLine
from crosswind.testbed.errors import TestbedError

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
# A packet of 64 KiB with a comment; more is no capture of an agent.
BLOCK_BYTES_MAX = 1 << 17
_OPT_COMMENT, _SHB_USERAPPL, _RECEIVED, _LEFT_OUT = 1, 4, 4, 5
_STATISTICS = struct.Struct("<IIIHHQHHQ")


@dataclass(frozen=True)
class CapturePart:
    """The capture of one machine, and its clock against that of the first one."""

    machine: str
    path: Path
    clock: ClockLine


def merge_captures(parts: Sequence[CapturePart], to: Path, realtime_minus_monotonic_ns: int) -> None:
    """Write the packets of all machines into a new file, in the order of their instants.

    Args:
        parts: of the machines, the one whose clock counts first.
        realtime_minus_monotonic_ns: its clocks.
    Raises: TestbedError: a file is no capture of this network.
    """
    readers = [_Reader(part, realtime_minus_monotonic_ns) for part in parts]
    try:
        first = readers[0]
        for reader in readers[1:]:
            if reader.interfaces != first.interfaces:
                raise reader.refused("describes other interfaces than that of the first machine")
        with to.open("xb") as file:
            file.write(_section(_comment(parts)))
            for interface in first.interfaces:
                file.write(interface)
            for _, packet in heapq.merge(*(reader.packets() for reader in readers), key=lambda it: it[0]):
                file.write(packet)
            for number in range(len(first.interfaces)):
                file.write(_statistics(number, [reader.statistics[number] for reader in readers]))
    finally:
        for reader in readers:
            reader.close()


@dataclass
class _Statistics:
    at_ns: int = 0
    received: int = 0
    left_out: int = 0


class _Reader:
    """The blocks of one machine's capture."""

    def __init__(self, part: CapturePart, realtime_minus_monotonic_ns: int) -> None:
        self._part = part
        self._ahead_ns = realtime_minus_monotonic_ns
        self._file: BinaryIO = part.path.open("rb")
        self._next = self._block()
        if self._next is None or self._next[0] != SECTION:
            raise self.refused("does not begin as one")
        self.interfaces: list[bytes] = []
        while (block := self._block()) is not None and block[0] == INTERFACE:
            self.interfaces.append(bytes(block[1]))
        self._next = block
        self.statistics = [_Statistics() for _ in self.interfaces]

    def close(self) -> None:
        self._file.close()

    def packets(self) -> Iterator[tuple[int, bytearray]]:
        """Yield packets with their instants on the first machine's clock, since 1970."""
        block = self._next
        while block is not None:
            kind, content = block
            if kind == PACKET and len(content) >= 32:
                at_ns = self._stamped(content)
                yield at_ns, content
            elif kind == STATISTICS and len(content) >= 8 + _STATISTICS.size:
                self._note(content)
            else:
                raise self.refused(f"has a block of kind {kind} and {len(content)} bytes")
            block = self._block()

    def refused(self, what: str) -> TestbedError:
        return TestbedError(
            f"machine {self._part.machine}: its capture {what}; reinstall so that its agent and this "
            "crosswind come from the same version"
        )

    def _block(self) -> tuple[int, bytearray] | None:
        head = self._file.read(8)
        if not head:
            return None
        if len(head) < 8:
            raise self.refused("is cut off")
        kind, length = struct.unpack("<II", head)
        if length % 4 or not 12 <= length <= BLOCK_BYTES_MAX:
            raise self.refused(f"has a block of {length} bytes")
        content = bytearray(head + self._file.read(length - 8))
        if len(content) < length or content[-4:] != head[4:]:
            raise self.refused("is cut off or damaged")
        return kind, content

    def _stamped(self, packet: bytearray) -> int:
        """Give a packet its instant on the first machine's clock, and return it."""
        number, high, low = struct.unpack_from("<III", packet, 8)
        at_ns = self._here(number, high, low)
        struct.pack_into("<II", packet, 12, at_ns >> 32, at_ns & 0xFFFFFFFF)
        return at_ns

    def _note(self, block: bytearray) -> None:
        number, high, low, first, _, received, second, _, left_out = _STATISTICS.unpack_from(block, 8)
        if (first, second) != (_RECEIVED, _LEFT_OUT):
            raise self.refused("has other statistics than an agent writes")
        at_ns = self._here(number, high, low)
        self.statistics[number] = _Statistics(at_ns, received, left_out)

    def _here(self, interface: int, high: int, low: int) -> int:
        at_ns = self._part.clock.here(high << 32 | low) + self._ahead_ns
        if interface >= len(self.interfaces) or not 0 <= at_ns < 1 << 64:
            raise self.refused(f"has a stamp or an interface that it cannot have ({interface})")
        return at_ns


def _comment(parts: Sequence[CapturePart]) -> str:
    first, *others = parts
    bounds = "; ".join(f"those of {it.machine} within {it.clock.bound_ns / 1000:.1f} us" for it in others)
    return f"Instants are on the clock of {first.machine}: {bounds}."


def _section(comment: str) -> bytes:
    body = struct.pack("<IHHq", 0x1A2B3C4D, 1, 0, -1)
    body += _option(_OPT_COMMENT, comment.encode()) + _option(_SHB_USERAPPL, b"crosswind")
    return _framed(SECTION, body + bytes(4))


def _statistics(interface: int, each: Sequence[_Statistics]) -> bytes:
    at_ns = max(it.at_ns for it in each)
    received, left_out = _sum(it.received for it in each), _sum(it.left_out for it in each)
    stamp = at_ns >> 32, at_ns & 0xFFFFFFFF
    body = _STATISTICS.pack(interface, *stamp, _RECEIVED, 8, received, _LEFT_OUT, 8, left_out)
    return _framed(STATISTICS, body + bytes(4))


def _sum(counts: Iterable[int]) -> int:
    return min(sum(counts), (1 << 64) - 1)


def _option(code: int, value: bytes) -> bytes:
    # Its length has 16 bits; thousands of machines have a longer comment.
    kept = value[:65_532]
    return struct.pack("<HH", code, len(kept)) + kept + bytes(-len(kept) % 4)


def _framed(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length
