"""The closed loop: emulated token buckets are measured with real packets, and come back.

Beside each bucket stands the rule of the NSDI '20 artifact on the same samples: after how long it reports, if
ever.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import partial
from itertools import product

from bench.figures import Figure, figure
from crosswind.doctor.quantities import rate_text
from crosswind.fingerprint.bucket.published_detector import reported_at
from crosswind.fingerprint.bucket.token_bucket import TokenBucket, identify
from crosswind.fingerprint.measure.duty_cycle import duty_cycle
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.fingerprint.trace.traffic_trace import TrafficTrace
from crosswind.testbed.plain import plain_fabric

SAMPLE_S = 0.05
OVERLOAD = 1.3
# A busy machine keeps the sender from sending for so long, and the path has something to give meanwhile.
BUFFER_S = 0.05
# When the bucket is empty the low rate is watched for so long, and a rest is worth the high rate for so long.
LOW_S = 1.5
AGAIN_S = 0.4
# What outlasts the test holds five times what is sent in it.
TEST_S = 3.0
OUTLASTS_S = 15.0


@dataclass(frozen=True)
class Bucket:
    """An emulated bucket that, when full, lasts `empty_s`; `low` and `refill` are shares of `high_bps`."""

    high_bps: int
    low: float
    refill: float
    empty_s: float

    def __str__(self) -> str:
        lasts = f"empty after {self.empty_s:g} s"
        return f"{rate_text(self.high_bps)}, low {self.low:g}, refill {self.refill:g}, {lasts}"

    @property
    def low_bps(self) -> int:
        return round(self.high_bps * self.low)

    @property
    def refill_bps(self) -> int:
        return round(self.high_bps * self.refill)

    @property
    def budget_bits(self) -> int:
        return round((self.high_bps - self.refill_bps) * self.empty_s)

    def measured(self) -> TrafficTrace:
        """Return its trace: at full speed until it is empty and longer; and once more, after a rest."""
        credit = {
            "budget_bits": self.budget_bits,
            "initial_bits": self.budget_bits,
            "high_bps": self.high_bps,
            "low_bps": self.low_bps,
            "refill_bps": self.refill_bps,
            "buffer_bytes": round(BUFFER_S * self.high_bps / 8),
        }
        spec = plain_fabric(places={"host.egress": [{"credit": credit}]})
        rest_s = AGAIN_S * (1 / self.refill - 1)
        outlasts = self.empty_s > TEST_S + LOW_S
        on_s = [TEST_S] if outlasts else [self.empty_s + LOW_S, AGAIN_S + LOW_S]
        return duty_cycle(partial(own_fabric, spec), OVERLOAD * self.high_bps, on_s, rest_s, SAMPLE_S)


BUCKETS = [
    *(
        Bucket(mbps * 1_000_000, refill, refill, empty_s)
        for mbps, refill, empty_s in product((10, 20, 50, 100), (0.05, 0.1, 0.3), (0.8, 2.0, 4.0))
    ),
    # Controllers with a low rate of their own.
    *(Bucket(mbps * 1_000_000, 0.2, 0.1, 2.0) for mbps in (10, 50)),
]
OUTLASTING = [Bucket(mbps * 1_000_000, 0.1, 0.1, OUTLASTS_S) for mbps in (10, 50)]
WANTED = {"budget": 0.02, "refill": 0.01, "high": 0.005, "low": 0.005}


def fingerprint(_: int) -> Iterator[Figure]:
    """Yield the errors of what was found of every bucket, and each kind of error over all of them.

    Every bucket is measured once, whatever the number of rounds: their number takes its place.
    """
    seen: dict[str, list[float]] = {name: [] for name in WANTED}
    for bucket in BUCKETS:
        trace = bucket.measured()
        found = identify(trace)
        errors = _errors(bucket, found)
        for name, error in errors.items():
            seen[name].append(error)
        reported = reported_at(next(trace.phases()).rate_bps)
        yield figure(
            f"error of the budget, {bucket}",
            "ratio",
            [errors["budget"]],
            f"at most {WANTED['budget']:g}",
            **{f"{name}_error": round(error, 5) for name, error in errors.items() if name != "budget"},
            kind=found.kind,
            emptied_s=None if found.emptied_s is None else round(found.emptied_s, 3),
            published_rule_reports_s=None if reported is None else round(reported * SAMPLE_S, 2),
        )
    for bucket in OUTLASTING:
        found = identify(bucket.measured(), refill_bps=bucket.refill_bps)
        bound = (found.at_least_bits or 0.0) / bucket.budget_bits
        yield figure(
            f"bound over budget, {bucket}",
            "ratio",
            [bound],
            f"about {TEST_S / OUTLASTS_S:g}",
            kind=found.kind,
        )
    for name, values in seen.items():
        yield figure(f"error of the {name}, all buckets", "ratio", values, f"at most {WANTED[name]:g}")


def _errors(bucket: Bucket, found: TokenBucket) -> dict[str, float]:
    """Return the relative error of each figure; what was not found is wrong altogether."""
    pairs = {
        "budget": (found.budget_bits, bucket.budget_bits),
        "refill": (found.refill_bps, bucket.refill_bps),
        "high": (found.high_bps, bucket.high_bps),
        "low": (found.low_bps, bucket.low_bps),
    }
    return {
        name: 1.0 if estimate is None else abs(estimate.value / true - 1)
        for name, (estimate, true) in pairs.items()
    }
