"""A live link passes as a device under test: throughput, burst, and the bounds of a search for some loss."""

from __future__ import annotations

import pytest

from crosswind.certify import Claim, Decision
from crosswind.certify.conformance import rfc2544, rfc9971
from crosswind.certify.quiet import Tries

pytestmark = [pytest.mark.long, pytest.mark.alone]

# A machine that is never quiet costs each test no more than this.
REPEATED_S_MAX = 10.0


def _holds(claim: Claim) -> None:
    if claim.decision is Decision.UNDECIDED:
        pytest.skip(f"{claim.name}: {claim.remark}")
    assert claim.decision is Decision.HELD, claim


def test_full_frames_have_the_mediums_throughput() -> None:
    _holds(rfc2544.throughput(Tries(REPEATED_S_MAX), 1518))


def test_bursts_are_as_long_as_the_buffer() -> None:
    _holds(rfc2544.back_to_back(Tries(REPEATED_S_MAX), 1518))


def test_a_goal_of_some_loss_is_found() -> None:
    _holds(rfc9971.relevant_bounds(Tries(REPEATED_S_MAX), 1518, rfc9971.GOALS[1]))
