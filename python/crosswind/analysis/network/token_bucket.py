"""The token bucket behind a trace of rates, as it was found."""

from __future__ import annotations

from typing import Literal

from crosswind.analysis.network.part import FingerprintPart
from crosswind.stats import Bounded

Kind = Literal["bucket", "two-state", "undecided", "not emptied"]


class TokenBucket(FingerprintPart):
    """The token bucket; rates in bit/s, sizes in bit, each with its 95 % interval.

    Attributes:
        kind: `bucket` where the low rate is the refill; `two-state` for a controller with two rates;
            `undecided` where no phase after a rest emptied it again, or no sample shows the low rate alone.
        high_bps: the rate while there are tokens.
        low_bps: the rate without tokens; None where it was not emptied.
        refill_bps: the refill, from rests; None where no rest shows it.
        emptied_s: from the start of the trace until it was empty, rests included; None where it was not.
        budget_bits: what it held at the start of the trace, or after a rest that filled it; None where it was
            not emptied. Where the refill is unknown, the low rate is used for it.
        at_least_bits: a lower bound of the budget where it was not emptied and the refill is known.
    """

    kind: Kind
    high_bps: Bounded
    low_bps: Bounded | None = None
    refill_bps: Bounded | None = None
    emptied_s: float | None = None
    budget_bits: Bounded | None = None
    at_least_bits: float | None = None


class TokenBucketPart(TokenBucket):
    """The token bucket of a fingerprint; `offered_bps` is the rate that the sender sent, in IP bits."""

    offered_bps: float
