"""Metrics that all applications with parallel streams share."""

import math
from collections.abc import Sequence

from crosswind.results.rows import Metric
from crosswind.spec.declared import Figure
from crosswind.stats import jain_index

GOODPUT = Figure("goodput", "mean", "bit/s", "goodput", "higher")
FAIRNESS = Figure("fairness", "jain", "1", "fairness", "higher")


def goodput_metrics(node: str | None, total_bps: float, streams_bps: Sequence[float]) -> list[Metric]:
    """Return the goodput of all streams together and of each, and Jain's fairness index.

    Args:
        node: the receiver; None for several.
        total_bps: payload over the time that all streams share.
        streams_bps: likewise, of each stream; they are numbered from 0.
    """
    fairness = jain_index(streams_bps)
    return [
        Metric(node, "goodput", "bit/s", "mean", total_bps),
        *(
            Metric(node, f"goodput.{number}", "bit/s", "mean", rate_bps)
            for number, rate_bps in enumerate(streams_bps)
        ),
        *([] if math.isnan(fairness) else [Metric(node, "fairness", "1", "jain", fairness)]),
    ]
