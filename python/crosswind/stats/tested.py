"""What a test of a hypothesis found."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Tested:
    """A statistic and how rarely it is at least so extreme where the hypothesis holds.

    A series that never changes has neither: both are NaN and `law` is "constant".
    """

    statistic: float
    p: float  # in [0, 1]
    law: str  # Where p comes from: "exact", "permutation", "asymptotic", "table", "constant".


CONSTANT = Tested(float("nan"), float("nan"), "constant")
