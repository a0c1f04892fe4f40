"""The programs that a backend needs, and the packages that have them."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Mapping
from pathlib import Path

OVS_SCHEMA = Path("/usr/share/openvswitch/vswitch.ovsschema")
# Where the agent looks for programs; a user's own PATH often lacks the folders of administrators.
_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
_IPROUTE: Mapping[str, tuple[str, ...]] = {"iproute2": ("ip", "tc")}
_PACKAGES: Mapping[str, Mapping[str, tuple[str, ...]]] = {
    "ovs": {
        "openvswitch-switch": ("ovs-vswitchd", "ovsdb-server", "ovsdb-tool", "ovs-vsctl", "ovs-ofctl"),
        **_IPROUTE,
    },
    "tc": _IPROUTE,
}
# What results depend on, and the option that prints its version.
_VERSIONS = {"ovs": {"ovs-vswitchd": "--version", "tc": "-V"}, "tc": {"tc": "-V"}}


def missing_programs(backend: str) -> list[str]:
    """Return what a backend needs and this machine lacks, a sentence for each package."""
    found = []
    for package, programs in _PACKAGES[backend].items():
        if lacking := [name for name in programs if shutil.which(name, path=_PATH) is None]:
            what = f"backend {backend}: {', '.join(lacking)}: not on this machine"
            found.append(f"{what}; sudo apt install {package}")
    if backend == "ovs" and not found and not OVS_SCHEMA.is_file():
        found.append(f"backend ovs: {OVS_SCHEMA}: not on this machine; sudo apt install openvswitch-common")
    return found


def backend_versions(backend: str) -> dict[str, str]:
    """Return the first line with which each program of a backend that matters says its version."""
    found = {}
    for name, option in _VERSIONS[backend].items():
        program = shutil.which(name, path=_PATH)
        if program is not None:
            done = subprocess.run([program, option], capture_output=True, text=True, timeout=10, check=False)
            found[name] = (done.stdout.splitlines() or ["unknown"])[0]
    return found
