"""Notes for the author of a compose file, on keys that are ignored or handled differently."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from crosswind.app.compose.located import FilePlace


@dataclass(frozen=True)
class ComposeNote:
    """A note on a key of a compose file.

    Attributes:
        key: as written.
        says: what Crosswind does with it, as the end of a sentence.
        matters: whether readers of the results must know it; otherwise it has no effect on a test.
    """

    place: FilePlace
    key: str
    says: str
    matters: bool


def texts_of(notes: Iterable[ComposeNote]) -> list[str]:
    """Return notes as texts, in the order of the file; notes with the same key and text are joined."""
    grouped: dict[tuple[str, str, str], list[int]] = {}
    for note in sorted(notes, key=lambda note: (note.place.file, note.place.line, note.key)):
        lines = grouped.setdefault((note.place.file, note.key, note.says), [])
        if note.place.line not in lines:
            lines.append(note.place.line)
    return [
        f"{file}: line{'' if len(lines) == 1 else 's'} {', '.join(map(str, lines))}: {key} {says}"
        for (file, key, says), lines in grouped.items()
    ]
