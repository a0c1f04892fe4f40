"""The output of processes, read and stored up to a bound.

While a process runs, the agent frees the middle of its long output (contracts.md, section 2: `keep`), so only
head and tail can be read. When the fabric is down, the file gets its final form: head, a line with the number
of bytes that are left out, tail.
"""

import shutil
from dataclasses import dataclass
from pathlib import Path

from crosswind.testbed.read_file import HereFile, ReadFile

# iperf3 with 128 streams prints 27 MB of JSON in ten minutes. Twice that is read as text in half a second.
HEAD_BYTES = 16 << 20
TAIL_BYTES = 16 << 20
KEEP = {"head_bytes": HEAD_BYTES, "tail_bytes": TAIL_BYTES}

_LAST_BYTES = 2048
_LAST_LINES = 3


@dataclass(frozen=True)
class Printed:
    """The output of a process on one of its streams.

    Attributes:
        text: all of it, or head and tail with a line between them.
        left_out_bytes: between head and tail.
    """

    text: str
    left_out_bytes: int


def printed(output: Path | ReadFile) -> Printed:
    """Return the content of an output file; of a long one, head and tail.

    Raises: OSError: the file cannot be read.
    """
    file = HereFile(output) if isinstance(output, Path) else output
    size = file.size()
    left_out = size - HEAD_BYTES - TAIL_BYTES
    if left_out <= 0:
        return Printed(file.read(0, HEAD_BYTES + TAIL_BYTES).decode(errors="replace"), 0)
    head, tail = file.read(0, HEAD_BYTES), file.read(size - TAIL_BYTES, TAIL_BYTES)
    return Printed((head + _note(left_out) + tail).decode(errors="replace"), left_out)


def last_words(output: Path | ReadFile) -> str:
    """Return the last lines of an output file as one line, for an error message; empty without any.

    Raises: OSError: the file cannot be read.
    """
    file = HereFile(output) if isinstance(output, Path) else output
    lines = file.read(max(0, file.size() - _LAST_BYTES), _LAST_BYTES)
    return " | ".join(lines.decode(errors="replace").strip().splitlines()[-_LAST_LINES:])


def shorten(path: Path) -> None:
    """Cut a long output file that is complete down to head and tail, with a line between them."""
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
