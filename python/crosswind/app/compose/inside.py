"""Paths in a root file system, resolved as a process in it would resolve them; no link leads out of it."""

from __future__ import annotations

from pathlib import Path

from crosswind.testbed.errors import TestbedError

# The kernel's limit: path_resolution(7).
_LINKS_MAX = 40


def inside(root: Path, path: str) -> Path:
    """Return the path on the host of `path` in a root file system.

    Links are followed within the root, the last one included. Parts that do not exist are not changed.

    Raises: TestbedError: the links form a cycle.
    """
    waiting = path.split("/")[::-1]
    found = root
    links = 0
    while waiting:
        part = waiting.pop()
        if part in ("", "."):
            continue
        if part == "..":
            found = found.parent if found != root else root
            continue
        step = found / part
        if not step.is_symlink():
            found = step
            continue
        links += 1
        if links > _LINKS_MAX:
            raise TestbedError(f"{path}: its links form a cycle, in the image at {root}")
        target = str(step.readlink())
        if target.startswith("/"):
            found = root
        waiting += target.split("/")[::-1]
    return found
