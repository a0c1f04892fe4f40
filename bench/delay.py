"""Added one-way delay against a bare veth pair in the same round, spinning and sleeping."""

import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field

import numpy as np

from bench.figures import Figure, figure
from crosswind.probe.single_packets import Probes, probe_bare, probe_fabric
from crosswind.results import Measurement
from crosswind.testbed.plain import plain_fabric

# One second of each; less at the higher rates, where a round is then one second in all.
COUNT_MAX = 20_000


@dataclass(frozen=True)
class Case:
    """A link with a delay, the packet rate that is offered, and the targets for errors and losses."""

    declared_us: int
    rate_per_s: int
    wait: str
    p50_us: float | None
    p99_us: float


CASES = (
    *(Case(declared_us, 1000, "spin", 1, 15) for declared_us in (5, 10, 50, 200, 1000)),
    Case(50, 10_000, "spin", None, 30),
    Case(50, 50_000, "spin", None, 100),
    *(Case(declared_us, 1000, "sleep", 5, 30) for declared_us in (60, 200, 1000)),
)
CORE_SHARE_MAX = 0.1


@dataclass
class _Rounds:
    errors_us: dict[float, list[float]] = field(default_factory=lambda: {0.5: [], 0.99: []})
    paced_us: dict[float, list[float]] = field(default_factory=lambda: {0.5: [], 0.99: []})
    ledger_us: dict[float, list[float]] = field(default_factory=lambda: {0.5: [], 0.99: []})
    early: int = 0
    lost: list[float] = field(default_factory=list)
    core_share: list[float] = field(default_factory=list)

    def add(self, case: Case, bare: Probes, through: Probes, measurement: Measurement) -> None:
        floor_us = {p: float(np.quantile(bare.delay_ns, p)) / 1e3 for p in self.errors_us}
        for p, errors in self.errors_us.items():
            errors.append(float(np.quantile(through.delay_ns, p)) / 1e3 - case.declared_us - floor_us[p])
            self.paced_us[p].append(round(paced_us(bare, p), 2))
            self.ledger_us[p].append((measurement.ledger.error_ns[f"p{p * 100:g}"] or 0) / 1e3)
        self.early += measurement.ledger.early + int(np.sum(through.delay_ns < case.declared_us * 1000))
        self.lost.append(float(through.lost))
        self.core_share.append((measurement.host.emulator_cpu_ns or 0) / measurement.window.length_ns)


def paced_us(bare: Probes, p: float) -> float:
    """Return how late packets cross a bare pair that a program sends at planned instants.

    It does what an emulator has to do with a packet that is due: spin, send, and be away when the machine is.
    """
    return float(np.quantile(bare.received_ns - bare.planned_ns, p)) / 1e3


def delay(rounds: int) -> Iterator[Figure]:
    """Yield the error of every case at the median and the 99th percentile, losses, and early packets."""
    seen = {case: _Rounds() for case in CASES}
    for _ in range(rounds):
        for case in CASES:
            count = min(case.rate_per_s, COUNT_MAX)
            bare = probe_bare(case.rate_per_s, count)
            spec = plain_fabric(delay_ns=case.declared_us * 500).with_changes(wait=case.wait)
            through, measurement = probe_fabric(spec, case.rate_per_s, count)
            seen[case].add(case, bare, through, measurement)
    for case, result in seen.items():
        what = f"{case.declared_us} us link, {case.rate_per_s // 1000} kpps, {case.wait}"
        for p, wanted_us in ((0.5, case.p50_us), (0.99, case.p99_us)):
            yield figure(
                f"added one-way delay error p{p * 100:g}, {what}",
                "us",
                result.errors_us[p],
                None if wanted_us is None else f"at most {wanted_us:g}",
                paced_over_bare_veth_us=statistics.median(result.paced_us[p]),
                left_late_by_the_ledger_us=statistics.median(result.ledger_us[p]),
            )
        if case.rate_per_s > 1000:
            yield figure(f"packets lost, {what}", "packets", result.lost, "0")
        if case.wait == "sleep":
            yield figure(
                f"emulator, share of a core, {what}",
                "ratio",
                result.core_share,
                f"at most {CORE_SHARE_MAX:g}",
            )
    early = [float(result.early) for result in seen.values()]
    yield figure("packets that left early, all cases", "packets", [sum(early)], "0")
