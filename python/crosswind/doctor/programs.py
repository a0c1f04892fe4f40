"""Check Crosswind's own programs, the applications, and the disk space for their data."""

from __future__ import annotations

import shutil

from crosswind.app import BrokenPlugin, find, names
from crosswind.app.availability import availability
from crosswind.doctor.finding import Finding, missing, ok, warning
from crosswind.machine.provenance import tool_version
from crosswind.testbed import NotHere, find_binary
from crosswind.testbed.backend_programs import missing_programs
from crosswind.testbed.binaries import AGENT, LOAD, binary_version
from crosswind.testbed.folders import work_folder_root
from crosswind.text.quantities import memory_text

REINSTALL = "install all parts from one version: pip install --force-reinstall crosswind"
# For a database of some hundred thousand records, its working copy, and the samples of a run.
DISK_BYTES_WANTED = 2 << 30
# The version of the Python part when it runs from its source tree and is not installed.
_UNPACKAGED = "unpackaged"


def look_at_programs() -> list[Finding]:
    """Return findings about binaries, their versions, applications, backends and disk space."""
    return [*binaries(), *applications(), backends(), disk()]


def binaries() -> list[Finding]:
    """Find both programs and compare their versions with each other and with the Python part."""
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
    """Judge whether programs that work together have the same version."""
    known = {version for version in found.values() if version != _UNPACKAGED}
    listed = ", ".join(f"{name} {version}" for name, version in found.items())
    return ok("versions", "agree") if len(known) == 1 else missing("versions", listed, REINSTALL)


def applications() -> list[Finding]:
    """Report the applications that are ready, in one line; `plan` checks those of an experiment.

    An application that cannot be loaded is a damaged package and gets its own line.
    """
    ready, findings = list[str](), list[Finding]()
    lacking = 0
    for name in names():
        try:
            parts = availability(find(name))
        except BrokenPlugin as error:
            what, _, remedy = str(error).rpartition("; ")
            findings.append(warning(f"application {name}", what, remedy))
            continue
        ready += [part.name for part in parts if part.ready]
        lacking += sum(not part.ready for part in parts)
    found = f"ready: {', '.join(ready) or 'none'}"
    if lacking:
        found += f"; not installed: {lacking}, see `crosswind apps`"
    return [ok("applications", found), *findings]


def backends() -> Finding:
    """Report which backends besides the emulator have their programs; none is needed."""
    states = []
    for name in ("ovs", "tc"):
        lacking = missing_programs(name)
        states.append(f"{name} {'; '.join(each.partition('; ')[2] for each in lacking) or 'ready'}")
    return ok("other backends", f"{', '.join(states)}; none is needed")


def disk() -> Finding:
    """Judge the disk space for files of trials."""
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
