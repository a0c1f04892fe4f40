"""Write the first files of the corpus: one well-formed input of every kind, for the mutators to damage.

    python3 fuzz/seeds.py

Files that broke a claim are added by hand, under a name that says which, and are never overwritten here.
"""

import json
import struct
from pathlib import Path
from typing import Any

CORPUS = Path(__file__).parent / "corpus"

GSO_NONE, GSO_TCPV4, GSO_TCPV6, GSO_UDP_L4 = 0, 1, 4, 5


def vnet(
    gso_type: int = GSO_NONE, gso_size: int = 0, header_len: int = 54, start: int = 34, offset: int = 16
) -> bytes:
    """Return a virtio-net header (contracts of AF_PACKET with PACKET_VNET_HDR)."""
    return struct.pack("<BBHHHH", 1, gso_type, header_len, gso_size, start, offset)


def ethernet(payload: bytes, ethertype: int = 0x0800, to: bytes = bytes([2, 0x77, 0, 0, 0, 2])) -> bytes:
    return to + bytes([2, 0x77, 0, 0, 0, 1]) + struct.pack(">H", ethertype) + payload


def ipv4(payload: bytes, protocol: int, *, fragment: int = 0, tos: int = 0, options: bytes = b"") -> bytes:
    words = 5 + len(options) // 4
    head = struct.pack(">BBHHHBBH", 0x40 | words, tos, words * 4 + len(payload), 7, fragment, 64, protocol, 0)
    return head + bytes([10, 77, 0, 1, 10, 77, 0, 2]) + options + payload


def ipv6(payload: bytes, next_header: int) -> bytes:
    head = struct.pack(">IHBB", 0x6B800000, len(payload), next_header, 64)
    return head + bytes(15) + b"\x01" + bytes(15) + b"\x02" + payload


def tcp(payload: bytes, flags: int = 0x18) -> bytes:
    return struct.pack(">HHIIBBHHH", 5432, 40000, 1, 1, 0x50, flags, 512, 0, 0) + payload


def udp(payload: bytes) -> bytes:
    return struct.pack(">HHHH", 53, 5353, 8 + len(payload), 0) + payload


FRAMES = {
    "tcp": (vnet(), ethernet(ipv4(tcp(b"hello"), 6))),
    "tcp-syn": (vnet(), ethernet(ipv4(tcp(b"", 0x02), 6))),
    "tcp-super": (vnet(GSO_TCPV4, 100), ethernet(ipv4(tcp(bytes(range(256)) * 4), 6, tos=0x2A))),
    "tcp-super-v6": (vnet(GSO_TCPV6, 90, 74, 54), ethernet(ipv6(tcp(bytes(700)), 6), 0x86DD)),
    "tcp-super-cwr": (vnet(GSO_TCPV4 | 0x80, 60), ethernet(ipv4(tcp(bytes(600), 0x99), 6, tos=3))),
    "tcp-options": (vnet(), ethernet(ipv4(tcp(b"x"), 6, options=bytes([7, 4, 5, 0])))),
    "udp": (vnet(offset=6), ethernet(ipv4(udp(b"query"), 17, tos=0xB8))),
    "udp-super": (vnet(GSO_UDP_L4, 80, 42, 34, 6), ethernet(ipv4(udp(bytes(500)), 17))),
    "fragment": (vnet(), ethernet(ipv4(bytes(64), 17, fragment=0x2008))),
    "icmp": (vnet(), ethernet(ipv4(bytes([8, 0, 0, 0]) + bytes(20), 1))),
    "ipv6-udp": (vnet(offset=6), ethernet(ipv6(udp(b"v6"), 17), 0x86DD)),
    "ipv6-extension": (vnet(), ethernet(ipv6(bytes([6, 0]) + bytes(6) + tcp(b"x"), 0), 0x86DD)),
    "vlan": (vnet(), ethernet(b"\x00\x05\x08\x00" + ipv4(tcp(b"v"), 6), 0x8100)),
    "qinq": (vnet(), ethernet(b"\x00\x05\x81\x00\x00\x06\x08\x00" + ipv4(udp(b"q"), 17), 0x88A8)),
    "arp": (vnet(), ethernet(b"\x00\x01\x08\x00\x06\x04\x00\x01" + bytes(20), 0x0806, b"\xff" * 6)),
    "multicast": (vnet(), ethernet(ipv4(udp(b"all"), 17), to=bytes([1, 0, 0x5E, 0, 0, 1]))),
    "nobody": (vnet(), ethernet(ipv4(udp(b"none"), 17), to=bytes([2, 0x77, 0, 0, 9, 9]))),
    "ethernet-only": (vnet(), ethernet(b"")),
}


def talk(flags: int, sequence: int, acknowledgement: int, stamps: tuple[int, int], **more: Any) -> bytes:
    """Return a frame of a TCP connection with all that monitors read of one.

    Args:
        stamps: TSval and TSecr.
        more: `payload`; `scale` of a SYN; `back`, whether it is b that speaks.
    """
    ends, ports = [bytes([10, 77, 0, 1]), bytes([10, 77, 0, 2])], [40000, 5432]
    options = struct.pack(">BBBBII", 1, 1, 8, 10, *stamps)
    if "scale" in more:
        options += bytes([1, 3, 3, more["scale"]])
    back = more.get("back", False)
    source, destination = ports[::-1] if back else ports
    words = 5 + len(options) // 4
    head = struct.pack(
        ">HHIIBBHHH", source, destination, sequence, acknowledgement, words << 4, flags, 512, 0, 0
    )
    segment = head + options + more.get("payload", b"")
    ip = ipv4(segment, 6)
    return ethernet(
        ip[:12] + b"".join(ends[::-1] if back else ends) + ip[20:],
        to=bytes([2, 0x77, 0, 0, 0, 1 if back else 2]),
    )


SYN, FIN, ACK = 0x02, 0x01, 0x10
# A whole connection, by name: whether b speaks, and the frame. Scales above 14 are none; a segment comes
# again, another from before the connection began.
TALK = {
    "talk-syn": (False, vnet(), talk(SYN, 999, 0, (100, 0), scale=255)),
    "talk-syn-ack": (True, vnet(), talk(SYN | ACK, 4999, 1000, (700, 100), scale=7, back=True)),
    "talk-data": (False, vnet(), talk(ACK, 1000, 5000, (110, 700), payload=b"hello")),
    "talk-super": (False, vnet(GSO_TCPV4, 100, 66), talk(ACK, 1005, 5000, (120, 700), payload=bytes(950))),
    "talk-again": (False, vnet(), talk(ACK, 1000, 5000, (130, 700), payload=b"hello")),
    "talk-echo": (True, vnet(), talk(ACK, 5000, 1005, (710, 110), back=True)),
    "talk-wrapped": (False, vnet(), talk(ACK, 2**32 - 3, 5000, (2**32 - 1, 710), payload=b"before")),
    "talk-fin": (False, vnet(), talk(FIN | ACK, 1955, 5000, (140, 710))),
    "talk-fin-back": (True, vnet(), talk(FIN | ACK, 5000, 1956, (720, 140), back=True)),
    "talk-reset": (True, vnet(), talk(0x04, 5001, 1956, (730, 140), back=True)),
}


def task(exchange: dict[str, object], **load: object) -> dict[str, object]:
    """Return an order of `traffic` to a node (crates/load/src/traffic/control.rs)."""
    whole = {
        "exchange": exchange,
        "warm_up_ns": 10**9,
        "duration_ns": None,
        "count": None,
        "rate_per_s": None,
    }
    connection = {"to": "10.77.0.1:7078", "congestion_control": None}
    return {
        "do": "prepare",
        "run": 7,
        "load": {**whole, "part_ns": 10**7, "seed": 7, **load},
        "connections": 4,
        "first": 1,
        "outgoing": [connection, connection],
        "incoming": [{"number": 0, "congestion_control": "reno"}],
    }


def counted(*series: int) -> dict[str, object]:
    return {"total_bytes": 9, "window_bytes": 7, "last_ns": 5, "part_ns": 10**7, "series": list(series)}


def messages(size: str, answer: object = "receipt") -> dict[str, object]:
    return {"messages": {"size": size, "answer": answer}}


DONE = {
    "is": "done",
    "sent": [
        {
            "number": 1,
            "local": "10.77.0.2:40000",
            "remote": "10.77.0.1:7078",
            "answers": counted(3),
            "cpu_ns": 5,
        }
        | {"finished_ns": 9, "retransmits": 1, "rtt_us": 200, "lost": None}
    ],
    "received": [{"number": 0, "counted": counted(4, 5), "cpu_ns": 6, "lost": "the sender closed it"}],
    "operations": 3,
    "errors": 1,
    "first_error": "answer of 8 bytes announced as 9, expected 8",
    "not_started": 0,
    "rows": 2,
}
# What `traffic`, `traffic-serve` and their connections say to each other.
CONTROL: dict[str, list[object]] = {
    "orders-stream": [task({"stream": {"write_bytes": 65536}}, duration_ns=10**9), {"do": "connect"}],
    "orders-open-loop": [task(messages("web-search"), duration_ns=10**9, rate_per_s=1000.0)],
    "orders-shuffle": [task(messages("pareto:1000000:1.5"), count=3), {"do": "start", "at_ns": 10**12}],
    "orders-ping-pong": [task(messages("uniform:16:1500", "same"), count=10**6)],
    "orders-calls": [task(messages("100", {"drawn": "exponential:5000"}), count=10**6)],
    "reports": [
        {"is": "listening", "address": "10.77.0.1:7078"},
        {"is": "prepared"},
        {"is": "connected"},
        DONE,
    ],
    "failed": [{"is": "failed", "message": "the run was called off"}],
}


def conversation() -> list[tuple[int, bytes]]:
    """Return instants in ns and IP packets: a handshake, data, its answer, and data again after a timeout."""

    def segment(at_us: int, back: bool, flags: int, sequence: int, answer: int, payload: bytes = b"") -> None:
        ports = (5432, 40000) if back else (40000, 5432)
        stamps = struct.pack(">BBBBII", 1, 1, 8, 10, at_us // 1000, max(0, at_us // 1000 - 1))
        head = struct.pack(">HHIIBBHHH", *ports, sequence, answer, 0x80, flags, 512, 0, 0) + stamps
        packet = ipv4(head + payload, 6)
        ends = bytes([10, 77, 0, 1, 10, 77, 0, 2])
        packets.append((at_us * 1000, packet[:12] + (ends[4:] + ends[:4] if back else ends) + packet[20:]))

    packets: list[tuple[int, bytes]] = []
    segment(0, False, 0x02, 99, 0)
    segment(900, True, 0x12, 499, 100)
    segment(950, False, 0x10, 100, 500)
    segment(1_000, False, 0x18, 100, 500, b"select 1")
    segment(2_100, True, 0x18, 500, 108, b"1")
    segment(3_000, False, 0x18, 108, 501, b"select 2")
    segment(210_000, False, 0x18, 108, 501, b"select 2")
    segment(211_000, True, 0x11, 501, 116)
    return packets


def pcap(order: str, magic: int, link: int, tick_ns: int, head: bytes, kept: int = 65535) -> bytes:
    """Return the conversation as pcap, behind a link's header and cut to `kept` bytes."""
    content = struct.pack(order + "IHHIIII", magic, 2, 4, 0, 0, kept, link)
    for at_ns, packet in conversation():
        frame = head + packet
        at = at_ns // 10**9, at_ns % 10**9 // tick_ns
        content += struct.pack(order + "IIII", *at, min(kept, len(frame)), len(frame)) + frame[:kept]
    return content


def pcapng(order: str, names: tuple[str, ...], link: int = 1) -> bytes:
    """Return the conversation as pcapng: by the first interface what one end sends, by the last the rest.

    Args:
        link: type of the last interface.
    """

    def block(kind: int, body: bytes) -> bytes:
        length = struct.pack(order + "I", len(body) + 12)
        return struct.pack(order + "I", kind) + length + body + length

    def option(code: int, value: bytes) -> bytes:
        return struct.pack(order + "HH", code, len(value)) + value + bytes(-len(value) % 4)

    magic = struct.pack(order + "IHHq", 0x1A2B3C4D, 1, 0, -1)
    content = block(0x0A0D0D0A, magic + option(4, b"crosswind 0.1.0") + option(0, b""))
    for name in names:
        options = option(2, name.encode()) + option(9, b"\x09") + option(0, b"")
        number = link if name == names[-1] else 1
        content += block(1, struct.pack(order + "HHI", number, 0, 65535) + options)
    for at_ns, packet in conversation():
        frame = ethernet(packet)
        back = frame[26:30] == bytes([10, 77, 0, 2])
        place = len(names) - 1 if back else 0
        head = struct.pack(order + "IIIII", place, at_ns >> 32, at_ns & 0xFFFFFFFF, len(frame), len(frame))
        why = option(1, b"why") + option(0, b"")
        content += block(6, head + frame + bytes(-len(frame) % 4) + why)
    return content


def datagrams() -> dict[str, bytes]:
    """Return what a machine sends to another: steps of `crates/tunnel/src/hostile.rs`."""

    def step(what: int, *records: bytes) -> bytes:
        body = b"".join(records)
        return struct.pack(">BH", what, len(body)) + body

    def way(number: int, onward: int, *elements: int, kind: int = 1) -> bytes:
        return struct.pack(f">BIIH{len(elements)}I", kind, number, onward, len(elements), *elements)

    def labels(number: int, which: int, *all_of: int) -> bytes:
        return struct.pack(f">BIHH{len(all_of)}H", 2, number, which, len(all_of), *all_of)

    def part(frame: int, header: bytes, content: bytes, at: int, end: int) -> bytes:
        head = struct.pack(">BHQII", 3, 1, frame, 1, 2) + header
        return head + struct.pack(">IIH", len(content), at, end - at) + content[at:end]

    def packet(onward: int, link: int, frame: int | None, which: int = 0) -> bytes:
        head = struct.pack(">BQIIQQ", 4, 10**12, link, onward, 3 << 32, 10**12 - 5)
        name = b"\x01" if frame is None else struct.pack(">BHQ", 0, 1, frame)
        return head + struct.pack(">IHHBBHH", 1500, 1, 0, 46, 2, 7, which) + name

    question, padding = b"\x06", bytes(40)
    answer = struct.pack(">BQQ", 7, 1 << 40, 3 << 40)
    done = struct.pack(">BHQ", 5, 1, 8)
    header, small = FRAMES["tcp"]
    super_header, large = FRAMES["tcp-super"]
    begun = step(4, way(0, 0, 5, 6, 7), labels(1, 4, 1, 9))
    halves = part(8, super_header, large, 0, 500), part(8, super_header, large, 500, len(large))
    return {
        "packets": begun
        + step(5, part(7, header, small, 0, len(small)), packet(0, 5, 7), packet(0, 5, 7, 4))
        + step(6, packet(0, 5, None), padding),
        "a-super-packet-in-two": begun + step(4, halves[0]) + step(4, halves[1], packet(0, 5, 8), done),
        "a-long-way": step(4, way(0, 0, *range(256), kind=8)) + step(4, way(1, 0, 256), packet(0, 0, None)),
        "clocks": b"".join(step(1) + step(4, question) + step(12, answer) for _ in range(12)) + step(2),
        "another-fabric": begun + step(3) + begun + step(255, packet(0, 5, None)) + step(0, bytes(64)),
    }


def history(*events: tuple[int, str, str, Any]) -> list[dict[str, Any]]:
    """Return a history of one key: process, type, function and value of each event."""
    return [
        {"index": at, "process": process, "type": kind, "f": f, "value": [1, value], "time": at}
        for at, (process, kind, f, value) in enumerate(events)
    ]


HISTORIES = {
    "register": history(
        (0, "invoke", "write", 1),
        (1, "invoke", "read", None),
        (0, "ok", "write", 1),
        (1, "ok", "read", 1),
        (2, "invoke", "cas", [1, 2]),
        (0, "invoke", "write", 3),
        (2, "info", "cas", [1, 2]),
        (1, "invoke", "read", None),
        (1, "ok", "read", 2),
        (0, "fail", "write", 3),
    ),
    "set": history(
        *((n, kind, "add", n) for kind in ("invoke", "ok") for n in (0, 1)),
        (2, "invoke", "read", None),
        (2, "ok", "read", [1, 0]),
    ),
    "append": history(
        *((n, kind, "append", n) for kind in ("invoke", "ok") for n in (0, 1)),
        (2, "invoke", "read", None),
        (2, "ok", "read", [1, 0]),
        (3, "invoke", "read", None),
        (3, "ok", "read", [1]),
    ),
    "promoted": [
        {"index": 0, "process": "nemesis", "type": "info", "f": "promote", "value": "db1", "time": 0},
        *history((0, "invoke", "write", 1), (0, "info", "write", 1)),
    ],
}


def main() -> None:
    for target in ("headers", "forwarder", "pcapng", "capture", "elements", "history", "traffic", "tunnel"):
        (CORPUS / target).mkdir(parents=True, exist_ok=True)
    row = b""
    for name, (header, frame) in FRAMES.items():
        (CORPUS / "headers" / name).write_bytes(header + b"\x0a\x01" + frame)
        row += struct.pack("<BHHBH", 0, 3000, 200, 2, len(frame)) + header + frame
    (CORPUS / "forwarder" / "all-frames").write_bytes(row)
    (CORPUS / "forwarder" / "all-frames-early").write_bytes(row.replace(b"\xc8\x00\x02", b"\xff\xff\x17"))
    row = b""
    for name, (back, header, frame) in TALK.items():
        (CORPUS / "headers" / name).write_bytes(header + b"\x0a\x01" + frame)
        row += struct.pack("<BHHBH", int(back), 30_000, 200, 0, len(frame)) + header + frame
    (CORPUS / "forwarder" / "connection").write_bytes(row)
    named = b"\x60\x00" + b"\x04name" + b"\x01i" + b"\x03why" + bytes(8) + b"\x05\x00\x03" + b"framedat"
    (CORPUS / "pcapng" / "named").write_bytes(named)
    (CORPUS / "pcapng" / "empty").write_bytes(b"")
    cooked = (bytes(14) + b"\x08\x00", b"\x08\x00" + bytes(18))
    for name, content in {
        "pcap-ethernet-us": pcap("<", 0xA1B2C3D4, 1, 1000, ethernet(b"")),
        "pcap-ethernet-cut": pcap("<", 0xA1B2C3D4, 1, 1000, ethernet(b""), 60),
        "pcap-raw-ns-big-endian": pcap(">", 0xA1B23C4D, 101, 1, b""),
        "pcap-cooked-1": pcap("<", 0xA1B23C4D, 113, 1, cooked[0]),
        "pcap-cooked-2": pcap(">", 0xA1B2C3D4, 276, 1000, cooked[1]),
        "pcapng-own": pcapng("<", ("a sends", "a receives")),
        "pcapng-own-loses": pcapng("<", ("a loses", "a sends")),
        "pcapng-big-endian": pcapng(">", ("eth0",)),
        "pcapng-link-not-read": pcapng("<", ("eth0", "bluetooth0"), 187),
        "pcap-ppp": pcap("<", 0xA1B2C3D4, 9, 1000, b"\xff\x03\x00\x21"),
        "pcap-tagged-twice": pcap(
            "<", 0xA1B2C3D4, 1, 1000, ethernet(b"\x00\x05\x81\x00\x00\x06\x08\x00", 0x88A8)
        ),
    }.items():
        (CORPUS / "capture" / name).write_bytes(content)
    for name, lines in CONTROL.items():
        (CORPUS / "traffic" / name).write_text("".join(json.dumps(line) + "\n" for line in lines))
    (CORPUS / "traffic" / "hello").write_bytes(b"cwtraffc" + struct.pack(">QQ", 7_000_000_007, 42))
    asked = struct.pack(">QQ", 16, 70_000) + struct.pack(">QQ", 40, 8) + bytes(24)
    (CORPUS / "traffic" / "messages").write_bytes(asked)
    for name, events in HISTORIES.items():
        (CORPUS / "history" / name).write_text("".join(json.dumps(event) + "\n" for event in events))
    for name, content in datagrams().items():
        (CORPUS / "tunnel" / name).write_bytes(content)
    for number in range(48):
        # A condition of one element with its own numbers, then frames, an advance, and the next element.
        steps = b"".join(struct.pack("<HBBBHH", 50, 32 + way, 40, way, 1499, 700) for way in range(40))
        other = struct.pack("<HB", 10, 3) + bytes([0, number + 1]) + bytes(24)
        (CORPUS / "elements" / f"element-{number:02}").write_bytes(
            bytes([0, number]) + bytes(24) + steps + other + steps
        )


main()
