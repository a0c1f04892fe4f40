"""Check whether this account may make namespaces: as root, or in a user namespace of its own."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path

from crosswind.doctor.finding import Finding, missing, ok

# Their numbers in capabilities(7). Root in a container may lack them.
_NEEDED = {"CAP_NET_ADMIN": 12, "CAP_NET_RAW": 13, "CAP_SYS_ADMIN": 21}
# Settings whose value 0 forbids user namespaces to ordinary accounts, and a value that allows them. Every
# kernel has the first, Debian's kernels have the second.
_SWITCHES = (("user.max_user_namespaces", "10000"), ("kernel.unprivileged_userns_clone", "1"))
# Ubuntu has it since 23.10. With 1, only programs with an AppArmor profile get a usable user namespace.
# Whether the agent has such a profile shows when it makes nodes.
_APPARMOR_SWITCH = "kernel.apparmor_restrict_unprivileged_userns"


def look_at_privileges() -> list[Finding]:
    """Return findings about privileges; the final test is the fabric that comes up (see `nodes`)."""
    if os.geteuid() == 0:
        return [as_root(Path("/proc/self/status").read_text())]
    return [as_user(_sysctl)]


def as_root(proc_status: str) -> Finding:
    """Judge root by its effective capabilities.

    Args:
        proc_status: text of /proc/self/status, with the line `CapEff:` in hexadecimal.
    """
    effective = next(
        int(line.split()[1], 16) for line in proc_status.splitlines() if line.startswith("CapEff:")
    )
    lacking = [name for name, number in _NEEDED.items() if not effective >> number & 1]
    if lacking:
        return missing(
            "privileges",
            f"root without {', '.join(lacking)}, as in a container",
            "allow them (docker run --privileged), or run as an ordinary user with user namespaces",
        )
    return ok("privileges", "root; applications run as an unprivileged account")


def as_user(sysctl: Callable[[str], str | None]) -> Finding:
    """Judge an ordinary account by the switches that forbid user namespaces.

    Args:
        sysctl: returns the value of a kernel setting; None where this kernel does not have it.
    """
    for name, allows in _SWITCHES:
        if sysctl(name) == "0":
            return missing(
                "privileges",
                f"an ordinary user, and {name} = 0 forbids user namespaces",
                f"allow them: sudo sysctl -w {name}={allows}; or run as root",
            )
    if sysctl(_APPARMOR_SWITCH) == "1":
        return ok("privileges", "an ordinary user; AppArmor allows user namespaces to some programs only")
    return ok("privileges", "an ordinary user, in a user namespace; no root needed")


def _sysctl(name: str) -> str | None:
    try:
        return (Path("/proc/sys") / name.replace(".", "/")).read_text().strip()
    except OSError:
        return None
