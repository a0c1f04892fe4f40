"""Check the kernel: version, packet sockets, congestion controls, and features that are not needed."""

from __future__ import annotations

import errno
import gzip
import platform
import re
import socket
import sys
from pathlib import Path

from crosswind.doctor.finding import Finding, missing, ok, warning

# close_range(2) came with Linux 5.9; with it the agent hides its own files from the processes of a node.
KERNEL_MIN = (5, 9)
DEFAULT_CONGESTION_CONTROL = "cubic"
_TCP = Path("/proc/sys/net/ipv4")
_BRIDGE_FILTER = Path("/proc/sys/net/bridge/bridge-nf-call-iptables")


def look_at_kernel() -> list[Finding]:
    """Return findings about version, packet sockets, congestion controls, qdiscs and the bridge filter."""
    return [
        version(sys.platform, platform.release()),
        packet_sockets(),
        congestion_controls(available_congestion_controls(), _word(_TCP / "tcp_congestion_control")),
        qdiscs(_known_qdiscs(platform.release())),
        bridge_filter(_word(_BRIDGE_FILTER)),
    ]


def version(system: str, release: str) -> Finding:
    """Judge the operating system (`sys.platform`) and the kernel's release, such as `6.12.9-amd64`."""
    if system != "linux":
        return missing("kernel", f"{system} {release}", "use Linux, for example in a virtual machine")
    numbers = re.match(r"(\d+)\.(\d+)", release)
    if numbers and tuple(map(int, numbers.groups())) < KERNEL_MIN:
        oldest = ".".join(map(str, KERNEL_MIN))
        return missing(
            "kernel", f"Linux {release}", f"use Linux {oldest} or later; the agent needs close_range(2)"
        )
    return ok("kernel", f"Linux {release}")


def packet_sockets() -> Finding:
    """Judge whether the kernel has AF_PACKET, with which the emulator reads and writes packets."""
    try:
        # Protocol 0 receives nothing.
        socket.socket(socket.AF_PACKET, socket.SOCK_RAW, 0).close()
    except OSError as error:
        # The kernel checks the permission after the family. In its own namespace the agent has it.
        if error.errno not in (errno.EPERM, errno.EACCES):
            return missing(
                "AF_PACKET",
                f"{error.strerror}",
                "load it: sudo modprobe af_packet (CONFIG_PACKET of the kernel)",
            )
    return ok("AF_PACKET", "available")


def available_congestion_controls() -> list[str]:
    """Return TCP's congestion controls that the kernel has ready; an empty list where it does not say."""
    return (_word(_TCP / "tcp_available_congestion_control") or "").split()


def congestion_controls(available: list[str], default: str | None) -> Finding:
    """Judge whether nodes can have the congestion control that experiments get when they name none."""
    found = f"{', '.join(available) or 'none reported'}; this machine's default is {default or 'unknown'}"
    if DEFAULT_CONGESTION_CONTROL not in available:
        return warning(
            "congestion control",
            found,
            "load it: sudo modprobe tcp_cubic; or name another under `tcp` in the experiment",
        )
    return ok("congestion control", f"{found}, nodes get {DEFAULT_CONGESTION_CONTROL}")


def qdiscs(known: list[str] | None) -> Finding:
    """Report the kernel's queueing disciplines; for information only, because the engine needs none."""
    if known is None:
        return ok("qdiscs", "unknown; none is needed")
    return ok("qdiscs", f"{', '.join(known) or 'none'}; none is needed")


def bridge_filter(value: str | None) -> Finding:
    """Report whether the kernel filters bridged frames; for information only: nodes are on no bridge."""
    state = {None: "not loaded", "0": "off"}.get(value, "on")
    return ok("bridge-nf-call-iptables", f"{state}; nodes are on no bridge")


def qdiscs_in_config(config: str) -> list[str]:
    """Return the queueing disciplines in a kernel's configuration, sorted, with the names of `tc`."""
    return sorted(name.lower() for name in re.findall(r"^CONFIG_NET_SCH_(\w+)=[ym]$", config, re.MULTILINE))


def _known_qdiscs(release: str) -> list[str] | None:
    config = _config(release)
    if config is not None:
        return qdiscs_in_config(config)
    folder = Path("/lib/modules") / release / "kernel/net/sched"
    if not folder.is_dir():
        return None
    return sorted(file.name.removeprefix("sch_").partition(".")[0] for file in folder.glob("sch_*.ko*"))


def _config(release: str) -> str | None:
    try:
        return gzip.decompress(Path("/proc/config.gz").read_bytes()).decode()
    except OSError:
        pass
    try:
        return (Path("/boot") / f"config-{release}").read_text()
    except OSError:
        return None


def _word(path: Path) -> str | None:
    try:
        return path.read_text().strip()
    except OSError:
        return None
