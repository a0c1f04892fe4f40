"""The root file system of a service in a trial: a copy of its image, and the node's own files in it."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path

from crosswind.app.compose.inside import inside
from crosswind.testbed.errors import TestbedError
from crosswind.testbed.fabric import Bind, Root
from crosswind.testbed.folders import give

# Files of the node that a process must see: /proc, /dev and names.
_FOLDERS = ("/proc", "/dev", "/sys")
_FILES = ("/etc/hosts", "/etc/hostname", "/etc/resolv.conf")


def make_root(image: Path, folder: Path, account: tuple[int, int]) -> Root:
    """Copy an image into `folder`, which must not exist, and make places in it for the node's own files."""
    done = subprocess.run(
        ["cp", "-a", "--reflink=auto", image, folder], capture_output=True, text=True, check=False
    )
    if done.returncode != 0:
        raise TestbedError(f"copy the image at {image}: {done.stderr.strip().splitlines()[-1]}")
    binds = []
    for path in (*_FOLDERS, *_FILES):
        if Path(path).exists():
            target = room_for(folder, path, account, is_folder=path in _FOLDERS)
            binds.append(Bind(Path(path), target, read_only=False))
    return Root(folder, tuple(binds))


def room_for(root: Path, path: str, account: tuple[int, int], *, is_folder: bool) -> Path:
    """Make a file or folder in a root, over which another can be bound; return its path on the host."""
    parent, _, name = path.rstrip("/").rpartition("/")
    at = inside(root, parent)
    _make_folders(root, at, account)
    target = at / name
    # A bind over a link would change its target; in an image, /etc/resolv.conf is often a link.
    if target.is_symlink() or (target.exists() and target.is_dir() != is_folder):
        shutil.rmtree(target) if target.is_dir() and not target.is_symlink() else target.unlink()
    if not target.exists():
        target.mkdir() if is_folder else target.touch()
        give(target, *account)
    return target


def _make_folders(root: Path, folder: Path, account: tuple[int, int]) -> None:
    missing = []
    while folder != root and not folder.exists():
        missing.append(folder)
        folder = folder.parent
    for each in reversed(missing):
        each.mkdir()
        give(each, *account)
