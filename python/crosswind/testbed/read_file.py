"""One file to read: of this machine, or of another, whose agent reads it (contracts.md, 2).

That machine may lie about what it has. A file that is fetched has no more bytes than the machine first said.
"""

from __future__ import annotations

import base64
import binascii
import hashlib
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO, Protocol

from crosswind.testbed.agent import Agent
from crosswind.testbed.bounded import plain
from crosswind.testbed.errors import AgentDied, TestbedError
from crosswind.testbed.replies import ChecksumRead, PieceRead

# As the agent has them.
PIECE_BYTES = 1 << 20
FILE_BYTES_MAX = 4 << 30


class ReadFile(Protocol):
    """A file that can be read in pieces."""

    def size(self) -> int:
        """Return its size in bytes.

        Raises: OSError: there is no such file.
        """

    def read(self, offset: int, length: int) -> bytes:
        """Return a part of it, shorter where it ends.

        Raises: OSError: it cannot be read.
        """


class HereFile:
    """A file of this machine."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def size(self) -> int:
        return self._path.stat().st_size

    def read(self, offset: int, length: int) -> bytes:
        with self._path.open("rb") as file:
            file.seek(offset)
            return file.read(length)


class ThereFile:
    """A file of another machine, in the folder of the run."""

    def __init__(self, agent: Agent, path: Path) -> None:
        self._agent = agent
        self.path = path

    def size(self) -> int:
        return self._piece(0, 0)[1]

    def read(self, offset: int, length: int) -> bytes:
        return b"".join(self._pieces(offset, length))

    def copy_to(self, here: BinaryIO) -> None:
        """Copy all of it to a file of this machine.

        Raises: AgentDied: it has more than FILE_BYTES_MAX, or ends before its size.
        """
        size = self.size()
        if size > FILE_BYTES_MAX:
            raise AgentDied(
                f"{self._agent.title}: {self.path} has {size} bytes, and {FILE_BYTES_MAX} are fetched at "
                "most; let the application write less"
            )
        copied, digest = 0, hashlib.sha256()
        for piece in self._pieces(0, size):
            here.write(piece)
            digest.update(piece)
            copied += len(piece)
        if copied < size:
            raise self._lie(f"ends after {copied} of {size} bytes")
        self.check_same(digest.hexdigest(), "what arrived")

    def copy_parts_to(self, here: BinaryIO, head_bytes: int, tail_bytes: int) -> None:
        """Copy its begin and its end; between them, the file here has a hole."""
        size = self.size()
        begin, end = min(head_bytes, size), max(head_bytes, size - tail_bytes)
        for offset, length in ((0, begin), (end, size - end)):
            here.seek(offset)
            for piece in self._pieces(offset, length):
                here.write(piece)
        here.truncate(size)

    def check_same(self, sha256: str, here: Path | str) -> None:
        """Check that it has the content of this checksum.

        Args:
            here: what has that checksum on this machine.
        Raises: TestbedError: it has not; the message names both.
        """
        found = self._agent.request("checksum", ChecksumRead, {"path": str(self.path)}).sha256
        if found != sha256:
            raise TestbedError(
                f"{self._agent.title}: {self.path}: its checksum is {plain(str(found))}, that of {here} is "
                f"{sha256}; the file changed while it was copied, or a disk is damaged"
            )

    def _pieces(self, offset: int, length: int) -> Iterator[bytes]:
        while length > 0:
            piece, _ = self._piece(offset, min(length, PIECE_BYTES))
            if not piece:
                return
            yield piece
            offset, length = offset + len(piece), length - len(piece)

    def _piece(self, offset: int, length: int) -> tuple[bytes, int]:
        fields = {"path": str(self.path), "offset": offset, "length": length}
        found = self._agent.request("get", PieceRead, fields)
        if found.size_bytes is None:
            raise FileNotFoundError(f"{self.path}: not on the machine of {self._agent.title}")
        try:
            piece = base64.b64decode(found.bytes, validate=True)
        except binascii.Error:
            raise self._lie("has bytes that are not in base64") from None
        if len(piece) > length:
            raise self._lie(f"came with {len(piece)} bytes where {length} were requested")
        return piece, found.size_bytes

    def _lie(self, what: str) -> AgentDied:
        return AgentDied(
            f"{self._agent.title}: {self.path} {what}; reinstall so that the agent and this crosswind come "
            "from the same version"
        )
