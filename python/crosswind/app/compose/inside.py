"""Paths in a root file system: followed as a process in it would follow them, whatever its links say."""

from __future__ import annotations

from pathlib import Path

from crosswind.testbed.errors import TestbedError

# As many as the kernel follows: path_resolution(7).
_LINKS_MAX = 40


def inside(root: Path, path: str) -> Path:
    """Return where `path`, as a process sees it whose root is `root`, lies on the host.

    Links are followed within the root, the last one included; what does not exist is taken as it is written.

    Raises: TestbedError: the links lead in a circle.
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
            raise TestbedError(f"{path}: its links lead in a circle, in the image at {root}")
        target = str(step.readlink())
        if target.startswith("/"):
            found = root
        waiting += target.split("/")[::-1]
    return found
