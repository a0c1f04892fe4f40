"""Print the facts of an end at this instant as JSON: machine, load, settings, the path to the other end.

This file runs at the end itself, as `python3 - ADDRESS [PORT]`, on any machine. It needs only Python 3.7.
What the kernel does not report is null. With a port, where a server has to listen, it makes one connection
and reads the settings of that connection.

Source: Linux, include/uapi/linux/{sockios,ethtool,tcp,in,in6,netlink,rtnetlink}.h.
"""

from __future__ import annotations

import ctypes
import fcntl
import json
import os
import platform
import socket
import struct
import sys
import time
from pathlib import Path
from typing import NamedTuple

# Time over which rates of interfaces are measured.
RATES_S = 0.5
_SYSCTLS = (
    "net/ipv4/tcp_congestion_control",
    "net/ipv4/tcp_rto_min_us",
    "net/ipv4/tcp_rmem",
    "net/ipv4/tcp_wmem",
    "net/ipv4/tcp_sack",
    "net/ipv4/tcp_recovery",
    "net/ipv4/tcp_early_retrans",
    "net/ipv4/tcp_slow_start_after_idle",
    "net/ipv4/tcp_no_metrics_save",
    "net/ipv4/tcp_mtu_probing",
    "net/core/rmem_max",
    "net/core/wmem_max",
    "net/core/default_qdisc",
)
_SIOCGIFMTU, _SIOCETHTOOL = 0x8921, 0x8946
_IP_MTU, _IPV6_MTU, _TCP_CONGESTION = 14, 24, 13
_RTM_NEWROUTE, _RTM_GETROUTE, _NLM_F_REQUEST, _RTA_DST, _RTA_OIF = 24, 26, 1, 1, 4
# Bytes before the attributes of a route: struct nlmsghdr and struct rtmsg.
_ROUTE_BYTES = 16 + 12
# Limits when routers are counted: their number, the wait for each, and for all.
_ROUTERS_MAX, _ROUTER_S, _ROUTERS_S = 30, 0.5, 15.0
# The kernel repeats a SYN after one second, and after three.
_LOST_TWICE_S = 4.0
_CONNECT_S = 10.0
# Counters of interfaces are as wide as a `long` of the kernel.
_COUNTER_BITS = 8 * struct.calcsize("l")
_GET_LINK, _GET_DRIVER, _GET_RINGS, _GET_CHANNELS = 0x01, 0x03, 0x10, 0x3C
# The command, and the bits of its answer that mean yes.
_OFFLOADS = {
    "rx-checksum": (0x14, 1),
    "tx-checksum": (0x16, 1),
    "sg": (0x18, 1),
    "tso": (0x1E, 1),
    "gso": (0x23, 1),
    "gro": (0x2B, 1),
    "lro": (0x25, 1 << 15),
}


class InterfaceBytes(NamedTuple):
    """The byte counters of interfaces at an instant of the monotonic clock."""

    counted: dict[str, dict[str, int]]
    at_s: float


def look() -> InterfaceBytes:
    """Return the byte counters of interfaces, from which `facts` computes rates later."""
    return InterfaceBytes(_counters(), time.monotonic())


def facts(address: str, port: int | None = None, *, since: InterfaceBytes | None = None) -> dict[str, object]:
    """Return the facts (docs/reference/contracts.md, section 9); `address` is the other end's.

    Rates of interfaces are since `since`; without it, over half a second, which this then takes.
    """
    memory = dict(line.split(":") for line in _lines("/proc/meminfo"))
    rates = _rates(since)
    return {
        "time": time.strftime("%Y-%m-%dT%H:%M:%S+00:00", time.gmtime()),
        "host": socket.gethostname(),
        "boot": boot(),
        "kernel": platform.release(),
        "cpu": _cpu(),
        "cores": len(os.sched_getaffinity(0)),
        "clock_source": _text("/sys/devices/system/clocksource/clocksource0/current_clocksource"),
        "governor": _text("/sys/devices/system/cpu/cpu0/cpufreq/scaling_governor"),
        "virtualisation": _text("/sys/class/dmi/id/sys_vendor"),
        "state": {
            "load_average": list(os.getloadavg()),
            "memory_bytes": _bytes(memory, "MemTotal"),
            "memory_available_bytes": _bytes(memory, "MemAvailable"),
            "swap_used_bytes": _bytes(memory, "SwapTotal") - _bytes(memory, "SwapFree"),
            "processes": sum(entry.name.isdigit() for entry in Path("/proc").iterdir()),
            "uptime_s": float(_lines("/proc/uptime")[0].split()[0]),
            "steal_s": int(_lines("/proc/stat")[0].split()[8]) / os.sysconf("SC_CLK_TCK"),
            "interfaces_bps": rates,
        },
        "sysctls": {name.replace("/", "."): _text("/proc/sys/" + name) for name in _SYSCTLS},
        "interface": _interface(address),
        "connection": None if port is None else _connection(address, port),
    }


def boot() -> str | None:
    """Return an identifier of this boot of this machine."""
    return _text("/proc/sys/kernel/random/boot_id")


def _cpu() -> str:
    names = (line.partition(":")[2].strip() for line in _lines("/proc/cpuinfo") if line[:10] == "model name")
    return next(names, platform.machine())


def _rates(since: InterfaceBytes | None) -> dict[str, dict[str, int]]:
    if since is None:
        since = look()
        time.sleep(RATES_S)
    before = since.counted
    after, took_s = _counters(), time.monotonic() - since.at_s
    return {
        name: {
            way: round(8 * counted_since(before[name][way], counted[way]) / took_s)
            for way in ("received", "sent")
        }
        for name, counted in after.items()
        if name in before
    }


def counted_since(before: int, after: int, bits: int = _COUNTER_BITS) -> int:
    """Return by how much a counter of `bits` bits has grown, if it wrapped at most once."""
    return (after - before) % (1 << bits)


def _counters() -> dict[str, dict[str, int]]:
    rows = [line.replace(":", " ").split() for line in _lines("/proc/net/dev")[2:]]
    return {row[0]: {"received": int(row[1]), "sent": int(row[9])} for row in rows}


def _interface(address: str) -> dict[str, object]:
    """Return the interface through which the kernel routes to the other end."""
    family, level, mtu = (
        (socket.AF_INET6, socket.IPPROTO_IPV6, _IPV6_MTU)
        if ":" in address
        else (socket.AF_INET, socket.IPPROTO_IP, _IP_MTU)
    )
    with socket.socket(family, socket.SOCK_DGRAM) as way:
        way.connect((address, 9))  # UDP: this sends nothing.
        own, path_mtu = way.getsockname()[0], way.getsockopt(level, mtu)
        index = _route_index(family, way.getpeername()[0])
        if index is None:
            return {"name": None, "address": own, "path_mtu_bytes": path_mtu}
        name = socket.if_indextoname(index)
        return {
            "name": name,
            "address": own,
            "mtu_bytes": struct.unpack("i", _ioctl(way, _SIOCGIFMTU, name)[16:20])[0],
            "path_mtu_bytes": path_mtu,
            "driver": _driver(way, name),
            "offloads": _offloads(way, name),
            "speed_mbps": _speed_mbps(way, name),
            "queues": _nine(way, name, _GET_CHANNELS, {"rx": 5, "tx": 6, "combined": 8}),
            "rings": _nine(way, name, _GET_RINGS, {"rx": 5, "tx": 8}),
        }


def _route_index(family: int, address: str) -> int | None:
    """Return the index of the interface by which the kernel routes to an address; None where it does not."""
    to = socket.inet_pton(family, address)
    question = struct.pack("BBBBBBBBI", family, 8 * len(to), 0, 0, 0, 0, 0, 0, 0)
    question += struct.pack("HH", 4 + len(to), _RTA_DST) + to
    header = struct.pack("IHHII", 16 + len(question), _RTM_GETROUTE, _NLM_F_REQUEST, 0, 0)
    with socket.socket(socket.AF_NETLINK, socket.SOCK_RAW) as kernel:
        kernel.send(header + question)
        answer = kernel.recv(1 << 16)
    length, kind = struct.unpack_from("IH", answer)
    place = _ROUTE_BYTES
    while kind == _RTM_NEWROUTE and place < length:
        size, attribute = struct.unpack_from("HH", answer, place)
        if attribute == _RTA_OIF:
            return int(struct.unpack_from("I", answer, place + 4)[0])
        place += -4 & (size + 3)  # Attributes begin at multiples of four bytes.
    return None


def _ioctl(way: socket.socket, number: int, name: str) -> bytes:
    return fcntl.ioctl(way, number, struct.pack("16s48x", name.encode()))


def _ethtool(way: socket.socket, name: str, request: bytes) -> bytes | None:
    """Send a request to a driver; return its answer, or None where it does not know the request."""
    buffer = ctypes.create_string_buffer(request, len(request))
    asked = struct.pack("16sP40x", name.encode(), ctypes.addressof(buffer))
    try:
        fcntl.ioctl(way, _SIOCETHTOOL, asked)
    except OSError:
        return None
    return buffer.raw


def _driver(way: socket.socket, name: str) -> str | None:
    said = _ethtool(way, name, struct.pack("I192x", _GET_DRIVER))
    return None if said is None else said[4:36].split(b"\0")[0].decode()


def _offloads(way: socket.socket, name: str) -> dict[str, bool | None]:
    found: dict[str, bool | None] = {}
    for offload, (command, bits) in _OFFLOADS.items():
        said = _ethtool(way, name, struct.pack("II", command, 0))
        found[offload] = None if said is None else bool(struct.unpack("II", said)[1] & bits)
    return found


def _speed_mbps(way: socket.socket, name: str) -> int | None:
    """Return the speed that the driver reports; None where it is unknown, as without a cable."""
    said = _ethtool(way, name, struct.pack("I40x", _GET_LINK))
    if said is None:
        return None
    # Two halves: bytes 12 and 28 of the kernel's struct ethtool_cmd.
    (low,), (high,) = struct.unpack_from("H", said, 12), struct.unpack_from("H", said, 28)
    speed = high << 16 | low
    return None if speed in (0, 0xFFFF, 0xFFFFFFFF) else speed


def _nine(way: socket.socket, name: str, command: int, places: dict[str, int]) -> dict[str, int] | None:
    """Return some of the nine numbers of a driver's answer, by their places; None without an answer."""
    said = _ethtool(way, name, struct.pack("I32x", command))
    return None if said is None else {key: struct.unpack("9I", said)[place] for key, place in places.items()}


def _connection(address: str, port: int) -> dict[str, object]:
    """Return the settings of a fresh connection as the kernel reports them."""
    try:
        one = socket.create_connection((address, port), timeout=_CONNECT_S)
    except OSError as error:
        sys.exit(f"TCP {address} port {port}: {error}; does a firewall on the path drop or refuse it?")
    with one:
        info = one.getsockopt(socket.IPPROTO_TCP, socket.TCP_INFO, 104)
        # After eight bytes: rto, ato, snd_mss, rcv_mss. The path MTU is the 14th number, the RTT the 16th.
        numbers = struct.unpack("24I", info[8:104])
        control = one.getsockopt(socket.IPPROTO_TCP, _TCP_CONGESTION, 16)
        return {
            "congestion_control": control.split(b"\0")[0].decode(),
            "rto_us": numbers[0],
            "mss_bytes": numbers[2],
            "path_mtu_bytes": numbers[13],
            "handshake_rtt_us": numbers[15],
            "routers": _routers(address, port, numbers[15] / 1e6),
        }


def _routers(address: str, port: int, rtt_s: float) -> int | None:
    """Return how many routers decrement the time to live, from the smallest one that makes a connection."""
    within_s = max(_ROUTER_S, 2 * rtt_s)
    answers: list[bool | None] = []
    while True not in answers:
        if len(answers) > min(_ROUTERS_MAX, _ROUTERS_S / within_s):
            return None
        answers.append(_reaches(address, port, len(answers) + 1, within_s))
    # Without an answer that the time to live was exceeded, a packet may only have been lost.
    lives = len(answers)
    while lives > 1 and answers[lives - 2] is None and _reaches(address, port, lives - 1, _LOST_TWICE_S):
        lives -= 1
    return lives - 1


def _reaches(address: str, port: int, lives: int, within_s: float) -> bool | None:
    """Return whether a connection is made with a time to live of `lives`; None where nothing answers."""
    family, level, option = (
        (socket.AF_INET6, socket.IPPROTO_IPV6, socket.IPV6_UNICAST_HOPS)
        if ":" in address
        else (socket.AF_INET, socket.IPPROTO_IP, socket.IP_TTL)
    )
    with socket.socket(family, socket.SOCK_STREAM) as one:
        one.setsockopt(level, option, lives)
        one.settimeout(within_s)
        try:
            one.connect((address, port))
        except socket.timeout:  # noqa: UP041 - another exception until Python 3.10.
            return None
        except OSError:
            return False
    return True


def _bytes(memory: dict[str, str], name: str) -> int:
    return 1024 * int(memory[name].split()[0])


def _lines(path: str) -> list[str]:
    return Path(path).read_text().splitlines()


def _text(path: str) -> str | None:
    try:
        return " ".join(" ".join(_lines(path)).split())
    except OSError:
        return None


if __name__ == "__main__":
    print(json.dumps(facts(sys.argv[1], *map(int, sys.argv[2:]))))
