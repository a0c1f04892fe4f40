"""Describe errors of the machine: no permission, no disk space, no memory. They are not bugs of Crosswind."""

from __future__ import annotations

import errno
import os
import resource
from pathlib import Path

from crosswind.errors import CrosswindError, Exit

_NO_PERMISSION = (errno.EACCES, errno.EPERM, errno.EROFS)
_VANISHED = (errno.ENOENT, errno.ENOTDIR, errno.ESTALE)
# SQLite and the loader of shared objects give no error number.
_NO_PERMISSION_WORDS = ("readonly database", "unable to open database")
_NO_MEMORY_WORDS = ("map segment from shared", "annot allocate memory", "ut of Memory", "start new thread")


class MachineRefused(CrosswindError):
    """The machine refuses an operation that Crosswind needs."""

    exit = Exit.PREFLIGHT


class NoRoomLeft(CrosswindError):
    """A file system is full; stored results are intact."""

    exit = Exit.TRIALS


def refused_by_machine(error: Exception) -> CrosswindError | None:
    """Return the error to show if the machine refused something; None if it did not."""
    number = error.errno if isinstance(error, OSError) else None
    if isinstance(error, MemoryError) or number == errno.ENOMEM or _has_words(error, _NO_MEMORY_WORDS):
        return MachineRefused(f"no memory left{_limit_of_memory()}")
    from crosswind.runner.disk import is_disk_full

    place = error.filename if isinstance(error, OSError) and error.filename is not None else None
    where = "" if place is None else f"{os.fsdecode(place)}: "
    if is_disk_full(error):
        return NoRoomLeft(f"{where}no room left ({error}); stored results are intact; free some space")
    if number == errno.EAGAIN and place is not None:
        return MachineRefused(f"{where}no more processes allowed; raise the limit (`ulimit -u`)")
    if number in _NO_PERMISSION and place is not None:
        reason = os.strerror(number or 0).lower()
        return MachineRefused(f"{where}{reason}; name a file or folder that you may use")
    if _has_words(error, _NO_PERMISSION_WORDS):
        return MachineRefused(f"results: cannot be written ({error}); make the folder writable, or copy it")
    if number in _VANISHED and place is not None:
        return MachineRefused(f"{where}{os.strerror(number or 0).lower()}; was it removed meanwhile?")
    return None


def require_writable(path: Path, remedy: str) -> None:
    """Check that a file or folder can be written or made, before any other work.

    Raises: MachineRefused: it cannot; the message ends with `remedy`.
    """
    try:
        if path.exists():
            above, needed = path, os.W_OK | (os.X_OK if path.is_dir() else 0)
        else:
            above, needed = path.absolute().parent, os.W_OK | os.X_OK
            while not above.exists() and above != above.parent:
                above = above.parent
        if above != path and not above.is_dir():
            raise MachineRefused(f"{path}: cannot be made, because {above} is not a folder; {remedy}")
        if not os.access(above, needed):
            what = "cannot be written" if above == path else f"cannot be made in {above}"
            raise MachineRefused(f"{path}: {what}: {_why(above)}; {remedy}")
    except OSError as error:
        raise MachineRefused(f"{path}: {(error.strerror or str(error)).lower()}; {remedy}") from None


def _why(path: Path) -> str:
    read_only = os.statvfs(path).f_flag & os.ST_RDONLY
    return os.strerror(errno.EROFS if read_only else errno.EACCES).lower()


def _limit_of_memory() -> str:
    limit_bytes, _ = resource.getrlimit(resource.RLIMIT_AS)
    if limit_bytes == resource.RLIM_INFINITY:
        return "; close other programs, or use a machine with more"
    return f": this process may have {limit_bytes / 1e9:.3g} GB (`ulimit -v`); raise the limit"


def _has_words(error: Exception, words: tuple[str, ...]) -> bool:
    """Return whether an error or its cause has one of `words`: imports wrap errors of the loader."""
    causes = (error, error.__cause__, error.__context__)
    return any(word in str(cause) for cause in causes if cause is not None for word in words)
