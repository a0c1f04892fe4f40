"""Captures of several machines become one file on one clock; another file is refused."""

from __future__ import annotations

import struct
from pathlib import Path

import pytest

from crosswind.results.measurement import SAME_CLOCK, ClockLine
from crosswind.testbed import TestbedError
from crosswind.testbed.captures import BLOCK_BYTES_MAX, CapturePart, merge_captures

SECTION, INTERFACE, STATISTICS, PACKET = 0x0A0D0D0A, 1, 5, 6
# The other machine has been up for 1000 s longer, and its clock gains 10 us a second.
SHIFT_NS = 1_000_000_000_000
OTHER = ClockLine(here_ns=0, there_ns=SHIFT_NS, gained_ns=10_000, over_ns=1_000_000_000, bound_ns=2_500)
REALTIME_NS = 1_790_000_000_000_000_000
Block = tuple[int, bytes]


def block(kind: int, body: bytes) -> bytes:
    length = struct.pack("<I", len(body) + 12)
    return struct.pack("<I", kind) + length + body + length


def stamp(at_ns: int) -> bytes:
    return struct.pack("<II", at_ns >> 32, at_ns & 0xFFFFFFFF)


def head(names: tuple[str, ...] = ("a sends", "b sends")) -> bytes:
    section = block(SECTION, struct.pack("<IHHqI", 0x1A2B3C4D, 1, 0, -1, 0))
    return section + b"".join(block(INTERFACE, name.encode().ljust(20)) for name in names)


def packet(interface: int, at_ns: int, frame: bytes = b"four") -> bytes:
    numbers = struct.pack("<II", len(frame), len(frame))
    return block(PACKET, struct.pack("<I", interface) + stamp(at_ns) + numbers + frame + bytes(4))


def statistics(interface: int, at_ns: int, received: int, left_out: int) -> bytes:
    options = struct.pack("<HHQHHQI", 4, 8, received, 5, 8, left_out, 0)
    return block(STATISTICS, struct.pack("<I", interface) + stamp(at_ns) + options)


def blocks(content: bytes) -> list[Block]:
    found, at = [], 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        assert struct.unpack_from("<I", content, at + length - 4) == (length,)
        found.append((kind, content[at + 8 : at + length - 4]))
        at += length
    return found


def merged(folder: Path, first: bytes, second: bytes) -> bytes:
    paths = folder / "m0", folder / "m1"
    for path, content in zip(paths, (first, second), strict=True):
        path.write_bytes(content)
    parts = [CapturePart("m0", paths[0], SAME_CLOCK), CapturePart("m1", paths[1], OTHER)]
    merge_captures(parts, folder / "merged", REALTIME_NS)
    return (folder / "merged").read_bytes()


def test_packets_of_all_machines_are_in_order_on_the_clock_of_the_first(tmp_path: Path) -> None:
    first = head() + packet(0, 1_000_000_000, b"send") + packet(1, 3_000_000_000) + statistics(0, 4, 2, 1)
    # Two seconds after the comparison its clock has gained 20 us.
    second = head() + packet(1, SHIFT_NS + 2_000_020_000, b"came") + statistics(0, SHIFT_NS + 9, 5, 0)
    section, a, b, *rest = blocks(merged(tmp_path, first, second))
    assert b"Instants are on the clock of m0: those of m1 within 2.5 us." in section[1]
    assert [kind for kind, _ in (a, b)] == [INTERFACE] * 2
    packets = [body for kind, body in rest if kind == PACKET]
    assert [body[20:24] for body in packets] == [b"send", b"came", b"four"]
    stamps = [struct.unpack_from("<II", body, 4) for body in packets]
    assert [(high << 32 | low) - REALTIME_NS for high, low in stamps] == [10**9, 2 * 10**9, 3 * 10**9]
    counted = [struct.unpack_from("<HHQHHQ", body, 12) for kind, body in rest if kind == STATISTICS]
    assert counted == [(4, 8, 7, 5, 8, 1), (4, 8, 0, 5, 8, 0)]


@pytest.mark.parametrize(
    ("content", "what"),
    [
        (b"", "does not begin as one"),
        (b"\x7fELF\0\0\0\0" * 9, "has a block of 0 bytes"),
        (head()[:-3], "is cut off or damaged"),
        (head(("a sends", "c sends")), "describes other interfaces"),
        (head() + packet(2, 1), "has a stamp or an interface that it cannot have (2)"),
        (head() + packet(0, 1)[:-4] + bytes(4), "is cut off or damaged"),
        (head() + block(PACKET, bytes(BLOCK_BYTES_MAX)), f"has a block of {BLOCK_BYTES_MAX + 12} bytes"),
        (head() + block(9, bytes(40)), "has a block of kind 9"),
        (head() + statistics(7, 1, 1, 1), "cannot have (7)"),
    ],
)
def test_a_file_that_is_no_capture_of_the_network_is_refused(
    tmp_path: Path, content: bytes, what: str
) -> None:
    with pytest.raises(TestbedError) as refused:
        merged(tmp_path, head() + packet(0, 1), content)
    assert str(refused.value).startswith("machine m1: its capture ")
    assert what in str(refused.value)
