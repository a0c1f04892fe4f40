"""What slower time brings on this machine: fast links at once, and a tail without the machine's noise.

    python -m bench.dilation links [--rounds 6] [--pairs 8] [--dilation 40]
    python -m bench.dilation tail [--rounds 20] [--dilation 10]

`links` sends one stream through each of several pairs of hosts, all at once, with uplinks of 10 Gbit/s and a
round trip of 1 ms; then single messages. `tail` reads from a replicated PostgreSQL without any shaping, in
real time and in slower time in turn, and compares how far P99 moves from trial to trial: of all trials, and
of those that the machine did not disturb.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from statistics import median, quantiles

import crosswind
from crosswind import catalog

UPLINK = {"rate": "10Gbit/s", "delay": "250us", "buffer": "4MiB"}
STREAMS = {"exchange": "bulk", "duration": "1s", "warm_up": "500ms"}
MESSAGES = {"exchange": "ping-pong", "message": "64B", "duration": "500ms", "warm_up": "100ms"}


def links(rounds: int, pairs: int, dilation: int, results: Path) -> Iterator[str]:
    """Yield the rows of a table: goodput of each pair in each round, and round trips."""
    yield "| round | goodput of each pair, Gbit/s | least | RTT of messages, P50, us | verdicts |"
    yield "|---|---|---|---|---|"
    for number in range(rounds):
        streams = _once(_traffic(pairs, STREAMS), dilation, results)
        messages = _once(_traffic(pairs, MESSAGES), dilation, results)
        found = _figures(streams)
        rates = [found[f"goodput.{pair} mean"] / 1e9 for pair in range(pairs)]
        trip_us = _figures(messages)["latency p50"] / 1e3
        shown = ", ".join(f"{rate:.2f}" for rate in rates)
        verdicts = f"{_verdict(streams)}, {_verdict(messages)}"
        yield f"| {number + 1} | {shown} | {min(rates):.2f} | {trip_us:.1f} | {verdicts} |"


def tail(rounds: int, dilation: int, results: Path) -> Iterator[str]:
    """Yield the rows of a table: P50 and P99 of reads in real and in slower time, and their spread."""
    text = catalog.experiment_file("icpe23-ycsb-c").read_text()
    # It names all conditions.
    text = text.replace("published: icpe23-ycsb-c\n", "").replace("duration: 5s", "duration: 2s")
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "reads.yaml"
        file.write_text(text)
        tails: dict[int, list[tuple[float, str]]] = {1: [], dilation: []}
        yield "| round | dilation | P50, us | P99, us | verdict |"
        yield "|---|---|---|---|---|"
        for number in range(rounds):
            for factor in tails if number % 2 else reversed(tails):
                run = _once(file, None if factor == 1 else factor, results, ("icpe23/no-interference",))
                found, verdict = _figures(run), _verdict(run)
                tail_us = found["latency p99"] / 1e3
                tails[factor].append((tail_us, verdict))
                yield (
                    f"| {number + 1} | {factor} | {found['latency p50'] / 1e3:.0f} | {tail_us:.0f} "
                    f"| {verdict} |"
                )
    for factor, trials in tails.items():
        yield _spread(f"dilation {factor}, all trials", [tail_us for tail_us, _ in trials])
        quiet = [tail_us for tail_us, verdict in trials if verdict == "faithful"]
        yield _spread(f"dilation {factor}, faithful trials", quiet)


def _spread(what: str, tails_us: Sequence[float]) -> str:
    if len(tails_us) < 2:
        return f"{what}: {len(tails_us)}, too few"
    low, _, high = quantiles(tails_us, n=4)
    return (
        f"{what}: {len(tails_us)}, P99 {median(tails_us):.0f} us, half of them within {high - low:.0f} us, "
        f"all within {max(tails_us) - min(tails_us):.0f} us"
    )


def _traffic(pairs: int, exchange: Mapping[str, object]) -> dict[str, object]:
    return {
        "name": f"links-{exchange['exchange']}",
        "topology": {
            "hosts": 2 * pairs,
            "uplink": UPLINK,
            "nodes": {f"n{host}": f"h{host}" for host in range(2 * pairs)},
            "wait": "sleep",
        },
        "conditions": ["none"],
        "application": {"traffic": {"pattern": "pairs", **exchange}},
        "trials": {"repeat": 1, "limits": {"void": "accept"}},
    }


def _once(
    experiment: Path | dict[str, object], dilation: int | None, results: Path, only: tuple[str, ...] = ()
) -> crosswind.LoadedRun:
    return crosswind.run(experiment, results, once=True, only=only, dilation=dilation, quiet=True)


def _figures(run: crosswind.LoadedRun) -> dict[str, float]:
    rows = run.metrics.project("metric, statistic, value").fetchall()
    return {f"{metric} {statistic}": value for metric, statistic, value in rows}


def _verdict(run: crosswind.LoadedRun) -> str:
    (row,) = run.trials.project("fidelity").fetchall()
    return str(row[0])


def main() -> None:
    """Read the command line and run one part."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("part", choices=("links", "tail"))
    parser.add_argument("--rounds", type=int)
    parser.add_argument("--pairs", type=int, default=8)
    parser.add_argument("--dilation", type=int)
    parser.add_argument("--results", type=Path, default=Path("results-dilation"))
    asked = parser.parse_args()
    if asked.part == "links":
        rows = links(asked.rounds or 6, asked.pairs, asked.dilation or 40, asked.results)
    else:
        rows = tail(asked.rounds or 20, asked.dilation or 10, asked.results)
    for row in rows:
        print(row, flush=True)


if __name__ == "__main__":
    main()
