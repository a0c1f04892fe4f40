"""What benchmarks print finds its row on the page of what was measured."""

import pytest
from pydantic import JsonValue

from bench.figures import Figure
from bench.performance import PAGE, ROWS, SHORT, SUMMARY, Row, summarised, updated

TEXT = PAGE.read_text(encoding="utf-8")


def line(name: str, **others: JsonValue) -> Figure:
    plain = {"value": 20.0, "interval": (10.0, 30.0), "min": 5.0, "max": 1234.0, "rounds": 6, "wanted": None}
    return Figure.model_validate({"figure": name, "unit": "", **plain, **others})


@pytest.mark.parametrize("row", ROWS, ids=lambda row: row.what)
def test_each_row_is_on_the_page_once_and_has_its_columns(row: Row) -> None:
    (found,) = (text for text in TEXT.splitlines() if text.startswith(f"| {row.what} |"))
    assert max(row.cells) < len(found.strip("|").split("|"))


def test_a_measured_row_is_written_and_the_others_stay() -> None:
    name = "idle emulator, share of a core"
    page, without_row = updated(TEXT, [line(name, wanted="under 0.1"), line("something else")])
    assert f"| {name} | 0.1 | **20** [10, 30] |" in page
    changed = [new for old, new in zip(TEXT.splitlines(), page.splitlines(), strict=True) if old != new]
    assert len(changed) == 1
    assert without_row == ["something else"]


def test_a_row_of_which_a_part_was_not_measured_stays() -> None:
    assert updated(TEXT, [line("four hosts up")]) == (TEXT, ["four hosts up"])


def test_fewer_than_six_rounds_have_a_range_in_round_brackets() -> None:
    few = line("64 B UDP packets lost of 200 000 at 100 kpps", interval=None, rounds=3, wanted="0", value=0.0)
    page, _ = updated(TEXT, [few])
    assert "| 0 (5 to 1,234) |" in page


def test_the_summary_has_six_rows_with_the_medians_of_the_page() -> None:
    summary = SUMMARY.read_text(encoding="utf-8")
    assert summarised(summary, TEXT) == summary
    assert len(SHORT) == 6


def test_a_new_median_reaches_the_summary_as_a_range_without_intervals() -> None:
    row = "| 10 Mbit/s | 0 [0, 0] |"
    assert row in TEXT
    page = TEXT.replace(row, "| 10 Mbit/s | **0.25** [-1, 7] |")
    assert "| 0 to 0.25 % | at most 0.1 % |" in summarised(SUMMARY.read_text(encoding="utf-8"), page)
