"""Claims: delays are exact, and an empty condition has no effect; both compared with a bare veth pair.

Every round sends the same packets over a bare pair and over fabrics of every delay, one after the other, so
that a slow machine affects all of them. The error of a quantile is that of the fabric, minus the declared
delay, minus that of the bare pair in the same round. The claim is on the median over the rounds.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field

import numpy as np

from crosswind.certify.claim import Claim, at_most, not_measured
from crosswind.certify.quiet import Tried, Tries, Watch
from crosswind.probe.bare import bare_impossible
from crosswind.probe.single_packets import Probes, probe_bare, probe_fabric
from crosswind.results import Measurement
from crosswind.stats import tost_paired
from crosswind.testbed.plain import plain_fabric
from crosswind.text.quantities import time_text

FAMILY = "delays"
NULL = "null test"
ROUNDS = 6
RATE_PER_S = 1000
PROBES = 500
QUANTILES = {"p50": 0.5, "p90": 0.9, "p99": 0.99, "p999": 0.999}


@dataclass(frozen=True)
class DelayGuarantee:
    """The guaranteed error of an added one-way delay, for one wait mode.

    Attributes:
        core_share: largest share of a CPU that it uses at the rate of the probes; None if it spins.
    """

    declared_ns: tuple[int, ...]
    p50_ns: int
    p99_ns: int
    core_share: float | None


# A sleeping emulator compensates its wake-up only in delays above 50 us (docs/explanation/emulator.md).
PROMISES = {
    "spin": DelayGuarantee((5_000, 50_000, 200_000, 1_000_000), 1_000, 15_000, None),
    "sleep": DelayGuarantee((100_000, 1_000_000), 5_000, 30_000, 0.1),
}


@dataclass
class _Rounds:
    """The results of one set-up, round by round: of the tries that count, but `early` is of all tries."""

    declared_ns: int = 0
    probes: list[Probes] = field(default_factory=list)
    early: int = 0  # By the ledger and by the receiver's time stamps, in every try.
    core_share: list[float] = field(default_factory=list)
    disturbed: str = ""

    def add_bare(self, tried: Tried[Probes]) -> None:
        self.probes.append(tried.result)
        self.disturbed = self.disturbed or tried.disturbed

    def add(self, tried: Tried[tuple[Probes, Measurement]]) -> None:
        probes, measurement = tried.result
        self.probes.append(probes)
        self.disturbed = self.disturbed or tried.disturbed
        self.core_share.append((measurement.host.emulator_cpu_ns or 0) / measurement.window.length_ns)
        for probes, measurement in tried.results:
            # The stamp is older than the entry, so a delay below the declared one proves an early departure.
            shorter = int(np.sum(probes.delay_ns < self.declared_ns))
            self.early += measurement.ledger.early + shorter

    def quantile(self, p: float) -> list[float]:
        return [float(np.quantile(probes.delay_ns, p)) for probes in self.probes]


def claims(wait_mode: str, tries: Tries) -> Iterator[Claim]:
    """Yield the null test, and the claims on every delay that the emulator guarantees on this machine.

    Args:
        wait_mode: the default of the emulator on this machine; if it is `sleep`, spinning is not measured.
    """
    if reason := bare_impossible():
        for family, name in ((FAMILY, "added one-way delay"), (NULL, "an empty condition")):
            yield not_measured(family, name, "live", "ns", "compared with a bare veth pair", reason)
        return
    waits = ("spin", "sleep") if wait_mode == "spin" else ("sleep",)
    bare, empty = _Rounds(), _Rounds()
    fabrics = {
        (wait, declared_ns): _Rounds(declared_ns)
        for wait in waits
        for declared_ns in PROMISES[wait].declared_ns
    }
    for _ in range(ROUNDS):
        bare.add_bare(tries.measure("a bare pair", lambda _: probe_bare(RATE_PER_S, PROBES)))
        for (wait, declared_ns), rounds in [((waits[0], 0), empty), *fabrics.items()]:
            rounds.add(_probed(tries, wait, declared_ns))
    yield from _null(bare, empty, min(PROMISES[waits[0]].declared_ns))
    for (wait, declared_ns), rounds in fabrics.items():
        yield from _delay(wait, declared_ns, bare, rounds)


def _probed(tries: Tries, wait: str, declared_ns: int) -> Tried[tuple[Probes, Measurement]]:
    # Half on each of the two links.
    fabric = plain_fabric(delay_ns=declared_ns // 2).with_changes(wait=wait)

    def once(watch: Watch) -> tuple[Probes, Measurement]:
        probes, measurement = probe_fabric(fabric, RATE_PER_S, PROBES)
        watch.judge(measurement)
        return probes, measurement

    return tries.measure(f"delay of {time_text(declared_ns)}, {wait}", once)


def _delay(wait: str, declared_ns: int, bare: _Rounds, fabric: _Rounds) -> Iterator[Claim]:
    disturbed = bare.disturbed or fabric.disturbed
    name, promise = f"delay of {time_text(declared_ns)}, {wait}", PROMISES[wait]
    errors = {
        quantile: float(np.median(np.subtract(fabric.quantile(p), bare.quantile(p)) - declared_ns))
        for quantile, p in QUANTILES.items()
    }
    details: dict[str, float | None] = {
        f"error_ns_{quantile}": round(error) for quantile, error in errors.items()
    }
    for quantile, bound_ns in (("p50", promise.p50_ns), ("p99", promise.p99_ns)):
        yield at_most(
            FAMILY,
            f"{name}: error at the {quantile}",
            "live",
            abs(errors[quantile]),
            bound_ns,
            "ns",
            "the guarantee, relative to a bare veth pair in the same rounds",
            disturbed=disturbed,
            remark=_not_guaranteed(errors) if quantile == "p99" else "",
            details={**details, "rounds": ROUNDS, "packets": ROUNDS * PROBES},
        )
    yield at_most(
        FAMILY,
        f"{name}: packets that left early",
        "live",
        fabric.early,
        0,
        "packets",
        "by the ledger and by the receiver's time stamps; a disturbed machine is no excuse",
    )
    if promise.core_share is not None:
        yield at_most(
            FAMILY,
            f"{name}: share of a CPU",
            "live",
            float(np.median(fabric.core_share)),
            promise.core_share,
            "cores",
            f"the limit for a sleeping emulator at {RATE_PER_S} packets/s",
            disturbed=disturbed,
        )


def _not_guaranteed(errors_ns: Mapping[str, float]) -> str:
    """Return a note with the quantiles that have no claim."""
    p90, p999 = (time_text(errors_ns[quantile]) for quantile in ("p90", "p999"))
    return f"the error is {p90} at the p90 and {p999} at the p99.9, which have no guarantee"


def _null(bare: _Rounds, empty: _Rounds, margin_ns: int) -> Iterator[Claim]:
    disturbed = bare.disturbed or empty.disturbed
    result = tost_paired(bare.quantile(0.5), empty.quantile(0.5), margin_ns)
    yield at_most(
        NULL,
        f"an empty condition equals a bare veth pair within {time_text(margin_ns)} of median delay",
        "live",
        max(abs(result.low), abs(result.high)),
        margin_ns,
        "ns",
        "two one-sided tests over rounds at 5 %; the margin is the shortest delay that is certified",
        disturbed=disturbed,
        details={"difference_ns": result.difference, "p": result.p, "rounds": ROUNDS},
    )
    yield at_most(
        NULL,
        "an empty condition: packets lost or overtaken",
        "live",
        sum(probes.lost + probes.overtaken for probes in empty.probes),
        0,
        "packets",
        "an empty condition neither drops nor reorders",
        disturbed=disturbed,
        details={"packets": ROUNDS * PROBES},
    )
