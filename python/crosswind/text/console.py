"""The width of a console for tables."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_COLUMNS = 150  # Wide enough that no cell is broken.


def widen(console: Console) -> None:
    """Make a console that is not a terminal wide enough for a table."""
    if not console.is_terminal:
        console.width = max(console.width, PLAIN_COLUMNS)
