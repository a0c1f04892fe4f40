"""What processes print: read within a bound, and stored within it.

The agent gives back the middle of a long output while its process runs (contracts.md, section 2: `keep`), so
what is read here is head and tail as well. When the fabric is gone, a file takes its final form: head, a line
that says how many bytes were left out, tail.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

# An iperf3 of 128 streams prints 27 MB of JSON in ten minutes. Twice that is read as text in half a second.
HEAD_BYTES = 16 << 20
TAIL_BYTES = 16 << 20
KEEP = {"head_bytes": HEAD_BYTES, "tail_bytes": TAIL_BYTES}

_LAST_BYTES = 2048
_LAST_LINES = 3


@dataclass(frozen=True)
class Printed:
    """What a process printed on one of its streams.

    Attributes:
        text: all of it, or head and tail with a line between them that says what was left out.
        left_out_bytes: between head and tail.
    """

    text: str
    left_out_bytes: int


def printed(path: Path) -> Printed:
    """Return what is in an output file; never more than head and tail, however long it is.

    Raises: OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        left_out = path.stat().st_size - HEAD_BYTES - TAIL_BYTES
        if left_out <= 0:
            return Printed(file.read(HEAD_BYTES + TAIL_BYTES).decode(errors="replace"), 0)
        head = file.read(HEAD_BYTES)
        file.seek(-TAIL_BYTES, 2)
        tail = file.read(TAIL_BYTES)
    return Printed((head + _note(left_out) + tail).decode(errors="replace"), left_out)


def last_words(path: Path) -> str:
    """Return the last lines of an output file in one, for an error message; the empty string without any.

    Raises: OSError: the file cannot be read.
    """
    with path.open("rb") as file:
        file.seek(max(0, path.stat().st_size - _LAST_BYTES))
        lines = file.read(_LAST_BYTES).decode(errors="replace").strip().splitlines()
    return " | ".join(lines[-_LAST_LINES:])


def shorten(path: Path) -> None:
    """Leave head and tail of an output file that nobody writes any more, and a line that says so between."""
    left_out = path.stat().st_size - HEAD_BYTES - TAIL_BYTES
    if left_out <= 0:
        return
    part = path.with_name(f".{path.name}.part")
    with path.open("rb") as whole, part.open("wb") as short:
        short.write(whole.read(HEAD_BYTES))
        short.write(_note(left_out))
        whole.seek(-TAIL_BYTES, 2)
        shutil.copyfileobj(whole, short)
    part.replace(path)


def _note(left_out_bytes: int) -> bytes:
    return f"\n[crosswind: {left_out_bytes} bytes of this output are left out here]\n".encode()
