"""Write a certificate of `crosswind certify --suite conformance --out FILE` into the page of conformance.

python docs/conformance.py FILE
"""

from __future__ import annotations

import json
import sys
from collections.abc import Iterator, Sequence
from itertools import groupby
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs/explanation/conformance.md"
sys.path.insert(0, str(ROOT / "python"))

from crosswind.certify import Certificate, Claim  # noqa: E402
from crosswind.certify.text import figure_text  # noqa: E402

BEGIN, END = "<!-- table: docs/conformance.py -->", "<!-- end of table -->"
CLOCKS = {"virtual": "In virtual time, the same on every machine", "live": "Live"}


def row(claim: Claim) -> str:
    """Return the line of a claim."""
    measured, bound = (figure_text(value, claim.unit) for value in (claim.measured, claim.bound))
    return f"| {claim.name} | {claim.because} | {measured} | {bound} | {claim.decision.value} |"


def table(claims: Sequence[Claim]) -> Iterator[str]:
    """Yield the lines of a table for each family."""
    for (clock, family), rows in groupby(claims, key=lambda claim: (claim.clock, claim.family)):
        yield from ("", f"### {family}", "", f"{CLOCKS[clock]}:", "")
        yield from ("| criterion | source | ours | at most | verdict |", "|---|---|---|---|---|")
        yield from map(row, rows)
    yield ""


def main(file: Path) -> None:
    """Replace the table of the page by that of a certificate."""
    claims = Certificate.model_validate(json.loads(file.read_text(encoding="utf-8"))).claims
    text = PAGE.read_text(encoding="utf-8")
    before, _, rest = text.partition(BEGIN)
    _, _, after = rest.partition(END)
    PAGE.write_text(f"{before}{BEGIN}\n{chr(10).join(table(claims))}\n{END}{after}", encoding="utf-8")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
