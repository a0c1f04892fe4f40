"""What a compose file has that is accepted and not followed, or followed in another way: for its author."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crosswind.app.compose.located import Place


@dataclass(frozen=True)
class Note:
    """A note on a key of a compose file.

    Attributes:
        key: as it is written.
        says: what Crosswind does with it: the end of a sentence.
        matters: whether a reader of results has to know it; else it has no effect on a test.
    """

    place: Place
    key: str
    says: str
    matters: bool


def texts_of(notes: Iterable[Note]) -> list[str]:
    """Return notes as texts, in the order of the file; one for all places of the same key and text."""
    grouped: dict[tuple[str, str, str], list[int]] = {}
    for note in sorted(notes, key=lambda note: (note.place.file, note.place.line, note.key)):
        lines = grouped.setdefault((note.place.file, note.key, note.says), [])
        if note.place.line not in lines:
            lines.append(note.place.line)
    return [
        f"{file}: line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))}: {key} {says}"
        for (file, key, says), lines in grouped.items()
    ]
