"""Make the volumes, copies and files that services mount, for each trial."""

from __future__ import annotations

import shutil
import subprocess
from collections.abc import Iterable, Sequence
from pathlib import Path, PurePosixPath

from crosswind.app.base import Stage
from crosswind.app.compose.files import staged
from crosswind.app.compose.mount import Mount
from crosswind.app.compose.root import room_for
from crosswind.app.compose.service import Service
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Bind
from crosswind.testbed.folders import give, give_tree

# Limit for a path of the host that services may write to, which is copied for each trial.
_COPY_BYTES_MAX = 1 << 30


class MountMaker:
    """Makes the volumes, copies and files of one trial.

    Args:
        services: all services; what they share is made once.
    """

    def __init__(self, stage: Stage, services: Iterable[Service]) -> None:
        self._stage = stage
        self._account = stage.fabric.application_account
        for folder in ("volumes", "files", "copies", "own"):
            (stage.folder / folder).mkdir()
            give(stage.folder / folder, *self._account)
        self._copy_files(
            {mount.source for service in services for mount in service.mounts if mount.kind == "bind"}
        )

    def binds(self, node: str, root: Path, mounts: Sequence[Mount]) -> tuple[Bind, ...]:
        """Return the binds of a node, outer ones first, because a volume may be inside another one."""
        ordered = sorted(mounts, key=lambda mount: len(PurePosixPath(mount.target).parts))
        made: list[tuple[PurePosixPath, Path]] = []
        found = []
        for number, mount in enumerate(ordered):
            source = self._source(node, number, root, mount)
            target = room_for(root, mount.target, self._account, is_folder=source.is_dir())
            below = PurePosixPath(mount.target)
            for outer, folder in made:
                if outer in below.parents:
                    self._make_room(folder, below.relative_to(outer), is_folder=source.is_dir())
            if source.is_dir():
                made.append((below, source))
            found.append(Bind(source, target, mount.read_only))
        return tuple(found)

    def _source(self, node: str, number: int, root: Path, mount: Mount) -> Path:
        if mount.kind == "bind":
            return self._bound(mount)
        if mount.kind == "host":
            return Path(mount.source) if mount.read_only else self._copy(mount)
        if mount.kind == "text":
            source = self._stage.folder / "own" / f"{node}.{number}"
            source.write_text(mount.source)
            source.chmod(0o644)
            return source
        is_shared = mount.kind == "volume"
        source = (
            self._stage.folder
            / ("volumes" if is_shared else "own")
            / (mount.source if is_shared else f"{node}.{number}")
        )
        if not source.exists():
            target = room_for(root, mount.target, self._account, is_folder=True)
            # A new volume starts with the files that the image has at its place.
            if mount.fresh:
                source.mkdir()
                give(source, *self._account)
            else:
                _run(["cp", "-a", target, source])
            # Services that share it may run as different users.
            source.chmod(0o777)
        return source

    def _bound(self, mount: Mount) -> Path:
        source = self._stage.folder / "files" / staged(mount.source)
        if not source.exists():
            self._make_folders(source)
        return source

    def _copy(self, mount: Mount) -> Path:
        """Return the trial's copy of a path of the host, shared by all services that name the path."""
        copy = self._stage.folder / "copies" / mount.source.strip("/").replace("/", "%")
        if not copy.exists():
            if Path(mount.source).exists():
                _run(["cp", "-a", "--reflink=auto", mount.source, copy])
                give_tree(copy, *self._account)
            else:
                self._make_folders(copy)
        return copy

    def _copy_files(self, sources: set[str]) -> None:
        for name, path in self._stage.files.items():
            if not any(source in (".", name) or name.startswith(f"{source}/") for source in sources):
                continue
            target = self._stage.folder / "files" / staged(name)
            self._make_folders(target.parent)
            if target.is_dir():
                raise TestbedError(
                    f"{name}: is both a file and a folder among the files of the experiment; rename one"
                )
            shutil.copyfile(path, target)
            target.chmod(0o755)
            give(target, *self._account)

    def _make_folders(self, folder: Path) -> None:
        missing = []
        while not folder.exists():
            missing.append(folder)
            folder = folder.parent
        for each in reversed(missing):
            each.mkdir()
            give(each, *self._account)

    def _make_room(self, folder: Path, below: PurePosixPath, *, is_folder: bool) -> None:
        """Make a file or folder in a copy, over which another volume is bound."""
        place = folder / below
        if folder.is_relative_to(self._stage.folder) and not place.exists():
            self._make_folders(place if is_folder else place.parent)
            if not is_folder:
                place.touch()
                give(place, *self._account)


def size_of(path: Path) -> int:
    """Return the size of a path of the host; 0 if it does not exist."""
    if not path.is_dir():
        return path.stat().st_size if path.exists() else 0
    total = 0
    for entry in path.rglob("*"):
        total += entry.lstat().st_size
        if too_large(total):
            break
    return total


def too_large(size_bytes: int) -> bool:
    """Return whether a size is too large to be copied for each trial."""
    return size_bytes > _COPY_BYTES_MAX


def _run(command: list[str | Path]) -> None:
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise TestbedError(f"{' '.join(map(str, command))}: {done.stderr.strip()}")
