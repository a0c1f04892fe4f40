"""A console for tables: of any width where its text does not go to a terminal."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from rich.console import Console

PLAIN_COLUMNS = 150  # Wide enough that no cell is broken.


def widen(console: Console) -> None:
    """Give a console that is not a terminal at least the columns that a table takes."""
    if not console.is_terminal:
        console.width = max(console.width, PLAIN_COLUMNS)
