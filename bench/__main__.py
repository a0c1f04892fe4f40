"""Run every benchmark and print one JSON line per figure: `python -m bench [--rounds N] [NAME ...]`."""

import argparse
import json
import sys
from collections.abc import Callable, Iterator

from bench import (
    bucket_intervals,
    bucket_tails,
    changes,
    coverage,
    crosscheck,
    crosscheck_services,
    crosscheck_traffic,
    delay,
    engine,
    fingerprint,
    fingerprint_delays,
    monitors,
    nodes,
    peers,
    profile,
    rates,
    repetitions,
    reports,
    throughput,
)
from bench.figures import Figure, skipped
from crosswind.probe.bare import bare_impossible

ROUNDS = 6  # The fewest that bound a median at 95 %.

# By name; each is given the number of rounds.
BENCHMARKS: dict[str, Callable[[int], Iterator[Figure]]] = {
    "delay": delay.delay,
    "tcp": throughput.tcp,
    "udp": throughput.udp,
    "rate": rates.rate,
    "bucket-tails": bucket_tails.bucket_tails,
    "hosts": nodes.hosts,
    "nodes": nodes.nodes,
    "monitors": monitors.monitors,
    "engine": engine.engine,
    "events": engine.events,
    "paths": engine.paths,
    "changes": changes.changes,
    "capacity": engine.capacity,
    "forwarder": engine.forwarder,
    "domains": engine.domains,
    "repetitions": repetitions.repetitions,
    "fingerprint": fingerprint.fingerprint,
    "fingerprint-delays": fingerprint_delays.delays_back,
    "bucket-intervals": bucket_intervals.bucket_intervals,
    "rattan": peers.rattan,
    "coverage": coverage.coverage,
    "reports": reports.reports,
    "profile": profile.profile,
    "crosscheck-ycsb": crosscheck.crosscheck,
    "crosscheck-memcached": crosscheck_services.memcached,
    "crosscheck-web": crosscheck_services.web,
    "crosscheck-traffic": crosscheck_traffic.crosscheck_traffic,
}

# They calculate only: they need no network, so no rights either.
PURE = {"bucket-intervals", "coverage", "domains", "profile", "repetitions", "reports"}


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"how often each is measured (default: {ROUNDS})"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    reason = bare_impossible()
    for name in asked.names or list(BENCHMARKS):
        impossible = reason and name not in PURE
        figures = iter([skipped(name, reason)]) if impossible else BENCHMARKS[name](asked.rounds)
        for figure in figures:
            print(json.dumps(figure), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
