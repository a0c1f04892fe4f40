"""The line between real and perceived time."""

from hypothesis import given
from hypothesis import strategies as any_of

from crosswind.spec.resolved import REAL_TIME, Anchor, PerceivedTime, slower_text

INSTANTS = any_of.integers(min_value=0, max_value=2**62)
LINES = any_of.builds(
    PerceivedTime,
    factor=any_of.integers(min_value=1, max_value=1000),
    anchor=any_of.builds(Anchor, monotonic_ns=INSTANTS, realtime_ns=INSTANTS),
)


@given(LINES, INSTANTS)
def test_there_and_back_is_the_same_instant_and_nothing_is_early(line: PerceivedTime, at_ns: int) -> None:
    real_ns = line.real_ns(at_ns)
    assert line.perceived_ns(real_ns) == at_ns
    assert line.perceived_ns(real_ns - 1) == at_ns - 1


@given(LINES, INSTANTS, any_of.integers(min_value=0, max_value=2**50))
def test_lengths_shrink_by_the_factor_and_order_stays(
    line: PerceivedTime, real_ns: int, length_ns: int
) -> None:
    perceived_ns = line.perceived_ns(real_ns + length_ns) - line.perceived_ns(real_ns)
    # Each end is rounded down.
    assert 0 <= perceived_ns * line.factor - length_ns + line.factor <= 2 * line.factor
    assert line.real_s(1.5) == 1.5 * line.factor


@given(INSTANTS)
def test_real_time_is_perceived_as_it_is(instant_ns: int) -> None:
    assert REAL_TIME.perceived_ns(instant_ns) == REAL_TIME.real_ns(instant_ns) == instant_ns


def test_what_pages_show_names_the_factor() -> None:
    assert slower_text([10]) == "time: 10 times slower; perceived time is shown"
    assert slower_text([None]) == ""
    assert "changes nothing" in slower_text([1])
    assert "changes nothing" in slower_text([None, 1])


def test_what_pages_show_names_every_factor_where_conditions_differ() -> None:
    assert slower_text([10, 20]) == "time: 10 and 20 times slower, by condition; perceived time is shown"
    assert slower_text([None, 1, 10]).startswith("time: real, and 10 times slower, by condition")
