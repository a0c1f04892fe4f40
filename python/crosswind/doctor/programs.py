"""Look at what is installed: Crosswind's own programs, the applications, and room for their data."""

from __future__ import annotations

import shutil

from crosswind.app import registry
from crosswind.app.availability import availability
from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.doctor.finding import Finding, missing, ok, warning
from crosswind.doctor.quantities import memory_text
from crosswind.store.provenance import tool_version
from crosswind.testbed import NotHere, find_binary
from crosswind.testbed.binaries import AGENT, LOAD, binary_version
from crosswind.testbed.folders import work_folder_root

REINSTALL = "install all parts from one version: pip install --force-reinstall crosswind"
# A database of some hundred thousand records, its copy in use, and the samples of a run.
DISK_BYTES_WANTED = 2 << 30
# The Python part's version where it runs from its source tree, without being installed.
_UNPACKAGED = "unpackaged"


def look_at_programs() -> list[Finding]:
    """Return findings about binaries, their versions, applications and disk space."""
    return [*binaries(), *applications(), iperf3(), disk()]


def binaries() -> list[Finding]:
    """Look for both programs and compare their versions with each other and with the Python part."""
    found: dict[str, str] = {}
    findings = []
    for name in (AGENT, LOAD):
        try:
            path = find_binary(name)
            found[name] = binary_version(path).removeprefix(f"{name} ")
            findings.append(ok(name, f"{found[name]}, {path}"))
        except NotHere as error:
            what, _, remedy = str(error).partition("; ")
            findings.append(missing(name, what.removeprefix(f"{name}: "), remedy))
    if len(found) == 2:
        findings.append(versions({**found, "crosswind": tool_version()}))
    return findings


def versions(found: dict[str, str]) -> Finding:
    """Judge whether programs that speak to each other come from one version."""
    told = {version for version in found.values() if version != _UNPACKAGED}
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    return ok("versions", "agree") if len(told) == 1 else missing("versions", listed, REINSTALL)


def applications() -> list[Finding]:
    """Ask each installed application what it lacks; the others run without it."""
    findings = []
    for name in registry.names():
        try:
            application = registry.find(name)
        except registry.BrokenApplication as error:
            what, _, remedy = str(error).rpartition("; ")
            findings.append(warning(f"application {name}", what, remedy))
            continue
        for part in availability(application):
            if part.ready:
                findings.append(ok(f"application {part.name}", "ready"))
                continue
            findings.append(
                warning(
                    f"application {part.name}",
                    "; ".join(item.what for item in part.missing),
                    "; ".join(dict.fromkeys(item.remedy for item in part.missing)),
                )
            )
    return findings


def iperf3() -> Finding:
    """Look for the generator of real interference; ghost interference needs nothing."""
    if IPERF3.missing():
        return warning(
            "iperf3",
            "not there; conditions that say `by: iperf3` cannot run",
            "crosswind apps install iperf3",
        )
    return ok("iperf3", "there")


def disk() -> Finding:
    """Judge the space where trials keep their files."""
    try:
        folder = work_folder_root()
    except NotHere as error:
        what, _, remedy = str(error).partition("; ")
        return missing("disk", what, remedy)
    free_bytes = shutil.disk_usage(folder).free
    found = f"{memory_text(free_bytes)} free in {folder}"
    if free_bytes < DISK_BYTES_WANTED:
        return warning(
            "disk", found, "free some space, or set CROSSWIND_WORK_DIR to a folder on another disk"
        )
    return ok("disk", found)
