"""The waiting time of M/D/1: Poisson arrivals at a server with a constant service time."""

from __future__ import annotations

from dataclasses import dataclass
from decimal import Context, Decimal, localcontext
from math import floor


@dataclass(frozen=True)
class MD1:
    """A queue with one server, in any unit of time.

    Args:
        load: in (0, 1); the share of time in which the server is busy.
        service: service time of each customer.
    """

    load: float
    service: float

    def __post_init__(self) -> None:
        if not 0 < self.load < 1:
            raise ValueError(f"load: {self.load} is not in (0, 1); with more, the queue grows without limit")
        if not self.service > 0:
            raise ValueError(f"service: {self.service} is not above 0")

    @property
    def mean_wait(self) -> float:
        """The mean time before service begins, load / (2 (1 - load)) services.

        Source: Pollaczek 1930, Khinchine 1932.
        """
        return self.load / (2 * (1 - self.load)) * self.service

    def wait_cdf(self, wait: float) -> float:
        """Return P(W <= wait).

        The terms alternate and grow to about e^(load * wait / service), but their sum is below 1. So they are
        added with more digits than a float has.

        Source: Erlang 1909; Franx 2001, "A simple solution for the M/D/c waiting time distribution", eq. 1.
        """
        if wait < 0:
            return 0.0
        spans = wait / self.service
        with localcontext(Context(prec=30 + int(spans))):
            load, span = Decimal(self.load), Decimal(spans)
            total, factorial = Decimal(0), Decimal(1)
            for k in range(floor(spans) + 1):
                factorial *= max(k, 1)
                back = load * (k - span)  # At most 0.
                total += back**k / factorial * (-back).exp() if k else (load * span).exp()
            return float((1 - load) * total)
