"""Sizes and instants from captures, and what a replay makes of them."""

from __future__ import annotations

import re
import struct
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.spec.capture_file import CapturedPacket, CaptureError, read_capture
from crosswind.spec.interference import ReplayedCapture
from crosswind.spec.link_types import LINK_TYPES
from crosswind.spec.replay import replayed

CORPUS = sorted((Path(__file__).parent / "captures").iterdir())


def ipv4(length: int) -> bytes:
    """Return the first bytes of an IPv4 packet of this total length."""
    return bytes([0x45, 0]) + length.to_bytes(2) + bytes(16)


def ethernet(ip: bytes, tags: int = 0) -> bytes:
    kind = "86dd" if ip[0] >> 4 == 6 else "0800"
    return bytes(12) + bytes.fromhex("81000001") * tags + bytes.fromhex(kind) + ip


def pcap(
    packets: list[tuple[int, int, bytes]], link: int = 1, order: str = "<", nanos: bool = False
) -> bytes:
    """Return a capture of (seconds, ticks, frame); frames are cut to 34 bytes as `tcpdump -s 34` does."""
    magic = 0xA1B23C4D if nanos else 0xA1B2C3D4
    content = struct.pack(order + "IHHiIII", magic, 2, 4, 0, 0, 34, link)
    for seconds, ticks, frame in packets:
        content += struct.pack(order + "IIII", seconds, ticks, len(frame[:34]), len(frame)) + frame[:34]
    return content


def block(kind: int, body: bytes, order: str = "<") -> bytes:
    length = 12 + len(body)
    return struct.pack(order + "II", kind, length) + body + struct.pack(order + "I", length)


def pcapng(
    stamps: list[int], order: str = "<", tsresol: int | None = 9, links: tuple[int, ...] = (1,)
) -> bytes:
    """Return a capture of Ethernet frames of 1000 IP bytes at these stamps, on the first interface."""
    content = block(0x0A0D0D0A, struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1), order)
    option = b"" if tsresol is None else struct.pack(order + "HHBxxx", 9, 1, tsresol)
    for link in links:
        content += block(1, struct.pack(order + "HHI", link, 0, 0) + option, order)
    frame = ethernet(ipv4(1000))
    for stamp in stamps:
        numbers = struct.pack(order + "IIIII", 0, stamp >> 32, stamp & 0xFFFFFFFF, len(frame), 1014)
        content += block(6, numbers + frame + bytes(-len(frame) % 4), order)
    return content


@pytest.mark.parametrize("order", ["<", ">"])
def test_pcap_is_read_in_either_byte_order_and_both_resolutions(order: str) -> None:
    packets = [(5, 1, ethernet(ipv4(60))), (6, 250, ethernet(ipv4(1500)) + bytes(1480))]
    micros = [CapturedPacket(5_000_001_000, 60), CapturedPacket(6_000_250_000, 1500)]
    assert read_capture(pcap(packets, order=order)) == micros
    nanos = [CapturedPacket(5_000_000_001, 60), CapturedPacket(6_000_000_250, 1500)]
    assert read_capture(pcap(packets, order=order, nanos=True)) == nanos


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize(("tsresol", "tick_ns"), [(9, 1), (6, 1000), (None, 1000), (3, 10**6)])
def test_pcapng_is_read_with_any_resolution(order: str, tsresol: int | None, tick_ns: int) -> None:
    stamps = [7, 2**33 + 5]
    found = read_capture(pcapng(stamps, order, tsresol))
    assert found == [CapturedPacket(stamp * tick_ns, 1000) for stamp in stamps]


@pytest.mark.parametrize(
    ("link", "frame", "ip_bytes"),
    [
        (1, ethernet(ipv4(700), tags=2), 700),
        (1, ethernet(bytes([0x60, 0, 0, 0, 1, 0]) + bytes(34)), 40 + 256),
        # ARP, padded to the shortest frame: what is behind the Ethernet header.
        (1, bytes(12) + bytes.fromhex("0806") + bytes(46), 46),
        # Spanning tree, whose first byte behind Ethernet's header looks like a version 4.
        (1, bytes(12) + bytes.fromhex("0026424203000002") + bytes(40), 46),
        (1, bytes(12) + bytes.fromhex("88a8000181000002") + bytes.fromhex("0800") + ipv4(701), 701),
        # A super-packet whose length the kernel left open.
        (1, ethernet(ipv4(0)) + bytes(9000), 9020),
        (101, ipv4(333), 333),
        (12, ipv4(334), 334),
        (14, ipv4(335), 335),
        (228, ipv4(336), 336),
        (229, bytes([0x60, 0, 0, 0, 1, 0]) + bytes(34), 40 + 256),
        (113, bytes(14) + bytes.fromhex("0800") + ipv4(444), 444),
        (276, bytes.fromhex("0800") + bytes(18) + ipv4(555), 555),
        (0, bytes(4) + ipv4(666), 666),
        (108, bytes(4) + ipv4(667), 667),
        (9, bytes.fromhex("ff030021") + ipv4(777), 777),
        (9, bytes.fromhex("0057") + bytes([0x60, 0, 0, 0, 1, 0]) + bytes(34), 40 + 256),
        # A link control packet of PPP.
        (50, bytes.fromhex("ff03c021") + bytes(40), 40),
        (104, bytes.fromhex("0f000800") + ipv4(778), 778),
        # Four bytes of checksum behind every frame.
        (0x4400_0001, ethernet(ipv4(779)), 779),
    ],
)
def test_sizes_are_those_of_ip_on_every_link(link: int, frame: bytes, ip_bytes: int) -> None:
    assert read_capture(pcap([(0, 0, frame)], link)) == [CapturedPacket(0, ip_bytes)]


def test_an_interface_without_a_packet_may_be_of_any_link() -> None:
    assert len(read_capture(pcapng([1, 2], links=(1, 187)))) == 2


@pytest.mark.parametrize("order", ["<", ">"])
def test_obsolete_packet_blocks_are_packets(order: str) -> None:
    frame = ethernet(ipv4(1000))
    numbers = struct.pack(order + "HHIIII", 0, 7, 0, 5, len(frame), 1014)
    content = pcapng([], order) + block(2, numbers + frame + bytes(-len(frame) % 4), order)
    assert read_capture(content) == [CapturedPacket(5, 1000)]


def test_both_languages_have_one_table_of_link_types() -> None:
    rust = (Path(__file__).parents[2] / "crates/wire/src/capture_file/link.rs").read_text()
    rows = re.findall(
        r'^    \((\d+), "(\w+)", (?:None|Some\(Link::(\w+)\W+(?:bytes: )?(\d+))', rust, re.MULTILINE
    )
    listed = {
        number: (name, *((type(link).__name__, link.header_bytes) if link else ("", 0)))
        for number, (name, link) in LINK_TYPES.items()
    }
    assert {int(number): (name, kind, int(size or 0)) for number, name, kind, size in rows} == listed


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "neither pcap nor pcapng"),
        (b"time,rate\n1,2\n", "neither pcap nor pcapng"),
        (pcap([]), "has no packet"),
        (pcap([(0, 0, ethernet(ipv4(60)))])[:-1], "ends inside packet 1"),
        (
            pcap([], link=127),
            r"^has link type 127 \(IEEE802_11_RADIOTAP\), which is not supported; capture on",
        ),
        (pcap([], link=65_000), r"has link type 65000 \(unknown\)"),
        (pcapng([1], links=(187,)), r"^packet 1 has link type 187 \(BLUETOOTH_HCI_H4\).*frame.interface_id"),
        (pcap([(2, 0, b""), (1, 0, b"")]), "packet 2 is earlier"),
        (pcapng([1])[:-5], "truncated"),
        (pcapng([1, 2**63]), "packet 2 has an impossible timestamp, 9223372036 s"),
        (pcapng([])[:28] + block(6, bytes(20)), "interface 0, which the file does not describe"),
        (pcapng([], tsresol=0xFF), "in units of"),
        (pcapng([])[:28] + block(3, bytes(20)), "without a timestamp"),
        (pcapng([])[:28] + struct.pack("<II", 1, 0), "impossible length, 0"),
        (block(0x0A0D0D0A, bytes(16)), "no byte order"),
    ],
)
def test_what_cannot_be_replayed_is_refused_with_its_place(content: bytes, message: str) -> None:
    with pytest.raises(CaptureError, match=message):
        read_capture(content)


@pytest.mark.parametrize("file", CORPUS, ids=lambda file: file.name)
@given(data=st.data())
def test_damaged_captures_are_read_or_refused(file: Path, data: st.DataObject) -> None:
    content = bytearray(file.read_bytes())
    for _ in range(data.draw(st.integers(1, 8))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    cut = data.draw(st.integers(0, len(content)))
    try:
        packets = read_capture(bytes(content[:cut]))
    except CaptureError:
        return
    assert all(packet.ip_bytes >= 1 and packet.at_ns >= 0 for packet in packets)


def test_a_replay_has_gaps_and_sizes_and_one_mean_gap_between_rounds(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    frame = ethernet(ipv4(100))
    file.write_bytes(pcap([(9, 0, frame), (9, 10, frame), (9, 40, ethernet(ipv4(3100)))]))
    # 40 us in two gaps: 20 us on average. 3100 bytes are 1500, 1500 and 100.
    found = replayed(ReplayedCapture(file=str(file)), mtu_bytes=1500, scale=1)
    assert found.as_json() == {
        "packets": [[20_000, 100], [10_000, 100], [30_000, 1500], [0, 1500], [0, 100]],
        "repeat": True,
    }
    once = replayed(ReplayedCapture(file=str(file), repeat=False), mtu_bytes=1500, scale=0.1)
    assert [gap_ns for gap_ns, _ in once.packets] == [0, 100_000, 300_000, 0, 0]


def test_one_instant_cannot_repeat(tmp_path: Path) -> None:
    file = tmp_path / "x.pcap"
    file.write_bytes(pcap([(9, 0, ethernet(ipv4(100)))]))
    with pytest.raises(CaptureError, match=r"x\.pcap: all its packets have the same time"):
        replayed(ReplayedCapture(file=str(file)), mtu_bytes=1500, scale=1)
