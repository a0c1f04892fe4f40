"""docs/reference/cautions.md: every warning that a report can give: meaning and remedy."""

from __future__ import annotations

from crosswind.analysis.cautions.catalogue import CautionKind
from reference_pages import markdown

_INTRODUCTION = """\
`crosswind report` prints the warnings that apply to a run below its table, in `report.html` under
*Before you quote a number*, and with `--json` as `cautions`: `id`, `level`, `title` and `text`, which has
what was found in this run. Ids never change; text does."""

_LEVELS = {
    "serious": "Serious: numbers may mislead",
    "note": "Notes: how to read the numbers",
}


def page() -> str:
    """Return the page."""
    parts = []
    for level, title in _LEVELS.items():
        kinds = sorted((kind for kind in CautionKind if kind.level == level), key=lambda kind: kind.id)
        rows = [[f"`{kind.id}`", kind.meaning, kind.remedy] for kind in kinds]
        parts += [f"## {title}", markdown.table(["id", "meaning", "remedy"], rows)]
    return markdown.page("Warnings", "python/crosswind/analysis/cautions/catalogue.py", _INTRODUCTION, *parts)
