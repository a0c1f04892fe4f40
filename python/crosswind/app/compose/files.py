"""The files that a compose file names: each is read once, and identified by its content."""

from __future__ import annotations

import hashlib
import posixpath
import re
from collections.abc import Callable
from pathlib import Path

from crosswind.spec.named_file import NamedFile
from crosswind.spec.quantities import QuantityError, shown

# Files that a compose file names are stored with every run; larger ones belong into an image.
_BYTES_MAX = 256 << 20
_IGNORED = ".dockerignore"


class ComposeFiles:
    """Files by their paths, relative to the experiment's folder.

    Args:
        read: returns the content of a file; raises OSError.
        below: returns the paths of the files below a folder; raises OSError if there are too many.
    """

    def __init__(self, read: Callable[[str], bytes], below: Callable[[str], list[str]]) -> None:
        self._read = read
        self._below = below
        self._named: dict[str, NamedFile[None]] = {}
        self._bytes = 0

    @property
    def named(self) -> list[NamedFile[None]]:
        """The files that were read, by their paths."""
        return [self._named[name] for name in sorted(self._named)]

    def content(self, name: str) -> bytes:
        """Return the content of a file, and add it to `named`.

        Raises: OSError: it cannot be read.
        """
        content = self._read(name)
        if name not in self._named:
            self._bytes += len(content)
            self._named[name] = NamedFile(name, hashlib.sha256(content).hexdigest(), None)
        return content

    def needed(self, name: str, what: str) -> bytes:
        """Return the content of a file.

        Raises: QuantityError: it cannot be read; says why.
        """
        try:
            return self.content(name)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise QuantityError(f"names the {what} {shown(name)}, which cannot be read: {reason}") from None

    def folder(self, name: str) -> list[NamedFile[None]]:
        """Return the files below a folder, or the file of this name; empty if neither exists.

        Raises: QuantityError: they are too many, too large, or one cannot be read.
        """
        try:
            names = self._below(name)
            found = names or ([name] if self._exists(name) else [])
            for each in found:
                self.content(each)
        except OSError as error:
            reason = (error.strerror or str(error)).lower()
            raise QuantityError(
                f"{shown(name)} {reason}; put it into an image, or bind a smaller part of it"
            ) from None
        if self._bytes > _BYTES_MAX:
            raise QuantityError(
                f"with {shown(name)}, the files of the compose file exceed {_BYTES_MAX >> 20} MiB; "
                "put it into an image, or bind a smaller part of it"
            )
        return [self._named[each] for each in found]

    def context(self, name: str) -> list[NamedFile[None]]:
        """Return the files of a folder from which an image is built, without those in its .dockerignore.

        Raises: QuantityError: as for `folder`.
        """
        try:
            names = self._below(name)
        except OSError as error:
            raise QuantityError(
                f"context {shown(name)} {error.strerror}; build the image yourself and name it with `images`"
            ) from None
        ignored = posixpath.join(name, _IGNORED)
        patterns = self.content(ignored).decode(errors="replace") if ignored in names else ""
        is_left_out = left_out(patterns)
        kept = [each for each in names if not is_left_out(posixpath.relpath(each, name))]
        for each in kept:
            self.needed(each, "file")
        return [self._named[each] for each in kept]

    def _exists(self, name: str) -> bool:
        try:
            self.content(name)
        except FileNotFoundError:
            return False
        return True


def left_out(patterns: str) -> Callable[[str], bool]:
    """Return a function that says whether a .dockerignore excludes a path; the last match decides.

    Source: Docker's documentation, "Build context", section ".dockerignore files".
    """
    rules = []
    for line in patterns.splitlines():
        written = line.strip()
        if not written or written.startswith("#"):
            continue
        is_kept = written.startswith("!")
        path = posixpath.normpath(written.removeprefix("!").strip().lstrip("/"))
        rules.append((re.compile(_expression(path)), is_kept))

    def check(name: str) -> bool:
        found = False
        for pattern, is_kept in rules:
            if pattern.fullmatch(name):
                found = not is_kept
        # A .dockerignore may exclude the Dockerfile from the image, but the build needs it.
        return found and not (name == _IGNORED or posixpath.basename(name).startswith("Dockerfile"))

    return check


def _expression(path: str) -> str:
    """Return a regular expression for a path and all paths below it."""
    steps = []
    at = 0
    while at < len(path):
        if path.startswith("**/", at):
            steps.append("(?:[^/]+/)*")
            at += 3
        elif path.startswith("**", at):
            steps.append(".*")
            at += 2
        else:
            steps.append({"*": "[^/]*", "?": "[^/]"}.get(path[at], re.escape(path[at])))
            at += 1
    return f"{''.join(steps)}(?:/.*)?"


def path_from(file: str, written: str) -> str:
    """Return a path that a file names: absolute, or relative to the experiment's folder."""
    if written.startswith("~"):
        try:
            return str(Path(written).expanduser())
        except RuntimeError:
            raise QuantityError(
                f"{shown(written)} names an unknown home folder; write the path from /"
            ) from None
    if written.startswith("/"):
        return posixpath.normpath(written)
    return posixpath.normpath(posixpath.join(posixpath.dirname(file), written))


def staged(name: str) -> str:
    """Return the path of a file among the copies for a trial, which is always below their folder."""
    return "/".join("%up" if part == ".." else part for part in name.split("/"))
