"""An experiment of the catalogue with some of its text changed, for a comparison."""

from __future__ import annotations

from collections.abc import Sequence

from crosswind import catalog


def changed(name: str, changes: Sequence[tuple[str, str]], conditions: Sequence[str] = ()) -> str:
    """Return the file of an experiment with changes, each a text and what takes its place.

    Args:
        conditions: those that remain; all when empty.

    Raises: SystemExit: the file has no such text.
    """
    text = catalog.experiment_file(name).read_text()
    for old, new in changes:
        if old not in text:
            raise SystemExit(f"{name}: has no {old!r}")
        text = text.replace(old, new)
    if not conditions:
        return text
    head, _, rest = text.partition("conditions:\n")
    lines = rest.splitlines(keepends=True)
    behind = next(number for number, line in enumerate(lines) if not line.startswith("  - "))
    listed = "".join(f"  - {condition}\n" for condition in conditions)
    return f"{head}conditions:\n{listed}{''.join(lines[behind:])}"
