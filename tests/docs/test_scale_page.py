"""docs/explanation/scale.md: its tables follow from the unit costs that it shows."""

import re
from pathlib import Path

from bench.scale import Units
from bench.scale_table import reaches, tables

PAGE = Path(__file__).parents[2] / "docs" / "explanation" / "scale.md"


def test_the_tables_of_the_page_follow_from_its_unit_costs() -> None:
    page = PAGE.read_text(encoding="utf-8")
    units = {
        name: float(value) for name, value in re.findall(r"^\| `(\w+)` \| (\S+) \|$", page, re.MULTILINE)
    }
    for table in tables(Units(**units)).split("\n\n"):
        assert table in page


def test_a_limit_is_the_first_number_of_machines_beyond_it() -> None:
    units = Units(**dict.fromkeys(Units.__dataclass_fields__, 1.0))
    assert reaches(lambda _, n: n * n, units, 100.0) == 11
    assert reaches(lambda _, n: 1.0, units, 1.0) is None
