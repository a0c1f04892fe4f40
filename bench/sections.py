"""Pages whose sections are each made by a command."""

from __future__ import annotations

import re


def with_section(page: str, title: str, lines: list[str]) -> str:
    """Return a page whose section of this title has these lines; the section is added if there is none."""
    section = "\n".join([f"## {title}", "", *lines, ""])
    found = re.compile(rf"^## {re.escape(title)}\n.*?(?=^## |\Z)", re.MULTILINE | re.DOTALL)
    if found.search(page):
        return found.sub(lambda _: f"{section}\n", page).rstrip("\n") + "\n"
    return f"{page.rstrip()}\n\n{section}"
