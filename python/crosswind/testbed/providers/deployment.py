"""What this machine records of machines that were made for a run: their tag and key, and whether it runs.

The record is written before anything is made. It says after a crash which machines are nobody's.
"""

from __future__ import annotations

import fcntl
import json
import os
import re
import secrets
import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from types import TracebackType
from typing import Self

import psutil

from crosswind.testbed.errors import NotHere
from crosswind.testbed.folders import LOCK_NAME, state_folder
from crosswind.testbed.providers.base import TAG_PREFIX

TAG = re.compile(rf"{TAG_PREFIX}[0-9a-f]{{8}}")
# A process that makes machines, and outlives this one.
_PROCESS = "process.json"


class Deployment:
    """A folder with a tag's name. A lock in it is held while its run lives; the kernel releases it."""

    def __init__(self, tag: str) -> None:
        self.tag = tag
        self.path = _folder() / tag
        self._lock: int | None = None

    @classmethod
    def new(cls) -> Deployment:
        """Return one with a tag that no other has."""
        return cls(f"{TAG_PREFIX}{secrets.token_hex(4)}")

    @property
    def key(self) -> Path:
        """The private key for ssh."""
        return self.path / "key"

    @property
    def known_hosts(self) -> Path:
        """The machines' own keys."""
        return self.path / "known_hosts"

    def __enter__(self) -> Self:
        """Write the record: a folder with a lock, and a new pair of keys."""
        self.path.mkdir(mode=0o700)
        self._lock = os.open(self.path / LOCK_NAME, os.O_CREAT | os.O_RDWR | os.O_CLOEXEC, 0o600)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self.known_hosts.touch(mode=0o600)
        words = ["ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self.tag, "-f", str(self.key)]
        try:
            subprocess.run(words, check=True, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL)
        except FileNotFoundError:
            raise NotHere(
                "ssh-keygen: not found on PATH; install OpenSSH's client (openssh-client)"
            ) from None
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Release the lock; the record stays until `forget`."""
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    @contextmanager
    def while_running(self, pid: int) -> Iterator[None]:
        """Record a process that makes machines and does not end with this one, while the block runs."""
        record = self.path / _PROCESS
        record.write_text(json.dumps({"pid": pid, "started_s": psutil.Process(pid).create_time()}))
        try:
            yield
        finally:
            record.unlink(missing_ok=True)

    def used_by(self) -> str | None:
        """Return what uses the machines at present; None: nothing on this machine."""
        try:
            lock = os.open(self.path / LOCK_NAME, os.O_RDWR | os.O_CLOEXEC)
        except FileNotFoundError:
            return None
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
        except BlockingIOError:
            return "an active run"
        finally:
            os.close(lock)
        return self._process()

    def _process(self) -> str | None:
        try:
            recorded = json.loads((self.path / _PROCESS).read_text())
            alive = psutil.Process(recorded["pid"]).create_time() == recorded["started_s"]
        except (OSError, ValueError, KeyError, psutil.NoSuchProcess):
            return None
        return f"process {recorded['pid']}, which makes machines" if alive else None

    def forget(self) -> None:
        """Remove the record, because nothing with its tag is left."""
        shutil.rmtree(self.path, ignore_errors=True)


def recorded() -> list[Deployment]:
    """Return those that have a record on this machine."""
    return [Deployment(path.name) for path in sorted(_folder().iterdir()) if TAG.fullmatch(path.name)]


def _folder() -> Path:
    folder = state_folder() / "machines"
    folder.mkdir(mode=0o700, exist_ok=True)
    return folder
