"""Lines of the text files that an experiment names: traces, samples, distributions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

BYTES_MAX = 64 << 20


class LineError(ValueError):
    """A file has an error; the message begins with the number of the line, if there is one."""

    def __init__(self, line: int, message: str) -> None:
        super().__init__(f"line {line}: {message}" if line else message)


def numbered(content: bytes) -> Iterator[tuple[int, str]]:
    """Return lines with their numbers, as editors count.

    Raises: LineError: the file is not UTF-8, or too long to be stored with the results.
    """
    text = _text(content).removesuffix("\n")
    return enumerate((line.removesuffix("\r") for line in text.split("\n")), 1) if text else iter(())


def meant(content: bytes) -> Iterator[tuple[int, str]]:
    """Yield lines without the space around them; empty lines and comments (#) are skipped."""
    for number, line in numbered(content):
        stripped = line.strip()
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def meant_lines(lines: Iterable[bytes]) -> Iterator[tuple[int, str]]:
    """Yield the same from the lines of a file that is too long for memory.

    Raises: LineError: a line is not UTF-8.
    """
    for number, line in enumerate(lines, 1):
        try:
            stripped = line.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        except UnicodeDecodeError:
            raise LineError(number, "is not UTF-8; save it as plain text") from None
        if stripped and not stripped.startswith("#"):
            yield number, stripped


def _text(content: bytes) -> str:
    if len(content) > BYTES_MAX:
        raise LineError(0, f"has {len(content)} bytes; at most {BYTES_MAX}: cut it or make it coarser")
    try:
        return content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = content.count(b"\n", 0, error.start) + 1
        raise LineError(line, "is not UTF-8; save it as plain text") from None
