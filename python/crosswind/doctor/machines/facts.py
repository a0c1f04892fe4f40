"""What a machine's own shell reports about it: a script of plain `sh`, and the reader of its output.

The script needs no program but those of every Linux; what one of them does not tell is unknown.
"""

from __future__ import annotations

import ipaddress
import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crosswind.results.provenance import InterfaceRates

_MARK = "crosswind-fact"
# Ten packets 0.2 s apart, which every account may send, and a second for the last answer.
PEERS_S = 4

_MACHINE = f"""\
fact() {{ printf '{_MARK} %s\\n' "$*"; }}
fact system "$(uname -s)"
fact kernel "$(uname -r)"
fact cpu "$(uname -m)"
fact cores "$(nproc 2> /dev/null || getconf _NPROCESSORS_ONLN)"
fact memory_kib "$(sed -n 's/^MemTotal: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)"
fact model "$(sed -n 's/^model name[^:]*: *//p' /proc/cpuinfo | head -n 1)"
fact load "$(cut -d ' ' -f 1 /proc/loadavg)"
fact available_kib "$(sed -n 's/^MemAvailable: *\\([0-9]*\\).*/\\1/p' /proc/meminfo)"
fact governor "$(cat /sys/devices/system/cpu/cpu0/cpufreq/scaling_governor 2> /dev/null)"
fact clock "$(cat /sys/devices/system/clocksource/clocksource0/current_clocksource 2> /dev/null)"
fact congestion "$(cat /proc/sys/net/ipv4/tcp_available_congestion_control 2> /dev/null)"
"""
# Byte counters of interfaces, with the seconds since the machine's start.
_TRAFFIC = """\
traffic() {
    read -r at _ < /proc/uptime
    sed -n 's/^ *\\([^ :]*\\): *\\([0-9]*\\)\\( *[0-9]*\\)\\{7\\} *\\([0-9]*\\).*/\\1 \\2 \\4/p' \\
        /proc/net/dev |
        while read -r name counted; do fact traffic "$at" "$name" "$counted"; done
}
traffic
sleep 0.5 2> /dev/null || sleep 1
traffic
"""
# A private folder of programs is complete when it has a record, which names what is in it.
_PLACE = """\
place() {
    if [ -f "$2/installed.json" ]; then
        fact place "$1" "$(sha256sum < "$2/installed.json" 2> /dev/null | cut -d ' ' -f 1)"
    elif [ -e "$2" ]; then fact place "$1" there
    else fact place "$1" absent; fi
}
"""
# The longest packet that the interface takes is sent in one piece. If nothing comes back, a short one tells
# whether the path or a firewall is the reason.
_PEER = f"""\
peer() {{
    device="$(ip -o route get "$2" 2> /dev/null | sed -n 's/.* dev \\([^ ]*\\).*/\\1/p')"
    mtu="$(ip -o link show dev "$device" 2> /dev/null | sed -n 's/.* mtu \\([0-9]*\\).*/\\1/p')"
    answered=unknown
    longest=
    if [ -n "$mtu" ] && command -v ping > /dev/null; then
        longest="$(ping -n -q -c 10 -i 0.2 -w {PEERS_S} -M do -s "$((mtu - $3))" "$2" 2> /dev/null |
            sed -n 's/.*= [^/]*\\/[^/]*\\/\\([^/]*\\)\\/.*/\\1/p')"
        if [ -n "$longest" ]; then answered=whole
        elif ping -n -q -c 2 -w {PEERS_S} "$2" > /dev/null 2>&1; then answered=short
        else answered=none; fi
    fi
    fact peer "$1" "${{mtu:-unknown}}" "$answered" "${{longest:-unknown}}"
}}
"""


@dataclass(frozen=True)
class PeerPath:
    """The way from a machine to another one.

    Attributes:
        mtu_bytes: of the interface that leads there; None: unknown.
        answered: whether packets of this size come back: `whole`; `short` ones only; `none`; or `unknown`.
        round_trip_ns: the longest of ten.
    """

    mtu_bytes: int | None
    answered: str
    round_trip_ns: int | None


@dataclass(frozen=True)
class RemoteFacts:
    """What a machine is; what is unknown is None, or empty.

    Attributes:
        processor, model: of its CPU: the instruction set, and what the kernel calls it.
        load: its load average of one minute.
        interfaces_bps: rates through its interfaces within half a second, by name.
        places: by path, `there`, `absent`, or the SHA-256 of the record of a private folder.
    """

    system: str = ""
    kernel: str = ""
    processor: str = ""
    model: str = ""
    cores: int | None = None
    memory_bytes: int | None = None
    available_bytes: int | None = None
    load: float | None = None
    governor: str = ""
    clock: str = ""
    congestion: Sequence[str] = ()
    interfaces_bps: Mapping[str, InterfaceRates] | None = None
    peers: Mapping[str, PeerPath] = field(default_factory=dict)
    places: Mapping[str, str] = field(default_factory=dict)


def script_for(peers: Mapping[str, str], places: Sequence[str] = ()) -> str:
    """Return the script that reports a machine.

    Args:
        peers: addresses of others, by name, to which its ways are measured.
        places: files and folders that it may have.
    """
    # Bytes of the headers of IP and ICMP.
    calls = [
        f"peer {number} {address} {48 if ipaddress.ip_address(address).version == 6 else 28} &\n"
        for number, address in enumerate(peers.values())
    ]
    looks = [f"place {number} {shlex.quote(place)}\n" for number, place in enumerate(places)]
    return "".join([_MACHINE, _TRAFFIC, _PEER, _PLACE, *calls, *looks, "wait\n"])


def facts_from(printed: str, peers: Sequence[str], places: Sequence[str] = ()) -> RemoteFacts:
    """Return what the script reported; other lines are the login shell's.

    Args:
        peers, places: those that the script was made for, in their order.
    """
    found: dict[str, str] = {}
    had: dict[str, str] = {}
    ways: dict[str, PeerPath] = {}
    traffic: dict[str, list[_Counted]] = {}
    for line in printed.splitlines():
        mark, _, fact = line.partition(" ")
        name, _, value = fact.partition(" ")
        if mark != _MARK:
            continue
        if name == "peer":
            number, mtu, answered, longest_ms = value.split()
            ways[peers[int(number)]] = PeerPath(
                _number(mtu), answered, None if longest_ms == "unknown" else round(float(longest_ms) * 1e6)
            )
        elif name == "traffic":
            at_s, interface, received, sent = value.split()
            traffic.setdefault(interface, []).append(_Counted(float(at_s), int(received), int(sent)))
        elif name == "place":
            number, _, state = value.partition(" ")
            had[places[int(number)]] = state
        else:
            found[name] = value.strip()
    return RemoteFacts(
        system=found.get("system", ""),
        kernel=found.get("kernel", ""),
        processor=found.get("cpu", ""),
        cores=_number(found.get("cores", "")),
        model=found.get("model", ""),
        memory_bytes=_bytes(found.get("memory_kib", "")),
        available_bytes=_bytes(found.get("available_kib", "")),
        load=_share(found.get("load", "")),
        governor=found.get("governor", ""),
        clock=found.get("clock", ""),
        congestion=tuple(found.get("congestion", "").split()),
        interfaces_bps=_rates(traffic),
        peers={name: ways[name] for name in peers if name in ways},
        places=had,
    )


class _Counted(NamedTuple):
    """What had gone through an interface, in bytes, some seconds after the machine's start."""

    at_s: float
    received: int
    sent: int


def _rates(traffic: Mapping[str, Sequence[_Counted]]) -> dict[str, InterfaceRates] | None:
    """Return the rates of interfaces that were counted twice; None where there are none."""
    rates = {}
    for name, counted in traffic.items():
        first, last = counted[0], counted[-1]
        if last.at_s > first.at_s:
            # An interface that was made anew has smaller counters.
            received, sent = (
                max(0, round(8 * (after - before) / (last.at_s - first.at_s)))
                for before, after in ((first.received, last.received), (first.sent, last.sent))
            )
            rates[name] = InterfaceRates(received=received, sent=sent)
    return rates or None


def _bytes(kibibytes: str) -> int | None:
    number = _number(kibibytes)
    return None if number is None else number << 10


def _share(text: str) -> float | None:
    """Return a decimal number without a sign."""
    return float(text) if text.replace(".", "", 1).isdecimal() else None


def _number(text: str) -> int | None:
    return int(text) if text.isdecimal() else None
