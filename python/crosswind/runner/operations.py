"""What a load does while it runs: read from the file that it writes, and published step by step."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from crosswind.app import Load
from crosswind.stream import Event, Note, OperationsStep, Stream

# Short against the 100 ms of a line.
_LOOK_S = 0.05
# A minute of lines has 100 kB.
_PIECE_BYTES = 1 << 20


class _Line(BaseModel):
    """A line of the file (docs/reference/contracts.md, section 4)."""

    model_config = ConfigDict(frozen=True, strict=True, extra="forbid")

    at_ns: int
    length_ns: int
    ended: int
    failed: int
    median_ns: int | None
    p99_ns: int | None
    slowest_ns: int | None


@contextmanager
def published(load: Load, application: str, stream: Stream[Event]) -> Iterator[None]:
    """Publish what a load says of itself while the block runs; nothing where it writes no file.

    The file of a load on another machine is not read: its clock is another one.
    """
    if load.live is None:
        yield
        return
    over = threading.Event()
    follow = _Follow(load.live, application, load.process.node, stream)
    thread = threading.Thread(target=follow.until, args=(over,), daemon=True, name="operations")
    thread.start()
    try:
        yield
    finally:
        over.set()
        thread.join()


class _Follow:
    """Reads a file while it grows."""

    def __init__(self, path: Path, application: str, node: str, stream: Stream[Event]) -> None:
        self._path = path
        self._application = application
        self._node = node
        self._stream = stream
        self._read = 0
        self._rest = b""

    def until(self, over: threading.Event) -> None:
        """Publish each line, up to the last one that is there when it is over."""
        is_over = False
        while not is_over:
            is_over = over.wait(_LOOK_S)
            try:
                self._publish(self._new())
            except (OSError, ValidationError) as error:
                first = str(error).partition("\n")[0]
                why = f"{self._path.name} of the load on {self._node}: {first}"
                self._stream.publish(Note(text=f"note: {why}; its operations are not shown while it runs"))
                return

    def _new(self) -> bytes:
        if not self._path.exists():
            return b""
        with self._path.open("rb") as file:
            file.seek(self._read)
            piece = file.read(_PIECE_BYTES)
        self._read += len(piece)
        return piece

    def _publish(self, piece: bytes) -> None:
        *lines, self._rest = (self._rest + piece).split(b"\n")
        for line in lines:
            found = dict(_Line.model_validate_json(line))
            self._stream.publish(OperationsStep(application=self._application, node=self._node, **found))
