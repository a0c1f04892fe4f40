"""Files that exist as a whole or not at all, even if the process or the machine is killed."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it replaces `path` when the block succeeds, and is removed
    otherwise.

    File and folder are flushed to disk, so a file that a later journal entry names always exists.
    """
    temporary = path.with_name(f".{path.name}.part")
    # A process that was killed may have left one.
    temporary.unlink(missing_ok=True)
    try:
        yield temporary
        with temporary.open("rb") as written:
            os.fsync(written.fileno())
        temporary.replace(path)
        sync_folder(path.parent)
    finally:
        temporary.unlink(missing_ok=True)


def write_text(path: Path, text: str) -> None:
    """Write a text file durably and as a whole."""
    with replacing(path) as temporary:
        temporary.write_text(text)


def sync_folder(folder: Path) -> None:
    """Flush the entries of a folder to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
