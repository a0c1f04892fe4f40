"""Write the pages of docs/reference that are made from the code; `--check` only says which are not current.

Run by `make docs`. A page is a function of the code and of nothing else (no clock, no machine, no width of a
terminal), so that its text can be committed and compared. Pages that people write, such as contracts.md, are
left alone.
"""

from __future__ import annotations

import sys
from pathlib import Path

from reference_pages import catalogue, cautions, elements, exit_codes, experiment_file, schema, verbs

REFERENCE = Path(__file__).parent / "reference"


def pages() -> dict[str, str]:
    """Return the text of every generated page by its path below docs/reference."""
    return {
        "verbs.md": verbs.page(),
        "experiment-file.md": experiment_file.page(),
        "elements.md": elements.page(),
        "conditions.md": catalogue.conditions_page(),
        "experiments.md": catalogue.experiments_page(),
        "exit-codes.md": exit_codes.page(),
        "cautions.md": cautions.page(),
        **schema.files(),
    }


def differing(wanted: dict[str, str]) -> list[str]:
    """Return the pages whose committed text is not `wanted`, missing ones included."""
    found = {name: REFERENCE / name for name in wanted}
    return [
        name
        for name, file in found.items()
        if not file.is_file() or file.read_text(encoding="utf-8") != wanted[name]
    ]


def main(arguments: list[str]) -> int:
    """Write or check the pages and return the exit status: 1 when `--check` finds one that is not current."""
    if arguments not in ([], ["--check"]):
        print("usage: docs/generate.py [--check]", file=sys.stderr)
        return 2
    wanted = pages()
    changed = differing(wanted)
    for name in changed:
        if arguments:
            print(f"docs/reference/{name}: is not what the code says; run `make docs`", file=sys.stderr)
            continue
        file = REFERENCE / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(wanted[name], encoding="utf-8")
        print(f"wrote docs/reference/{name}")
    return 1 if arguments and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
