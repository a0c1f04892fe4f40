"""The studies' experiments at their published rates, in slower time.

    python -m bench.published EXPERIMENT [--trials 3] [--only CONDITION]

Each is a file of the catalogue with `scale: 1`, a dilation, and the phases, nodes and sizes below. Prints a
row for each condition: the median over its counted trials, in perceived time, and in brackets from the least
to the greatest. Needs root, and what the application needs.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median

import crosswind
from bench.catalogued import changed

NS_PER_MS = 1e6


def _slower(dilation: int, scale: str = "0.1") -> tuple[str, str]:
    return f"scale: {scale}\n", f"scale: 1\ntime: {{dilation: {dilation}}}\n"


@dataclass(frozen=True)
class Published:
    """An experiment of the catalogue at its published rates.

    Attributes:
        changes: texts of the file, and what takes their place.
        conditions: those that remain; all when empty.
        figures: as metric, statistic, and what a value is divided by.
    """

    name: str
    changes: Sequence[tuple[str, str]]
    conditions: Sequence[str]
    figures: Sequence[tuple[str, str, float]]


CLUSTER = (
    "icpe23/no-interference",
    "icpe23/interference",
    "icpe23/token-bucket-on-switch",
    "icpe23/token-bucket-on-host",
)
_SMALL_AND_SHORT = ("{size: small}", "{size: small, duration: 2s, warm_up: 500ms}")
_APACHE_FOR_SHORT = ("connections: 20}", "connections: 20, duration: 2s, warm_up: 500ms}")
_REQUESTS = (("throughput", "mean", 1e3), ("latency", "p50", NS_PER_MS), ("latency", "p99", NS_PER_MS))
EXPERIMENTS = {
    "icpe": Published(
        "icpe23-ycsb-b-mongodb",
        (_slower(10), ("duration: 5s", "duration: 3s")),
        (),
        (
            ("latency.read", "p95", NS_PER_MS),
            ("latency.read", "p99", NS_PER_MS),
            ("latency.read", "p999", NS_PER_MS),
            ("latency.update", "p50", NS_PER_MS),
            ("slow", "share", 0.01),
        ),
    ),
    "nrg-memcached": Published("nrg-memcached-latency", (_slower(10), _SMALL_AND_SHORT), (), _REQUESTS),
    "nrg-memcached-profile": Published(
        "nrg-memcached-profile", (_slower(10, "0.04"), _SMALL_AND_SHORT), (), _REQUESTS
    ),
    "nrg-apache": Published("nrg-apache-latency", (_slower(10), _APACHE_FOR_SHORT), (), _REQUESTS),
    "nrg-apache-profile": Published("nrg-apache-profile", (_slower(10), _APACHE_FOR_SHORT), (), _REQUESTS),
    "nrg-dns": Published("nrg-dns-latency", (_slower(10), ("duration: 5s", "duration: 2s")), (), _REQUESTS),
    "nrg-training": Published(
        "nrg-training-latency", (_slower(10),), (), (("training.time", "value", NS_PER_MS),)
    ),
    "nsdi": Published(
        "nsdi20-full-speed",
        (_slower(10), ("duration: 30s", "duration: 10s")),
        (),
        (("goodput", "mean", 1e9), ("rtt", "mean", NS_PER_MS), ("retransmits", "count", 1)),
    ),
    "hpcc": Published(
        "icpe23-hpcc",
        (
            _slower(40),
            ("hosts: 4", "hosts: 9"),
            (
                "{rank0: h0, rank1: h2}",
                "{" + ", ".join(f"rank{number}: h{number}" for number in range(9)) + "}",
            ),
        ),
        CLUSTER,
        (
            ("AvgPingPongLatency", "value", 1e3),
            ("AvgPingPongBandwidth", "value", 1e6),
            ("NaturallyOrderedRingBandwidth", "value", 1e6),
            ("MPIFFT", "value", 1e9),
            ("HPL", "value", 1e9),
        ),
    ),
    "terasort": Published(
        "icpe23-terasort",
        (
            _slower(10),
            ("hosts: 5", "hosts: 13"),
            (
                "{worker0: h0, worker1: h2, master: h4, client: h4}",
                "{"
                + ", ".join(f"worker{number}: h{number}" for number in range(12))
                + ", master: h12, client: h12}",
            ),
            ("size: small", "size: small, memory: 512MiB, records: 4000000"),
        ),
        CLUSTER,
        (("job.time", "total", 1e9),),
    ),
}


def main() -> None:
    """Run one experiment and print a row for each condition."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("experiment", choices=EXPERIMENTS)
    parser.add_argument("--trials", type=int, default=3)
    parser.add_argument("--only", action="append", default=[], help="one of its conditions; all when absent")
    parser.add_argument("--results", type=Path, default=Path("results/published"))
    asked = parser.parse_args()
    published = EXPERIMENTS[asked.experiment]
    repeat = "repeat: 6" if asked.experiment == "icpe" else "repeat: 3"
    text = changed(
        published.name,
        (*published.changes, (repeat, f"repeat: {asked.trials}")),
        asked.only or published.conditions,
    )
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / f"{published.name}.yaml"
        file.write_text(text)
        try:
            run = crosswind.run(file, asked.results, quiet=True)
        except crosswind.RunNotWhole as error:
            print(error)
            run = crosswind.load(error.folder)
    with run:
        print(run.folder)
        for row in rows(run, published.figures):
            print(row, flush=True)


def rows(run: crosswind.LoadedRun, figures: Sequence[tuple[str, str, float]]) -> Iterator[str]:
    """Yield a row for each condition of a run, in the order of its file."""
    heads = [f"{metric} {statistic}" for metric, statistic, _ in figures]
    yield f"| condition | trials | {' | '.join(heads)} |"
    yield f"|---|---|{'---|' * len(heads)}"
    trials = run.trials.project("trial, condition, coalesce(fidelity, status)").fetchall()
    verdict_of = {trial: verdict for trial, _, verdict in trials}
    condition_of = {trial: condition for trial, condition, _ in trials}
    values: dict[tuple[str, str, str], list[float]] = {}
    for trial, metric, statistic, value in run.metrics.project("trial, metric, statistic, value").fetchall():
        if value is not None and verdict_of[trial] not in ("void", "failed"):
            values.setdefault((condition_of[trial], metric, statistic), []).append(value)
    for condition in dict.fromkeys(condition_of.values()):
        verdicts = [verdict_of[trial] for trial, of in condition_of.items() if of == condition]
        counted = ", ".join(f"{verdicts.count(each)} {each}" for each in dict.fromkeys(verdicts))
        cells = [
            _cell([value / per for value in values.get((condition, metric, statistic), [])])
            for metric, statistic, per in figures
        ]
        yield f"| {condition} | {counted} | {' | '.join(cells)} |"


def _cell(values: Sequence[float]) -> str:
    if not values:
        return "-"
    return f"{median(values):.4g} ({min(values):.4g} to {max(values):.4g})"


if __name__ == "__main__":
    main()
