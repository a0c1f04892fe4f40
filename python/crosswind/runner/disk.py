"""A full disk: how it is recognised, and how it ends a run."""

import errno
from pathlib import Path

from crosswind.errors import CrosswindError, Exit

_NO_ROOM = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
# Errors of DuckDB and SQLite have no number. SQLite reports a write beyond a quota as an I/O error.
_WORDS = ("No space left", "disk is full", "File too large", "disk I/O error")


class DiskFull(CrosswindError):
    """The results cannot grow; what is stored is intact."""

    exit = Exit.TRIALS

    def __init__(self, folder: Path, what: str, error: Exception) -> None:
        super().__init__(
            f"{folder}: no room left for {what} ({error}); what is stored is intact; free some space"
        )


def is_disk_full(error: Exception) -> bool:
    """Return whether an error means that a file system is full."""
    if isinstance(error, OSError):
        return error.errno in _NO_ROOM
    return any(words in str(error) for words in _WORDS)
