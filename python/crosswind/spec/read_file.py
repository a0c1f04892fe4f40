"""Read a file that a user names: an ordinary file, and not more of it than fits."""

from __future__ import annotations

import errno
import os
import stat
from pathlib import Path

# Of what an experiment or a command line names: measurements and captures, all of which is kept in memory.
MEASUREMENT_BYTES_MAX = 1 << 30

_KINDS = {
    stat.S_IFIFO: "is a named pipe",
    stat.S_IFCHR: "is a device",
    stat.S_IFBLK: "is a device",
    stat.S_IFSOCK: "is a socket",
    stat.S_IFDIR: "is a directory",
}


def require_file(path: str | os.PathLike[str]) -> None:
    """Check that a path is an ordinary file: a pipe would block for ever, a device may have no end.

    Raises: OSError: it is none, or is not there; `strerror` says what it is.
    """
    kind = stat.S_IFMT(Path(path).stat().st_mode)
    if kind != stat.S_IFREG:
        number = errno.EISDIR if kind == stat.S_IFDIR else errno.EINVAL
        raise OSError(number, _KINDS.get(kind, "is no file"), os.fspath(path))


def read_file(path: str | os.PathLike[str], most_bytes: int = MEASUREMENT_BYTES_MAX) -> bytes:
    """Return the content of an ordinary file.

    Raises: OSError: it cannot be read, is no ordinary file, or is larger; `strerror` says which.
    """
    require_file(path)
    with Path(path).open("rb") as file:
        content = file.read(most_bytes + 1)
    if len(content) > most_bytes:
        raise OSError(errno.EOVERFLOW, f"has more than {most_bytes} bytes", os.fspath(path))
    return content
