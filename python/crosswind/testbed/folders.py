"""Folders of files that are not results: caches, work folders of running trials, sockets.

For root they are system folders that the unprivileged account of the application can traverse (`/var/cache`,
`/var/tmp`); otherwise they are the user's XDG folders. `CROSSWIND_CACHE_DIR`, `CROSSWIND_WORK_DIR`,
`CROSSWIND_STATE_DIR` and `CROSSWIND_RUNTIME_DIR` name other ones.
"""

import fcntl
import os
import shutil
import stat
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import BinaryIO

import platformdirs

from crosswind.testbed.errors import NotHere

LOCK_NAME = "in-use"


def cache_folder() -> Path:
    """Return the folder of files that can be made again: prepared data and private packages."""
    return _own_folder("CROSSWIND_CACHE_DIR", Path("/var/cache/crosswind"), "cache", 0o755)


def work_folder_root() -> Path:
    """Return the folder that has the work folder of each run."""
    return _own_folder("CROSSWIND_WORK_DIR", Path("/var/tmp/crosswind"), "work", 0o755)


def state_folder() -> Path:
    """Return the folder of records that must outlive runs and restarts: machines made by providers."""
    return _own_folder("CROSSWIND_STATE_DIR", Path("/var/lib/crosswind"), "state", 0o700)


def runtime_folder() -> Path:
    """Return the folder of the sockets of `crosswind up`."""
    session = os.environ.get("XDG_RUNTIME_DIR")
    as_user = Path(session) / "crosswind" if session else None
    return _own_folder("CROSSWIND_RUNTIME_DIR", as_user or Path("/run/crosswind"), "run", 0o700)


def _own_folder(variable: str, of_root: Path, of_user: str, mode: int) -> Path:
    """Make a folder and check that it belongs to this user.

    On a shared machine, root must not write into a folder that another account made in a world-writable
    place.
    """
    declared = os.environ.get(variable)
    session = os.environ.get("XDG_RUNTIME_DIR")
    if declared:
        folder = Path(declared)
    elif os.geteuid() == 0 or (session and of_root.is_relative_to(session)):
        folder = of_root
    else:
        folder = Path(platformdirs.user_cache_dir("crosswind")) / of_user
    try:
        folder.mkdir(mode=mode, parents=True, exist_ok=True)
    except OSError as error:
        raise NotHere(f"{folder}: {error.strerror}; set {variable} to a folder you can write") from error
    owner = folder.stat().st_uid
    if owner != os.geteuid():
        raise NotHere(
            f"{folder}: belongs to user {owner}, not to you ({os.geteuid()}); "
            f"set {variable} to a folder of your own"
        )
    return folder


class WorkFolder:
    """A run's own folder for the files of the trial in progress; removed when the run ends.

    Args:
        keep: it stays, with the files of the last trial, until `crosswind cleanup`.

    It has a file with a lock that the kernel releases when this process ends. `cleanup` recognises the folder
    of a dead run by it.
    """

    def __init__(self, *, keep: bool = False) -> None:
        self.is_kept = keep
        self.path = Path(tempfile.mkdtemp(prefix="run-", dir=work_folder_root()))
        # The application runs under another account and has to reach its own folders below.
        self.path.chmod(0o755)
        self._lock = os.open(self.path / LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)

    def fresh(self, name: str, uid: int, gid: int) -> Path:
        """Return an empty folder below this one that belongs to the application's account."""
        folder = self.path / name
        remove_tree(folder)
        folder.mkdir(mode=0o700)
        give(folder, uid, gid)
        return folder

    def __enter__(self) -> "WorkFolder":
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if self.is_kept:
            # Without its lock it does not look like that of a killed run, which the next one removes.
            (self.path / LOCK_NAME).unlink(missing_ok=True)
        else:
            remove_tree(self.path)
        os.close(self._lock)


def stale_work_folders() -> list[Path]:
    """Return the work folders whose run no longer exists."""
    return [folder for folder in sorted(work_folder_root().glob("run-*")) if not is_in_use(folder)]


def is_in_use(folder: Path) -> bool:
    """Return whether the process that made this work folder still runs.

    A folder without a lock is being made now, unless it is older than a minute.
    """
    try:
        lock = os.open(folder / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
    except FileNotFoundError:
        return folder.exists() and time.time() - folder.stat().st_mtime < 60
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    finally:
        os.close(lock)
    return False


def give(path: Path, uid: int, gid: int) -> None:
    """Give one file or folder to the application's account, unless this process has that account."""
    if os.geteuid() == 0:
        os.chown(path, uid, gid)


def give_tree(path: Path, uid: int, gid: int) -> None:
    """Give a folder and everything in it to the application's account."""
    if os.geteuid() != 0:
        return
    os.chown(path, uid, gid)
    for folder, subfolders, files in os.walk(path):
        for name in subfolders + files:
            os.chown(Path(folder) / name, uid, gid, follow_symlinks=False)


def open_below(folder: Path, path: Path, flags: int) -> BinaryIO:
    """Open a file below a folder without following a symbolic link in it.

    Args:
        flags: as of `os.open`; a new file, and a folder that leads to it, belong to this process, and nobody
            else can read them.
    Raises: OSError: a name on the way is missing, a link or `..`, or the file is not a plain one.
    """
    *above, name = path.relative_to(folder).parts
    if ".." in (*above, name):
        raise OSError(f"{path}: leads out of {folder}")
    place = os.open(folder, os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        for part in above:
            if flags & os.O_CREAT:
                with suppress(FileExistsError):
                    os.mkdir(part, 0o700, dir_fd=place)
            below = os.open(part, os.O_DIRECTORY | os.O_NOFOLLOW | os.O_CLOEXEC, dir_fd=place)
            os.close(place)
            place = below
        # A pipe would otherwise be waited for.
        flags |= os.O_NOFOLLOW | os.O_CLOEXEC | os.O_NONBLOCK
        opened = os.open(name, flags, 0o600, dir_fd=place)
    finally:
        os.close(place)
    if not stat.S_ISREG(os.fstat(opened).st_mode):
        os.close(opened)
        raise OSError(f"{path}: is not a file")
    return os.fdopen(opened, "rb" if flags & os.O_ACCMODE == os.O_RDONLY else "wb")


def remove_tree(path: Path) -> None:
    """Remove a folder that may not exist.

    Raises:
        OSError: something in it cannot be removed; the message names it.
    """
    try:
        shutil.rmtree(path)
    except FileNotFoundError:
        return
