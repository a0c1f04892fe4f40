"""A strict reader of pcapng, from the draft and independent of the writer: anything odd is an error."""

import struct
from dataclasses import dataclass, field


@dataclass
class Interface:
    name: str
    snap_bytes: int
    received: int | None = None
    left_out: int | None = None


@dataclass
class Packet:
    interface: str
    at_ns: int
    data: bytes
    original_bytes: int
    comment: str | None
    way: int


@dataclass
class Capture:
    interfaces: list[Interface] = field(default_factory=list)
    packets: list[Packet] = field(default_factory=list)


def read_capture(content: bytes) -> Capture:
    """Return what a little-endian pcapng file holds."""
    capture = Capture()
    at = 0
    while at < len(content):
        kind, length = struct.unpack_from("<II", content, at)
        assert length % 4 == 0
        assert length >= 12
        assert struct.unpack_from("<I", content, at + length - 4) == (length,), "the length stands twice"
        body = content[at + 8 : at + length - 4]
        if at == 0:
            assert kind == 0x0A0D0D0A
        if kind == 0x0A0D0D0A:
            assert struct.unpack_from("<IHHq", body) == (0x1A2B3C4D, 1, 0, -1)
        elif kind == 1:
            link_type, zero, snap_bytes = struct.unpack_from("<HHI", body)
            assert (link_type, zero) == (1, 0)
            options = _options(body[8:])
            assert options[9] == b"\x09", "nanoseconds"
            capture.interfaces.append(Interface(options[2].decode(), snap_bytes))
        elif kind == 6:
            number, high, low, kept, original = struct.unpack_from("<IIIII", body)
            options = _options(body[20 + (kept + 3) // 4 * 4 :])
            interface = capture.interfaces[number]
            assert kept == min(original, interface.snap_bytes)
            comment = options.get(1)
            capture.packets.append(
                Packet(
                    interface.name,
                    high << 32 | low,
                    body[20 : 20 + kept],
                    original,
                    None if comment is None else comment.decode(),
                    struct.unpack("<I", options[2])[0],
                )
            )
        elif kind == 5:
            (number,) = struct.unpack_from("<I", body)
            options = _options(body[12:])
            (capture.interfaces[number].received,) = struct.unpack("<Q", options[4])
            (capture.interfaces[number].left_out,) = struct.unpack("<Q", options[5])
        else:
            raise AssertionError(f"block of kind {kind}")
        at += length
    return capture


def _options(content: bytes) -> dict[int, bytes]:
    options: dict[int, bytes] = {}
    at = 0
    while True:
        code, length = struct.unpack_from("<HH", content, at)
        if code == 0:
            assert (length, at + 4) == (0, len(content))
            return options
        options[code] = content[at + 4 : at + 4 + length]
        at += 4 + (length + 3) // 4 * 4
