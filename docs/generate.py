"""Write the committed files that are generated from the code; `--check` only reports files that are outdated.

`make docs` runs this. First comes python/crosswind/spec/elements.json, which is the output of
`crosswind-simulate describe`; then the pages of docs/reference, some of which are made from it. Each depends
on the code only (not on a clock, a machine or a terminal), so that its text can be committed and compared.
Pages that people write, such as contracts.md, are not changed.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parents[1]
REFERENCE = "docs/reference"
# Generate from the files of the repository, not from an installed version.
sys.path.insert(0, str(ROOT / "python"))


def elements() -> dict[str, str]:
    """Return the text of elements.json by its path.

    Raises: SystemExit: the program that describes elements is missing, or is an earlier version.
    """
    from crosswind.testbed.binaries import SIMULATE, find_binary
    from crosswind.testbed.errors import NotHere

    try:
        program = find_binary(SIMULATE)
    except NotHere as missing:
        raise SystemExit(str(missing)) from None
    done = subprocess.run([program, "describe"], capture_output=True, text=True, check=False)
    if done.returncode != 0:
        raise SystemExit(f"{program} is an earlier version: it cannot describe elements; run `make build`")
    text = json.dumps(json.loads(done.stdout), indent=2, ensure_ascii=False) + "\n"
    return {"python/crosswind/spec/elements.json": text}


def pages() -> dict[str, str]:
    """Return the text of every generated page by its path. The imports here read elements.json."""
    from reference_pages import (
        catalogue,
        cautions,
        elements,
        exit_codes,
        experiment_file,
        python,
        schema,
        verbs,
    )

    made = {
        "verbs.md": verbs.page(),
        "experiment-file.md": experiment_file.page(),
        "elements.md": elements.page(),
        "conditions.md": catalogue.conditions_page(),
        "experiments.md": catalogue.experiments_page(),
        "regions.md": catalogue.regions_page(),
        "python.md": python.page(),
        "exit-codes.md": exit_codes.page(),
        "cautions.md": cautions.page(),
        **schema.files(),
    }
    return {f"{REFERENCE}/{name}": text for name, text in made.items()}


def differing(wanted: dict[str, str]) -> list[str]:
    """Return the files whose committed text is not `wanted`, missing ones included."""
    return [
        name
        for name, text in wanted.items()
        if not (ROOT / name).is_file() or (ROOT / name).read_text(encoding="utf-8") != text
    ]


def main(arguments: list[str]) -> int:
    """Write or check the files and return the exit status: 1 when `--check` finds one that is not current."""
    if arguments not in ([], ["--check"]):
        print("usage: docs/generate.py [--check]", file=sys.stderr)
        return 2
    changed = 0
    for make in (elements, pages):
        wanted = make()
        stale = differing(wanted)
        for name in stale:
            changed += 1
            if arguments:
                print(f"{name}: is outdated; run `make docs`", file=sys.stderr)
                continue
            file = ROOT / name
            file.parent.mkdir(parents=True, exist_ok=True)
            file.write_text(wanted[name], encoding="utf-8")
            print(f"wrote {name}")
        if make is elements and stale and not arguments:
            # Finding the program has imported what read the file as it was before.
            return subprocess.run([sys.executable, __file__], check=False).returncode
    return 1 if arguments and changed else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
