"""Another machine's clock, as `crosswind-load traffic --clock` takes it."""

import pytest

from crosswind.app.traffic.relay import clock_line
from crosswind.results.measurement import SAME_CLOCK, ClockLine

NS_PER_S = 1_000_000_000
# 1000 s ahead and 20 ppm faster; 5 s behind and 30 ppm slower.
FAST = ClockLine(here_ns=0, there_ns=1000 * NS_PER_S, gained_ns=20_000, over_ns=NS_PER_S, bound_ns=0)
SLOW = ClockLine(
    here_ns=10 * NS_PER_S, there_ns=5 * NS_PER_S, gained_ns=-30_000, over_ns=NS_PER_S, bound_ns=0
)


@pytest.mark.parametrize("own", [SAME_CLOCK, FAST, SLOW])
@pytest.mark.parametrize("other", [SAME_CLOCK, FAST, SLOW])
def test_a_clock_over_another_leads_where_both_lead(own: ClockLine, other: ClockLine) -> None:
    here_ns, there_ns, gained_ns, over_ns = map(int, clock_line(own, other, 50 * NS_PER_S).split(","))
    line = ClockLine(here_ns=here_ns, there_ns=there_ns, gained_ns=gained_ns, over_ns=over_ns, bound_ns=0)
    for at_ns in (40 * NS_PER_S, 50 * NS_PER_S, 400 * NS_PER_S):
        assert abs(line.there(own.there(at_ns)) - other.there(at_ns)) <= 10
