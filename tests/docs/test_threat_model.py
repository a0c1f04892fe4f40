"""Each claim of the threat model has a test, and the test exists."""

import re
from pathlib import Path

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "explanation" / "threat-model.md"
NAMED = re.compile(r"`((?:test_)?[a-z0-9_]{12,})`")


def names_of_tests() -> set[str]:
    """Return the names of all tests, in Python and in Rust."""
    found: set[str] = set()
    for path in (ROOT / "tests").rglob("test_*.py"):
        found.update(re.findall(r"^def (test_\w+)\(", path.read_text(), re.MULTILINE))
    for path in (ROOT / "crates").rglob("*.rs"):
        # The last attribute of a test, or a property in `proptest!`.
        found.update(re.findall(r"#\[test\]\s+fn (\w+)\(", path.read_text()))
    return found


def claims() -> list[str]:
    """Return the rows of the tables whose last column is a test."""
    rows, in_table = [], False
    for line in PAGE.read_text().splitlines():
        if line.startswith("| ") and line.endswith("| test |"):
            in_table = True
        elif not line.startswith("|"):
            in_table = False
        elif in_table and not line.startswith("|---"):
            rows.append(line)
    return rows


def test_each_claim_names_a_test_that_exists() -> None:
    there_are, rows = names_of_tests(), claims()
    assert len(rows) > 20
    for row in rows:
        named = NAMED.findall(row.split("|")[-2])
        assert named, f"no test: {row}"
        assert set(named) <= there_are, set(named) - there_are
