"""A private folder below the cache for each installation: complete, or not there.

A record is written last. A folder without a record was left by a killed installation; the next installation
removes it. Installations into the same folder wait for each other. Tools inherit the lock, so a tool that
outlives a killed installation must end before another process writes into the folder.
"""

import fcntl
import hashlib
import json
import os
import shlex
import stat
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING

from crosswind.results.durable import write_text
from crosswind.testbed.folders import cache_folder, remove_tree

if TYPE_CHECKING:
    from _typeshed import DataclassInstance

_RECORD = "installed.json"


class PrivateFolder:
    """The folder of one installation.

    Args:
        kind: of requirement, such as `debian`.
        name: of the requirement.
        requested: a dataclass with all that decides what is installed; another value is another folder.
    """

    def __init__(self, kind: str, name: str, requested: "DataclassInstance") -> None:
        text = json.dumps(asdict(requested), sort_keys=True)
        digest = hashlib.sha256(text.encode()).hexdigest()[:8]
        self._parts = (kind, f"{name}-{digest}")

    @property
    def path(self) -> Path:
        """Where it is, or will be."""
        return cache_folder().joinpath("requirements", *self._parts)

    @property
    def is_complete(self) -> bool:
        """Whether an installation has ended well."""
        return (self.path / _RECORD).is_file()

    @property
    def record(self) -> dict[str, str]:
        """Name -> version and checksum of what was installed."""
        record: dict[str, str] = json.loads((self.path / _RECORD).read_text())
        return record

    def declared(self, brought: Mapping[str, str]) -> str:
        """Return the command that marks the folder as complete after a user has filled it by hand.

        Args:
            brought: name -> version; only `install` records checksums.
        """
        record = json.dumps(dict(brought), sort_keys=True)
        return f"echo {shlex.quote(record)} > {shlex.quote(str(self.path / _RECORD))}"

    @contextmanager
    def installing(
        self, say: Callable[[str], None], is_there: Callable[[], bool]
    ) -> Iterator["Fresh | None"]:
        """Yield an empty folder to install into; None if another process has installed it meanwhile.

        The block fills the `record` of the folder. If the block fails, the folder is removed.

        Args:
            is_there: whether it is installed already; called once the lock is held.
        """
        self.path.parent.mkdir(parents=True, exist_ok=True)
        for folder in (self.path.parent, self.path.parent.parent):
            folder.chmod(0o755)
        lock_path = self.path.with_name(f".{self.path.name}.lock")
        lock = os.open(lock_path, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        try:
            _await_turn(lock, say)
            if is_there():
                yield None
                return
            remove_tree(self.path)
            self.path.mkdir()
            self.path.chmod(0o755)
            fresh = Fresh(self.path, lock)
            try:
                yield fresh
            except BaseException:
                remove_tree(self.path)
                raise
            make_readable(self.path)
            write_text(self.path / _RECORD, json.dumps(fresh.record, indent=2, sort_keys=True) + "\n")
        finally:
            os.close(lock)


class Fresh:
    """An empty folder that is being installed into.

    Attributes:
        path: the folder; it is never moved, because some tools write its path into files.
        lock: a descriptor that every tool that writes into the folder must inherit.
        record: to be filled: name -> version and checksum of what was installed.
    """

    def __init__(self, path: Path, lock: int) -> None:
        self.path = path
        self.lock = lock
        self.record: dict[str, str] = {}


def _await_turn(lock: int, say: Callable[[str], None]) -> None:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        say("another process is installing the same; waiting for its end")
        fcntl.flock(lock, fcntl.LOCK_EX)


def make_readable(root: Path) -> None:
    """Let every account read all files below a folder, and execute those that their owner can execute.

    Set-user-id bits are removed: a package manager updates such programs, but nothing updates this copy.
    """
    for folder, subfolders, files in os.walk(root):
        for name in (*subfolders, *files):
            path = Path(folder) / name
            mode = path.lstat().st_mode
            if stat.S_ISLNK(mode):
                continue
            wanted = 0o755 if stat.S_ISDIR(mode) or mode & 0o100 else 0o644
            if stat.S_IMODE(mode) != wanted:
                path.chmod(wanted)
