"""The user of a service: numbers, or names in its image."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from crosswind.app.compose.inside import inside
from crosswind.testbed.errors import TestbedError


def account_of(user: str, root: Path) -> tuple[int, int]:
    """Return the user and group id that `user` or `user:group` means in a root file system.

    A number need not exist there; its group is then the same number.

    Raises: TestbedError: a name does not exist there, or is root.
    """
    name, _, group = user.partition(":")
    entry = next((fields for fields in _entries(root, "passwd") if name in (fields[0], fields[2])), None)
    if entry is None and not name.isdecimal():
        raise TestbedError(f'user "{user}": the image has no such user; write its number')
    uid = int(name) if entry is None else int(entry[2])
    gid = _group(group, user, root) if group else (uid if entry is None else int(entry[3]))
    if uid == 0 or gid == 0:
        raise TestbedError(
            f'user "{user}": is root in the image, but services never run as root; name another'
        )
    return uid, gid


def _group(group: str, user: str, root: Path) -> int:
    if group.isdecimal():
        return int(group)
    for fields in _entries(root, "group"):
        if fields[0] == group:
            return int(fields[2])
    raise TestbedError(f'user "{user}": the image has no such group; write its number')


def _entries(root: Path, database: str) -> Iterator[list[str]]:
    file = inside(root, f"/etc/{database}")
    for line in file.read_text(errors="replace").splitlines() if file.is_file() else ():
        fields = line.split(":")
        if len(fields) > 3 and fields[2].isdecimal():
            yield fields
