"""Run every benchmark and print one JSON line per figure: `python -m bench [--rounds N] [NAME ...]`."""

import argparse
import sys
from collections.abc import Callable, Iterator

from bench import (
    bucket_intervals,
    bucket_tails,
    changes,
    console,
    console_frames,
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
    tunnel_error,
    two_machines,
)
from bench.figures import Figure, Skipped, skipped
from crosswind.probe.bare import bare_impossible

ROUNDS = 6  # The fewest with an interval of the median at 95 %.

# By name; the argument is the number of rounds.
BENCHMARKS: dict[str, Callable[[int], Iterator[Figure | Skipped]]] = {
    "delay": delay.delay,
    "tcp": throughput.tcp,
    "udp": throughput.udp,
    "rate": rates.rate,
    "two-machines": two_machines.throughput,
    "two-machines-delay": two_machines.delay,
    "tunnel-error": tunnel_error.tunnel_error,
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
    "console": console.console,
    "console-frames": console_frames.frames,
    "console-refused": console.refused,
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

# These only calculate: they need no network and no privileges.
PURE = {"bucket-intervals", "console-frames", "coverage", "domains", "profile", "repetitions", "reports"}


def main() -> int:
    """Run the named benchmarks, or all."""
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument(
        "--rounds", type=int, default=ROUNDS, help=f"number of measurements of each (default: {ROUNDS})"
    )
    parser.add_argument("names", nargs="*", metavar="NAME", help=", ".join(BENCHMARKS))
    asked = parser.parse_args()
    unknown = [name for name in asked.names if name not in BENCHMARKS]
    if unknown:
        parser.error(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}")
    impossible = bare_impossible()
    for name in asked.names or list(BENCHMARKS):
        if impossible and name not in PURE:
            figures: Iterator[Figure | Skipped] = iter([skipped(name, impossible)])
        else:
            figures = BENCHMARKS[name](asked.rounds)
        for figure in figures:
            print(figure.model_dump_json(), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main())
