"""When two engines agree on the rows of a query."""

import re
from datetime import date
from decimal import Decimal

import pytest

from crosswind.app.spark.jobs.answers import difference, plain_rows


def test_rows_become_plain_values() -> None:
    assert plain_rows([(Decimal("1.50"), date(1998, 9, 2), None, "A", 3)]) == [
        [1.5, "1998-09-02", None, "A", 3]
    ]


def test_the_order_of_rows_says_nothing() -> None:
    assert difference([["b", 1], ["a", 2]], [["a", 2], ["b", 1]]) is None


def test_an_average_may_be_rounded_and_a_missing_value_stands_anywhere() -> None:
    found = [[None, 0.333333], ["x", 2_000_000.5]]
    assert difference(found, [["x", 2_000_001.0], [None, 1 / 3]]) is None


@pytest.mark.parametrize(
    ("found", "said"),
    [
        ([["a", 1]], "1 rows instead of 2"),
        ([["a", 1], ["b", 3]], r"the row \['b', 3\] instead of \['b', 2\]"),
        ([["a", 1], ["c", 2]], r"the row \['c', 2\]"),
        ([["a", 1], ["b", None]], "None"),
        ([["a", 1], ["b", 2, 2]], "2, 2"),
    ],
)
def test_a_difference_is_named(found: list[list[object]], said: str) -> None:
    assert re.search(said, difference(found, [["a", 1], ["b", 2]]) or "")
