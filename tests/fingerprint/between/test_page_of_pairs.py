"""The page of all pairs."""

from __future__ import annotations

from itertools import permutations
from pathlib import Path

import pytest
from pair_parts import direction, write

from crosswind.cli._main import run
from crosswind.fingerprint.between.document import BetweenMachine
from crosswind.fingerprint.between.heat import heat_tables
from crosswind.fingerprint.between.page import answers

NAMES = ["m0", "m1", "m2"]


def test_the_page_has_a_table_for_each_figure_and_says_what_is_missing(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    found = [direction(one, other, 100) for one, other in permutations(NAMES, 2)]
    found[0].delays, found[0].transfers, found[0].ended = None, [], "agent on m1: <lost>"
    machines = [BetweenMachine(name=name, host="a") for name in NAMES]
    document = write(tmp_path / "between", machines, found)
    assert run(["report", str(tmp_path / "between")]) == 0
    page = (tmp_path / "between" / "between.html").read_text()
    assert f"page: {tmp_path / 'between' / 'between.html'}" in capsys.readouterr().out
    for key in ("delay", "jitter", "trips", "loss", "rate"):
        assert f'id="heat-{key}"' in page
    assert "agent on m1: &lt;lost&gt;" in page
    assert "same host" in page
    assert answers(document)[0].short == "1 of 6 ordered pairs are missing"
    delays = heat_tables(document)[0]
    (first, cells), *_ = delays.rows
    assert first == "m0"
    assert cells[0] is None
    assert cells[1] is not None
    assert (cells[1].text, cells[1].why) == ("-", "agent on m1: <lost>")
    assert cells[2] is not None
    assert cells[2].below.startswith("\u00b1 ")
