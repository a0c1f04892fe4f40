"""Files that are there completely or not at all, whatever kills the process or the machine."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """Give a temporary path to write to; it takes the place of `path` when the block succeeds, and goes when
    it fails.

    File and folder are flushed to disk first, so a journal entry written afterwards never points at nothing.
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
    """Write a text file durably and at once."""
    with replacing(path) as temporary:
        temporary.write_text(text)


def sync_folder(folder: Path) -> None:
    """Flush a folder's entries to disk."""
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
