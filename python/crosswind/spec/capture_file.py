"""Read sizes and times of packets from a capture in pcap or pcapng. Pure functions of its bytes.

Supported: pcap with microseconds or nanoseconds in either byte order; pcapng with any number of sections and
interfaces, enhanced and obsolete packet blocks with any resolution of their timestamps. Links: all in
`link_types.py` that carry IP (tags of 802.1Q do not count). A packet's size is taken from its IP header where
the capture has it. Otherwise it is the size on the wire without the link's header, so a capture of only the
first bytes of each packet is enough.

Source: IETF draft-ietf-opsawg-pcap (pcap), draft-ietf-opsawg-pcapng, sections 3 and 4 (pcapng).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import pairwise

from crosswind.spec.link_types import LINK_TYPES, Link, link_text

_PCAP = {
    b"\xd4\xc3\xb2\xa1": ("<", 1000),
    b"\xa1\xb2\xc3\xd4": (">", 1000),
    b"\x4d\x3c\xb2\xa1": ("<", 1),
    b"\xa1\xb2\x3c\x4d": (">", 1),
}
_PCAPNG = b"\x0a\x0d\x0d\x0a"
_INTERFACE, _OBSOLETE, _SIMPLE, _PACKET = 1, 2, 3, 6
_BYTE_ORDER = {b"\x4d\x3c\x2b\x1a": "<", b"\x1a\x2b\x3c\x4d": ">"}
_TSRESOL = 9
# Clocks count nanoseconds in 63 bits, until 2262; a later timestamp is an error.
_AT_NS_MAX = 2**63 - 1
# The upper half of pcap's link type says whether frames end with a checksum, and how long that is.
_LINK_BITS = 0xFFFF


class CaptureError(ValueError):
    """The bytes are not a capture that can be replayed; the message names packet or block, and cause."""


class LinkNotRead(CaptureError):
    """A packet was captured on a link type that is not supported; skipping it would change the result."""


@dataclass(frozen=True)
class CapturedPacket:
    """Time of a packet, in ns since the epoch of the capture, and its IP bytes."""

    at_ns: int
    ip_bytes: int


def read_capture(content: bytes) -> list[CapturedPacket]:
    """Return all packets in the order of the file.

    Raises:
        CaptureError: not a capture, truncated, of an unsupported link, without a packet, or not in order.
    """
    packets = list(packets_of(content))
    for number, (before, after) in enumerate(pairwise(packets), start=2):
        if after.at_ns < before.at_ns:
            raise CaptureError(
                f"packet {number} is earlier than the one before it; sort the file (reordercap)"
            )
    return packets


def is_capture(content: bytes) -> bool:
    """Return whether a file begins as pcap or pcapng does."""
    return content[:4] in _PCAP or content[:4] == _PCAPNG


def packets_of(content: bytes) -> Iterator[CapturedPacket]:
    """Yield all packets in the order of the file, sorted by time or not, up to the first error.

    Raises: CaptureError: not a capture, truncated, of an unsupported link, or without a packet.
    """
    if not is_capture(content):
        raise CaptureError("is neither pcap nor pcapng; capture with tcpdump, dumpcap or Wireshark")
    empty = True
    for packet in _pcap(content) if content[:4] in _PCAP else _pcapng(content):
        empty = False
        yield packet
    if empty:
        raise CaptureError("has no packet")


def _pcap(content: bytes) -> Iterator[CapturedPacket]:
    order, tick_ns = _PCAP[content[:4]]
    link = _link(_unpack(order + "I", content, 20, "its header")[0] & _LINK_BITS)
    offset = 24
    number = 0
    while offset < len(content):
        number += 1
        seconds, ticks, kept, length = _unpack(order + "IIII", content, offset, f"packet {number}")
        data = _slice(content, offset + 16, kept, f"packet {number}")
        yield CapturedPacket(seconds * 10**9 + ticks * tick_ns, _ip_bytes(link, data, length))
        offset += 16 + kept


def _pcapng(content: bytes) -> Iterator[CapturedPacket]:
    order = "<"
    interfaces: list[tuple[int, int]] = []  # Number of the link type, timestamps per second.
    offset = number = 0
    while offset < len(content):
        where = f"the block at byte {offset}"
        if content[offset : offset + 4] == _PCAPNG:
            magic = _slice(content, offset + 8, 4, where)
            if magic not in _BYTE_ORDER:
                raise CaptureError(f"{where} has no byte order")
            order, interfaces = _BYTE_ORDER[magic], []
        kind, length = _unpack(order + "II", content, offset, where)
        if length < 12 or length % 4:
            raise CaptureError(f"{where} has an impossible length, {length}")
        body = _slice(content, offset, length, where)[8:-4]
        if kind == _INTERFACE:
            link_number = _unpack(order + "H", body, 0, where)[0]
            interfaces.append((link_number, _per_second(order, body[8:])))
        elif kind in (_PACKET, _OBSOLETE):
            number += 1
            where = f"packet {number}"
            # The obsolete block counts drops in the upper half of the first word.
            form = order + ("IIIII" if kind == _PACKET else "HxxIIII")
            interface, high, low, kept, original = _unpack(form, body, 0, where)
            if interface >= len(interfaces):
                raise CaptureError(f"{where} is of interface {interface}, which the file does not describe")
            link_number, per_second = interfaces[interface]
            link = _link(link_number, where)
            at_ns = (high << 32 | low) * 10**9 // per_second
            if at_ns > _AT_NS_MAX:
                raise CaptureError(f"{where} has an impossible timestamp, {at_ns // 10**9} s after 1970")
            yield CapturedPacket(at_ns, _ip_bytes(link, _slice(body, 20, kept, where), original))
        elif kind == _SIMPLE:
            raise CaptureError(f"{where} is a packet without a timestamp; capture with timestamps")
        offset += length


def _per_second(order: str, options: bytes) -> int:
    """Return the timestamps per second of an interface: microseconds unless an option says otherwise."""
    offset = 0
    while offset + 4 <= len(options):
        code, length = struct.unpack_from(order + "HH", options, offset)
        if code == _TSRESOL and length == 1 and offset + 4 < len(options):
            value = options[offset + 4]
            per_second: int = 2 ** (value & 0x7F) if value & 0x80 else 10**value
            if per_second > 10**18:
                raise CaptureError(
                    f"has timestamps in units of 1/{per_second} s; write the file again with nanoseconds"
                )
            return per_second
        offset += 4 + length + -length % 4
    return 10**6


def _link(number: int, packet: str | None = None) -> Link:
    _, link = LINK_TYPES.get(number, ("", None))
    if link is None:
        has = "has" if packet is None else f"{packet} has"
        remedy = "capture on Ethernet, raw IP, `any`, loopback or PPP"
        if packet is not None:
            remedy += (
                ", or write one interface to a file of its own (tshark -Y frame.interface_id==0 -w FILE)"
            )
        raise LinkNotRead(f"{has} link type {link_text(number)}, which is not supported; {remedy}")
    return link


def _ip_bytes(link: Link, frame: bytes, length: int) -> int:
    at, is_ip = link.ip_at(frame)
    ip = frame[at:] if is_ip else b""
    version = ip[0] >> 4 if ip else 0
    on_wire = max(1, length - at)
    if version == 4 and len(ip) >= 4:
        # 0 is a super-packet that segmentation has not filled in.
        return int.from_bytes(ip[2:4]) or on_wire
    if version == 6 and len(ip) >= 6:
        payload = int.from_bytes(ip[4:6])
        return 40 + payload if payload else on_wire
    return on_wire


def _unpack(form: str, data: bytes, offset: int, where: str) -> tuple[int, ...]:
    return struct.unpack(form, _slice(data, offset, struct.calcsize(form), where))


def _slice(data: bytes, offset: int, length: int, where: str) -> bytes:
    if offset + length > len(data):
        raise CaptureError(f"ends inside {where}; it is truncated")
    return data[offset : offset + length]
