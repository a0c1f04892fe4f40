"""What another program prints, up to a bound: it may run on a machine that somebody else controls."""

from __future__ import annotations

import subprocess
import threading
from collections.abc import Callable
from typing import IO

# Of a message that is shown; longer ones are cut.
TEXT_MAX = 2_000
# Of what a script on another machine prints: facts of a machine are some kilobytes.
OUTPUT_BYTES_MAX = 1 << 20
_PIECE_BYTES = 1 << 16


class TooLong(Exception):
    """A line, or an output, has more bytes than it may have; the text says how many that are."""


def read_line(stream: IO[bytes], most_bytes: Callable[[], int]) -> bytes:
    """Return the next line with its end; nothing at the end of the stream.

    Args:
        most_bytes: how long the line may be; asked again while it arrives.
    Raises: TooLong: it is longer. What has arrived of it is dropped.
    """
    pieces: list[bytes] = []
    length = 0
    while piece := stream.readline(_PIECE_BYTES):
        pieces.append(piece)
        length += len(piece)
        if length > (most := most_bytes()):
            raise TooLong(f"it printed a line of more than {most} bytes")
        if piece.endswith(b"\n"):
            break
    return b"".join(pieces)


def communicate(child: subprocess.Popen[bytes], sent: bytes, timeout_s: float) -> tuple[bytes, bytes]:
    """Send input to a program and return what it prints on both streams, when it has ended.

    Raises:
        TooLong: it prints more than OUTPUT_BYTES_MAX; it is killed.
        TimeoutExpired: it does not end in time; it still runs.
    """
    outputs = [_Output(stream, child) for stream in (child.stdout, child.stderr) if stream is not None]
    writer = threading.Thread(target=_write, args=(child, sent), daemon=True)
    writer.start()
    child.wait(timeout_s)
    writer.join(1)
    for output in outputs:
        # A process that it left behind may hold the other end open.
        output.thread.join(1)
    if any(output.is_too_long for output in outputs):
        raise TooLong(f"it printed more than {OUTPUT_BYTES_MAX} bytes")
    printed, complaints = (bytes(output.content) for output in outputs)
    return printed, complaints


def plain(text: str) -> str:
    """Return a foreign text fit for a terminal: one line, no control characters, and not long."""
    shown = "".join(
        letter if letter.isprintable() else letter.encode("unicode_escape").decode()
        for letter in text[:TEXT_MAX]
    )
    return shown + " [...]" * (len(text) > TEXT_MAX)


class _Output:
    def __init__(self, stream: IO[bytes], child: subprocess.Popen[bytes]) -> None:
        self.content = bytearray()
        self.is_too_long = False
        self.thread = threading.Thread(target=self._read, args=(stream, child), daemon=True)
        self.thread.start()

    def _read(self, stream: IO[bytes], child: subprocess.Popen[bytes]) -> None:
        while piece := stream.read1(_PIECE_BYTES):  # type: ignore[attr-defined]
            if len(self.content) + len(piece) > OUTPUT_BYTES_MAX:
                self.is_too_long = True
                child.kill()
                return
            self.content += piece


def _write(child: subprocess.Popen[bytes], sent: bytes) -> None:
    assert child.stdin is not None
    try:
        child.stdin.write(sent)
        child.stdin.close()
    except OSError:
        return  # It ended before it had read everything.
