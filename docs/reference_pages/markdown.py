"""Pieces of Markdown that several pages need."""

from __future__ import annotations

from collections.abc import Iterable, Sequence


def page(title: str, source: str, *parts: str) -> str:
    """Return a page: title, a note about its source, and parts with blank lines between them."""
    note = f"<!-- Generated from {source} by `make docs`: change it there. -->"
    return "\n\n".join([f"# {title}", note, *(part for part in parts if part)]) + "\n"


def table(heads: Sequence[str], rows: Iterable[Sequence[str]]) -> str:
    """Return a table; bars inside a cell are escaped."""
    lines = [heads, ["---"] * len(heads), *rows]
    return "\n".join("| " + " | ".join(cell.replace("|", "\\|") for cell in line) + " |" for line in lines)


def fenced(text: str, language: str = "") -> str:
    """Return text as a block of code."""
    return f"```{language}\n{text.strip()}\n```"


def anchor(heading: str) -> str:
    """Return the fragment that GitHub and GitLab give a heading of letters, digits, slashes and hyphens."""
    return heading.lower().replace("/", "").replace(" ", "-")
