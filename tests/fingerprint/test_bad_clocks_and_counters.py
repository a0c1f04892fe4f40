"""Clocks that are set and counters that wrap while a network is measured."""

from __future__ import annotations

import re

import pytest

from crosswind.fingerprint.measure.end_facts import counted_since
from crosswind.fingerprint.measure.wall_clock import ClockSet, refuse_set


@pytest.mark.parametrize(("after_s", "by"), [(1003.5, "+3.5 s"), (940.0, "-60 s")])
def test_a_clock_that_was_set_is_named_with_its_end(after_s: float, by: str) -> None:
    with pytest.raises(ClockSet, match=re.escape(f"b: its clock was set by {by}")):
        refuse_set("b", 1000.0, after_s)


def test_a_clock_that_is_slewed_is_no_clock_that_was_set() -> None:
    # The two clocks are read one after the other, by a program that may have to wait in between.
    refuse_set("b", 1000.0, 1000.05)


def test_a_counter_that_wraps_has_not_run_backwards() -> None:
    assert counted_since((1 << 32) - 100, 400, bits=32) == 500
    assert counted_since(100, 400) == 300
