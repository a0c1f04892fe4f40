"""Claims: MLRsearch finds the rate of an emulated link, for each goal of loss.

Goals are those of RFC 9971 for RFC 2544 (no loss, one trial of 60 s), and 0.5 % of loss with two trials, of
which one may lose more (as in TST009). The criterion is that a search finds the load that the link's rate
implies for the goal.

Source: RFC 9971 (draft-ietf-bmwg-mlrsearch), sections on search goals, bounds and compliance.
"""

from __future__ import annotations

from collections.abc import Iterator

from crosswind.certify.claim import Claim, at_most
from crosswind.certify.conformance.trials import ERROR_MAX, SHORTER, STEP, Goal, offered, search
from crosswind.certify.quiet import Tries

FAMILY = "RFC 9971 (MLRsearch)"
FRAME_BYTES = (64, 1518)
GOALS = (Goal(loss_ratio=0), Goal(loss_ratio=0.005, trials=2, exceed_ratio=0.5))


def claims(tries: Tries) -> Iterator[Claim]:
    """Yield the error of the relevant bounds of each goal, for small and large frames."""
    for frame_bytes in FRAME_BYTES:
        for goal in GOALS:
            yield relevant_bounds(tries, frame_bytes, goal)


def relevant_bounds(tries: Tries, frame_bytes: int, goal: Goal) -> Claim:
    """Return the claim on the bounds that a search for a goal ends with."""
    # A link that carries its rate loses this share at 1 / (1 - share) of it.
    expected = 1 / (1 - goal.loss_ratio)
    bounds = search(lambda load: offered(tries, frame_bytes, load), goal, expected)
    return at_most(
        FAMILY,
        f"goal loss ratio {goal.loss_ratio:.1%}, {frame_bytes} byte frames: error of the relevant bounds",
        "live",
        bounds.error(expected),
        ERROR_MAX,
        "ratio",
        f"RFC 9971: exceed ratio {goal.exceed_ratio:.0%}, duration sum {60 * goal.trials} s, goal width "
        f"{2 * STEP:.0%}; {SHORTER} of RFC 2544",
        disturbed=bounds.disturbed,
        details={"expected": expected, **bounds.details},
    )
