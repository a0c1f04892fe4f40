"""The table of pairs by placement."""

from __future__ import annotations

from io import StringIO
from itertools import permutations
from pathlib import Path

from pair_parts import direction, write
from rich.console import Console

from crosswind.fingerprint.between.document import BetweenMachine
from crosswind.fingerprint.between.placement_table import placement_rows, print_placements

# Eight machines on two hosts.
HOSTS = {f"m{number}": "left" if number < 4 else "right" for number in range(8)}


def test_the_table_has_a_row_for_each_placement(tmp_path: Path) -> None:
    machines = [BetweenMachine(name=name, host=host) for name, host in HOSTS.items()]
    found = [
        direction(one, other, 50 if HOSTS[one] == HOSTS[other] else 200)
        for one, other in permutations(HOSTS, 2)
    ]
    document = write(tmp_path / "between", machines, found)
    assert [row.placement for row in placement_rows(document)] == ["same host", "other host"]
    out = StringIO()
    print_placements(document, Console(file=out, width=120))
    assert "51 us" in out.getvalue()
    # 201 us against 51 us.
    assert "3.94\u00a0\u00d7 (3.94 - 3.94)" in out.getvalue()
