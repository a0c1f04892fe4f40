"""The closed loop: emulated token buckets are measured with real packets and compared with their parameters.

The rule of the NSDI '20 artifact is applied to the same samples: when it reports an empty bucket, if ever.
Then the condition that `crosswind conditions from` makes of the measurement is emulated and measured in the
same way, and both measurements are compared.
"""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import partial
from itertools import product

from bench.figures import Figure, figure
from bench.fitted import fitted_places
from crosswind.analysis.network.comparison import compare_fingerprints
from crosswind.analysis.network.document import SCHEMA, FingerprintDocument, text_of
from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.fingerprint.bucket.published_detector import reported_at
from crosswind.fingerprint.bucket.token_bucket import identify
from crosswind.fingerprint.fingerprint import bucket_part, samples_of
from crosswind.fingerprint.fit.fitted import NoFit
from crosswind.fingerprint.measure.duty_cycle import duty_cycle
from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import rate_text

SAMPLE_S = 0.05
OVERLOAD = 1.3
# On a busy machine the sender can stall for this long; the buffer keeps the path busy meanwhile.
BUFFER_S = 0.05
# How long the low rate is measured after the bucket is empty, and how long the high rate lasts after a rest.
LOW_S = 1.5
AGAIN_S = 0.4
# A bucket that outlasts the test holds five times the bits that are sent in it.
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

    @property
    def parameters(self) -> dict[str, float | None]:
        """The values that a fingerprint should find, in bit and bit/s."""
        return {
            "budget": self.budget_bits,
            "refill": self.refill_bps,
            "high": self.high_bps,
            "low": self.low_bps,
        }

    @property
    def outlasts(self) -> bool:
        """Whether the test ends before the bucket is empty."""
        return self.empty_s > TEST_S + LOW_S

    def fabric(self) -> FabricSpec:
        """Return the network with this bucket."""
        credit = {
            "budget_bits": self.budget_bits,
            "initial_bits": self.budget_bits,
            "high_bps": self.high_bps,
            "low_bps": self.low_bps,
            "refill_bps": self.refill_bps,
            "buffer_bytes": round(BUFFER_S * self.high_bps / 8),
        }
        return plain_fabric(places={"host.egress": [{"credit": credit}]})

    def measured(self, fabric: FabricSpec) -> "Measured":
        """Measure a network at full speed for longer than the bucket lasts, and again after a rest."""
        rest_s = AGAIN_S * (1 / self.refill - 1)
        on_s = [TEST_S] if self.outlasts else [self.empty_s + LOW_S, AGAIN_S + LOW_S]
        offered_bps = OVERLOAD * self.high_bps
        trace = duty_cycle(partial(own_fabric, fabric), offered_bps, on_s, rest_s, SAMPLE_S)
        # Without a rest the refill cannot be measured.
        found = identify(trace, refill_bps=self.refill_bps if self.outlasts else None)
        return Measured(offered_bps, trace, found)


@dataclass(frozen=True)
class Measured:
    """A trace, and the bucket that was identified from it."""

    offered_bps: float
    trace: TrafficTrace
    found: TokenBucket

    @property
    def document(self) -> FingerprintDocument:
        """A fingerprint of the bucket alone."""
        return FingerprintDocument(
            schema_version=SCHEMA,
            between=("n0", "n1"),
            token_bucket=bucket_part(self.offered_bps, self.found),
            trace=samples_of(self.trace),
        )

    @property
    def parameters(self) -> dict[str, float | None]:
        """The identified values, in bit and bit/s."""
        found = {
            "budget": self.found.budget_bits,
            "refill": self.found.refill_bps,
            "high": self.found.high_bps,
            "low": self.found.low_bps,
        }
        return {name: None if estimate is None else estimate.value for name, estimate in found.items()}


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
    """Yield the errors of every bucket, and the changes when the identified bucket is emulated in turn.

    Then each kind of both over all buckets. Every bucket is measured once, for any number of rounds, because
    there are many buckets.
    """
    errors: dict[str, list[float]] = {name: [] for name in WANTED}
    changes: dict[str, list[float]] = {name: [] for name in WANTED}
    for bucket in BUCKETS:
        measured = bucket.measured(bucket.fabric())
        error = _off(measured.parameters, bucket.parameters)
        _keep(error, errors)
        yield figure(
            f"error of the budget, {bucket}",
            "ratio",
            [error["budget"]],
            f"at most {WANTED['budget']:g}",
            **{f"{name}_error": round(share, 5) for name, share in error.items() if name != "budget"},
            kind=measured.found.kind,
            emptied_s=None if measured.found.emptied_s is None else round(measured.found.emptied_s, 3),
            published_rule_reports_s=_reported_s(measured.trace),
        )
        change, details = _again(bucket, measured)
        _keep(change, changes)
        yield figure(
            f"change of the budget when it is fitted and measured again, {bucket}",
            "ratio",
            [change["budget"]],
            f"at most {WANTED['budget']:g}",
            **{f"{name}_change": round(share, 5) for name, share in change.items() if name != "budget"},
            **details,
        )
    for bucket in OUTLASTING:
        measured = bucket.measured(bucket.fabric())
        bound = (measured.found.at_least_bits or 0.0) / bucket.budget_bits
        yield figure(
            f"bound over budget, {bucket}",
            "ratio",
            [bound],
            f"about {TEST_S / OUTLASTS_S:g}",
            kind=measured.found.kind,
            published_rule_reports_s=_reported_s(measured.trace),
        )
        change, details = _again(bucket, measured)
        changes["high"].append(change["high"])
        yield figure(
            f"change of the high rate when it is fitted and measured again, {bucket}",
            "ratio",
            [change["high"]],
            f"at most {WANTED['high']:g}",
            **details,
        )
    for what, seen in (("error", errors), ("change", changes)):
        for name, values in seen.items():
            yield figure(f"{what} of the {name}, all buckets", "ratio", values, f"at most {WANTED[name]:g}")


def _reported_s(trace: TrafficTrace) -> float | None:
    """Return when the published rule reports an empty bucket, in seconds from the start of the trace."""
    reported = reported_at(next(trace.phases()).rate_bps)
    return None if reported is None else round(reported * SAMPLE_S, 2)


def _again(bucket: Bucket, first: Measured) -> tuple[dict[str, float], dict[str, str]]:
    """Return the change of each figure when the identified bucket is emulated, and further keys."""
    try:
        fabric = plain_fabric(places=fitted_places(text_of(first.document).encode()))
    except NoFit as refused:
        return dict.fromkeys(WANTED, 1.0), {"refused": str(refused)}
    second = bucket.measured(fabric)
    compared = compare_fingerprints([first.document], [second.document])
    return _off(second.parameters, first.parameters), {"kind": second.found.kind, "compare": compared.verdict}


def _off(found: Mapping[str, float | None], wanted: Mapping[str, float | None]) -> dict[str, float]:
    """Return the error of each figure, as a share; 1 for a figure that was not found."""
    pairs = {name: (found[name], value) for name, value in wanted.items()}
    return {
        name: 1.0 if value is None or true is None else abs(value / true - 1)
        for name, (value, true) in pairs.items()
    }


def _keep(shares: Mapping[str, float], seen: Mapping[str, list[float]]) -> None:
    for name, share in shares.items():
        seen[name].append(share)
