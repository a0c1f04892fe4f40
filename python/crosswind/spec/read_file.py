"""Read a file that a user names, with a limit on its size; it must be an ordinary file."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Limit for measurements and captures that a user names; they are read into memory.
MEASUREMENT_BYTES_MAX = 1 << 30

_KINDS = {
    stat.S_IFIFO: "is a named pipe",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFDIR: "is a directory",
}


def require_file(path: str | os.PathLike[str]) -> None:
    """Check that a path is an ordinary file: reading a pipe would block, and a device may have no end.

    Raises: OSError: it does not exist or is not an ordinary file; `strerror` names the kind.
    """
    kind = stat.S_IFMT(Path(path).stat().st_mode)
    if kind != stat.S_IFREG:
        number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(number, _KINDS.get(kind, "is not a file"), os.fspath(path))


def read_file(path: str | os.PathLike[str], most_bytes: int = MEASUREMENT_BYTES_MAX) -> bytes:
    """Return the content of an ordinary file.

    Raises: OSError: it cannot be read, is not an ordinary file, or is larger; `strerror` says which.
    """
    require_file(path)
    with Path(path).open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EOVERFLOW, f"has more than {most_bytes} bytes", os.fspath(path))
    return content
