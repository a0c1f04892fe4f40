"""One writer for a results folder: a lock of the kernel, released when the process that holds it ends."""

import fcntl
import os
import shlex
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from crosswind.errors import CrosswindError

_NAME = "writer.lock"


class FolderInUse(CrosswindError):
    """Another process writes this results folder."""

    def __init__(self, folder: Path, holder: str) -> None:
        super().__init__(f"{folder}: {holder} writes it; wait until that process has ended, or end it")


@contextmanager
def only_writer(folder: Path) -> Iterator[None]:
    """Keep every other process from writing a results folder while the block runs.

    The file stays when the block ends: if it were removed, two processes could lock two files with the same
    name. Its content names the holder in the error of other processes.

    Raises: FolderInUse: another process has the lock; names its process id and its command.
    """
    lock = os.open(folder / _NAME, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o644)
    try:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            # A holder that has just started has not written its name yet.
            holder = os.pread(lock, 4096, 0).decode(errors="replace").strip() or "another process"
            raise FolderInUse(folder, holder) from None
        program, *arguments = sys.argv
        command = shlex.join([Path(program).name, *arguments])
        os.ftruncate(lock, 0)
        os.pwrite(lock, f"process {os.getpid()} ({command})\n".encode(), 0)
        yield
    finally:
        os.close(lock)
