"""A file of JSON lines to which one process at a time appends; a line is on disk when `append` returns.

A last line without a newline was being written when its writer was killed. It is cut off before the next line
is appended, and not earlier: the file may be somebody else's.
"""

from __future__ import annotations

import fcntl
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Self

from crosswind.errors import CrosswindError
from crosswind.results.durable import sync_folder


class RegimeFileError(CrosswindError):
    """A file is no regime, or a different one; the message gives the place and the remedy."""


# How much of the first line is the same in every file.
_SIGN_BYTES = len('{"schema": ')


class AppendedLines:
    """The file, open for appending.

    Attributes:
        content: what it had; None for a new file.
    """

    def __init__(self, descriptor: int, content: bytes | None) -> None:
        self._descriptor = descriptor
        self.content = content
        self._whole_bytes = None if content is None else content.rfind(b"\n") + 1

    @classmethod
    @contextmanager
    def open(cls, path: Path, first_line: bytes, needed_bytes: float) -> Iterator[Self]:
        """Create a file with its first line, or open one.

        Args:
            needed_bytes: size of the whole measurement, which must fit on the disk.
        Raises: RegimeFileError: another process writes it, or the disk is full.
        """
        _refuse_without_room(path, needed_bytes)
        descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_APPEND | os.O_CLOEXEC, 0o644)
        try:
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            except BlockingIOError:
                raise RegimeFileError(
                    f"{path}: another `crosswind fingerprint` writes it; wait until it ends"
                ) from None
            content = path.read_bytes()
            # A process that was killed while it wrote the first line leaves a part of it.
            if b"\n" not in content and first_line.startswith(content[:_SIGN_BYTES]):
                os.ftruncate(descriptor, 0)
                file = cls(descriptor, None)
                file.append(first_line)
                sync_folder(path.absolute().parent)
            else:
                file = cls(descriptor, content)
            yield file
        finally:
            os.close(descriptor)

    def append(self, line: bytes) -> None:
        """Append a line, which ends with a newline."""
        if self._whole_bytes is not None:
            os.ftruncate(self._descriptor, self._whole_bytes)
            self._whole_bytes = None
        os.write(self._descriptor, line)
        os.fdatasync(self._descriptor)


def _refuse_without_room(path: Path, needed_bytes: float) -> None:
    free_bytes = shutil.disk_usage(path.absolute().parent).free
    if needed_bytes > free_bytes:
        raise RegimeFileError(
            f"{path}: takes up to {needed_bytes / 1e6:.0f} MB, and {free_bytes / 1e6:.0f} MB are free on the "
            "disk; measure for less time, or increase --point"
        )
