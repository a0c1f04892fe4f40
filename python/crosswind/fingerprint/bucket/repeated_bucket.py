"""Combine repeated measurements of a token bucket: medians, with intervals that assume no distribution.

Repetitions must be independent: on other machines, or on a network that was made anew. A bucket that was not
emptied counts as larger than all others, since only a lower bound of it is known.

Source: the study repeated its measurement on 15 machines (Uta et al. 2020, NSDI, figure 11); intervals from
order statistics: Le Boudec 2010, ch. 2.
"""

from __future__ import annotations

import math
from collections.abc import Sequence

from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.stats.interval import Interval, NeedsTrials, quantile_interval
from crosswind.stats.trials import PerTrial


def over_repetitions(found: Sequence[TokenBucket]) -> dict[str, Interval | NeedsTrials]:
    """Return the median of each figure over repetitions, by its name in `TokenBucket`, in bit or bit/s.

    Low rate and refill are over those that were emptied.
    """
    values = {
        "high_bps": [one.high_bps.value for one in found],
        "low_bps": [one.low_bps.value for one in found if one.low_bps],
        "refill_bps": [one.refill_bps.value for one in found if one.refill_bps],
        "budget_bits": [one.budget_bits.value if one.budget_bits else math.inf for one in found],
    }
    return {name: quantile_interval(PerTrial.numbered(each), 0.5) for name, each in values.items()}
