"""A disk without room: how it is recognised, and what it does to a run."""

import errno
from pathlib import Path

from crosswind.errors import CrosswindError, Exit

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# DuckDB and SQLite give no number. SQLite reports a write beyond a quota as an I/O error.
_WORDS = ("No space left", "disk is full", "File too large", "disk I/O error")


class DiskFull(CrosswindError):
    """The results cannot grow any more; what is stored is intact."""

    exit = Exit.TRIALS

    def __init__(self, folder: Path, what: str, error: Exception) -> None:
        super().__init__(
            f"{folder}: no room left for {what} ({error}); what is stored is intact; free some space"
        )


def is_disk_full(error: Exception) -> bool:
    """Tell whether an error means that a file system has no room."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return any(words in str(error) for words in _WORDS)
