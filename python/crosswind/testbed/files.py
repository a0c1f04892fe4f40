"""Files of a machine: of this one, or of another, where the agent reads and writes them (contracts.md, 2).

An application writes its files here, in the work folder of the run. On another machine the same folder has
the same path: before a process starts there, what is new here is copied there, and what the process writes is
read from there.

That machine may lie about what it has. Nothing is written here but the file that is being fetched, no link is
followed to it, and it has no more bytes than the machine first said.
"""

from __future__ import annotations

import base64
import hashlib
import os
import threading
from collections.abc import Collection, Iterator, Sequence
from pathlib import Path
from typing import BinaryIO, Literal, Protocol

from crosswind.testbed.agent import Agent
from crosswind.testbed.binaries import LOAD, find_binary
from crosswind.testbed.folders import WorkFolder, open_below
from crosswind.testbed.read_file import PIECE_BYTES, HereFile, ReadFile, ThereFile
from crosswind.testbed.replies import FolderMade, Reply

# A smaller file travels as fast as a request to copy it.
STORED_BYTES_MIN = 4096

Owner = Literal["agent", "application"]


class MachineFiles(Protocol):
    """What a fabric does with the files of one machine."""

    def output(self, here: Path) -> tuple[Path, ReadFile]:
        """Return where the machine writes an output that belongs at `here`, and the file for reading it."""

    def send_programs(self, folders: Sequence[Path]) -> None:
        """Copy folders of programs there, into the folder of the run."""

    def word(self, word: str) -> str:
        """Return a word of a command line, or the value of a variable, as the machine needs it."""

    def fresh(self, folder: Path, elsewhere: Collection[str] = ()) -> None:
        """Make the folder empty that has just been made here.

        Args:
            elsewhere: nodes of other machines: folders with their names, directly in it, are only for them.
        """

    def send(self) -> None:
        """Copy there what is new here; a process that needs it starts next."""

    def bring(self, path: Path) -> None:
        """Copy here what a process has written there, to the same path.

        Raises: FileNotFoundError: there is no such file.
        """

    def place_written(self, here: Sequence[Path]) -> list[Path]:
        """Return where the machine's agent writes files that belong at `here`, while a fabric is up."""

    def bring_written(self, there: Path, here: Path) -> None:
        """Copy one of them here, when the fabric is down."""

    def bring_output(self, here: Path, ends: tuple[int, int] | None = None) -> None:
        """Copy an output here, when its process has ended.

        Args:
            ends: bytes of head and tail: what is between them is a hole here; None: all of it.
        """


class HereFiles:
    """Files of this machine, or of one that has the same file system: there is nothing to copy."""

    def output(self, here: Path) -> tuple[Path, ReadFile]:
        here.parent.mkdir(parents=True, exist_ok=True)
        return here, HereFile(here)

    def send_programs(self, folders: Sequence[Path]) -> None:
        return

    def word(self, word: str) -> str:
        return word

    def fresh(self, folder: Path, elsewhere: Collection[str] = ()) -> None:
        return

    def send(self) -> None:
        return

    def bring(self, path: Path) -> None:
        return

    def place_written(self, here: Sequence[Path]) -> list[Path]:
        return list(here)

    def bring_written(self, there: Path, here: Path) -> None:
        return

    def bring_output(self, here: Path, ends: tuple[int, int] | None = None) -> None:
        return


class ThereFiles:
    """Files of another machine.

    Every trial begins with an empty folder, and many with the same data. So what a trial gets is stored there
    under its SHA-256, and a later trial gets a copy. What the last trial did not need is removed.

    Args:
        folder: the work folder of the run, here and there.
    """

    def __init__(self, agent: Agent, folder: Path) -> None:
        self._agent = agent
        self._folder = folder
        # Processes may be started from several threads.
        self._lock = threading.Lock()
        self._fresh: Path | None = None
        self._elsewhere: Collection[str] = ()
        self._sent: dict[Path, tuple[int, int]] = {}  # Modification and size of what is there.
        self._stored: set[str] = set()  # SHA-256 of files there.
        self._needed: set[str] = set()  # Of those, what this trial needs.
        self._outputs: dict[Path, ThereFile] = {}
        self._load: Path | None = None
        self._programs: dict[str, str] = {}

    def output(self, here: Path) -> tuple[Path, ReadFile]:
        with self._lock:
            # Processes with one name on one node write into one file, one after the other.
            if here not in self._outputs:
                # A folder for each, because processes on different nodes may have the same name.
                there = self._folder / "logs" / str(len(self._outputs)) / here.name
                self._make(there.parent, "agent")
                self._outputs[here] = ThereFile(self._agent, there)
            found = self._outputs[here]
        return found.path, found

    def send_programs(self, folders: Sequence[Path]) -> None:
        with self._lock:
            for folder in folders:
                there = self._folder / "programs" / folder.name
                for path in _programs_below(folder, frozenset({folder.resolve()})):
                    mode = path.stat().st_mode & 0o777
                    self._put_checked(path, there / path.relative_to(folder), "agent", mode)
                self._programs[str(folder)] = str(there)

    def word(self, word: str) -> str:
        """Return it with the paths of programs that were copied; other programs are where they are here."""
        here = find_binary(LOAD)
        if word != str(here):
            for copied, there_is in self._programs.items():
                word = word.replace(copied, there_is)
            return word
        with self._lock:
            if self._load is None:
                there = self._folder / "programs" / LOAD
                self._put_checked(here, there, "agent", 0o755)
                self._load = there
        return str(self._load)

    def fresh(self, folder: Path, elsewhere: Collection[str] = ()) -> None:
        with self._lock:
            self._sent.clear()
            self._outputs.clear()
            for stale in (folder, self._folder / "logs"):
                self._agent.request("clear", Reply, {"path": str(stale)})
            for unneeded in self._stored - self._needed:
                self._agent.request("clear", Reply, {"path": str(self._stored_at(unneeded))})
            self._stored, self._needed = self._needed, set()
            self._make(folder, "application")
            self._fresh, self._elsewhere = folder, frozenset(elsewhere)

    def send(self) -> None:
        with self._lock:
            for path in [] if self._fresh is None else _below(self._fresh, self._elsewhere):
                if path.is_dir() and path not in self._sent:
                    self._make(path, "application", path.stat().st_mode & 0o777)
                    self._sent[path] = (0, 0)
                elif path.is_file() and self._sent.get(path) != _state(path):
                    self._give(path)
                    self._sent[path] = _state(path)

    def bring(self, path: Path) -> None:
        there = ThereFile(self._agent, path)
        there.size()  # Before a file is made here.
        # A process of the application on this machine may have put a link into its folder.
        with open_below(self._folder, path, os.O_WRONLY | os.O_CREAT | os.O_TRUNC) as file:
            there.copy_to(file)
        with self._lock:
            self._sent[path] = _state(path)

    def place_written(self, here: Sequence[Path]) -> list[Path]:
        folder = self._folder / "written"
        # Those of a fabric that failed may still be there.
        self._agent.request("clear", Reply, {"path": str(folder)})
        if here:
            self._make(folder, "agent")
        return [folder / path.name for path in here]

    def bring_written(self, there: Path, here: Path) -> None:
        with here.open("xb") as file:
            ThereFile(self._agent, there).copy_to(file)

    def bring_output(self, here: Path, ends: tuple[int, int] | None = None) -> None:
        output = self._outputs[here]
        here.parent.mkdir(parents=True, exist_ok=True)
        with here.open("wb") as file:
            if ends is None or output.size() <= sum(ends):
                output.copy_to(file)
            else:
                output.copy_parts_to(file, *ends)

    def _open(self, here: Path) -> BinaryIO:
        if here.is_relative_to(self._folder):
            return open_below(self._folder, here, os.O_RDONLY)
        return here.open("rb")

    def _make(self, folder: Path, owner: Owner, mode: int | None = None) -> None:
        permissions = {} if mode is None else {"mode": mode}
        self._agent.request("make", Reply, {"path": str(folder), "for": owner, **permissions})

    def _stored_at(self, sha256: str) -> Path:
        return self._folder / "stored" / sha256

    def _give(self, path: Path) -> None:
        """Have a file of the trial there: a copy of what is stored, which is sent before if it is new."""
        mode = path.stat().st_mode & 0o777
        if path.stat().st_size < STORED_BYTES_MIN:
            self._put_checked(path, path, "application", mode)
            return
        digest = hashlib.sha256()
        with self._open(path) as file:
            while piece := file.read(PIECE_BYTES):
                digest.update(piece)
        sha256 = digest.hexdigest()
        stored = self._stored_at(sha256)
        if sha256 not in self._stored:
            self._put(path, stored, "agent", 0o600)
        copy = {"path": str(path), "from": str(stored), "for": "application", "mode": mode}
        self._agent.request("copy", Reply, copy)
        ThereFile(self._agent, path).check_same(sha256, path)
        self._stored.add(sha256)
        self._needed.add(sha256)

    def _put_checked(self, here: Path, there: Path, owner: Owner, mode: int) -> None:
        ThereFile(self._agent, there).check_same(self._put(here, there, owner, mode), here)

    def _put(self, here: Path, there: Path, owner: Owner, mode: int) -> str:
        """Send a file, and return the SHA-256 of what was sent."""
        with self._open(here) as file:
            offset, piece, digest = 0, file.read(PIECE_BYTES), hashlib.sha256()
            while True:
                digest.update(piece)
                following = file.read(PIECE_BYTES)
                fields = {
                    "path": str(there),
                    "for": owner,
                    "offset": offset,
                    "bytes": base64.b64encode(piece).decode(),
                    "mode": mode,
                    "last": not following,
                }
                self._agent.request("put", Reply, fields)
                if not following:
                    break
                offset, piece = offset + len(piece), following
        return digest.hexdigest()


def files_of(agent: Agent, work: WorkFolder) -> MachineFiles:
    """Return the files of an agent's machine, where the run has a work folder with the same path.

    Raises: AgentRefused: the folder cannot be made there.
    """
    if agent.is_here:
        return HereFiles()
    keep = {"keep": True} if work.is_kept else {}
    made = agent.request("folder", FolderMade, {"path": str(work.path), **keep}).made
    return ThereFiles(agent, work.path) if made else HereFiles()


def _below(folder: Path, elsewhere: Collection[str]) -> Iterator[Path]:
    """Yield all files and folders below a folder, each folder before what is in it; no links.

    Args:
        elsewhere: names of folders directly in it that are left out.
    """
    for path in sorted(folder.iterdir()):
        if path.is_symlink() or path.name in elsewhere:
            continue
        yield path
        if path.is_dir():
            yield from _below(path, ())


def _programs_below(folder: Path, around: frozenset[Path]) -> Iterator[Path]:
    """Yield all files below a folder; links are followed, but not to a folder that is around them."""
    for path in sorted(folder.iterdir()):
        if path.is_dir():
            if (real := path.resolve()) not in around:
                yield from _programs_below(path, around | {real})
        elif path.is_file():
            yield path


def _state(path: Path) -> tuple[int, int]:
    status = path.stat()
    return status.st_mtime_ns, status.st_size
