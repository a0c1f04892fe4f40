"""The engine and the forwarder alone, in virtual time: packets, events, paths and frames, by examples."""

import json
import shutil
import statistics
import subprocess
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from bench import peers
from bench.figures import Figure, Skipped, figure, skipped
from crosswind.text.quantities import rate_text

REPOSITORY = Path(__file__).parents[1]
WANTED_PACKETS = {"one link": 15e6, "one link, monitored": None, "ten stages": 5e6}
WANTED_EVENTS = {1_000: 20e6, 100_000: 10e6}


def engine(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield packets a second through one link and through a path of ten stages."""
    if reason := no_cargo():
        yield skipped("engine alone", reason)
        return
    rates: dict[str, list[float]] = {path: [] for path in WANTED_PACKETS}
    for _ in range(rounds):
        for row in example("crosswind-engine", "throughput"):
            rates[row["path"]].append(row["packets_per_s"])
    for path, wanted in WANTED_PACKETS.items():
        target = None if wanted is None else f"at least {wanted:.0f}"
        yield figure(f"engine alone, {path}", "packets/s", rates[path], target)


def events(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield events per second in virtual time, with those of ns-3 from PyPI in the same rounds."""
    if reason := no_cargo():
        yield skipped("virtual-time events", reason)
        return
    try:
        python: Path | None = peers.ns3_python()
    except peers.Unavailable as unavailable:
        python = None
        yield skipped("ns-3", str(unavailable))
    test = ["test", "--lib", "events_per_second", "--", "--ignored", "--nocapture"]
    ours: dict[int, list[float]] = {pending: [] for pending in WANTED_EVENTS}
    theirs: dict[int, list[float]] = {pending: [] for pending in WANTED_EVENTS}
    for _ in range(rounds):
        for row in _rows(["cargo", test[0], "--quiet", "--release", "-p", "crosswind-engine", *test[1:]]):
            ours[row["pending"]].append(row["events_per_s"])
        if python:
            for row in _rows([str(python), str(Path(__file__).with_name("ns3_events.py"))]):
                theirs[row["pending"]].append(row["events_per_s"])
    for pending, wanted in WANTED_EVENTS.items():
        yield figure(
            f"virtual-time events a second, {pending} pending",
            "1/s",
            ours[pending],
            f"at least {wanted:.0f}",
            ns3_per_s=[round(rate) for rate in theirs[pending]],
        )


def paths(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the cost of ten thousand directed paths compared with one, in throughput and in memory."""
    if reason := no_cargo():
        yield skipped("10 000 directed paths", reason)
        return
    measured = [row for _ in range(rounds) for row in example("crosswind-fabric", "paths")]
    turns = [
        1 - one / many for run in measured for one, many in zip(run["one_ns"], run["many_ns"], strict=True)
    ]
    yield figure(
        "throughput lost by 10 000 directed paths against one, in turns",
        "ratio",
        turns,
        "at most 0.1",
        one_ns=[round(statistics.median(run["one_ns"]), 1) for run in measured],
        many_ns=[round(statistics.median(run["many_ns"]), 1) for run in measured],
    )
    sizes = [run["bytes_per_path"] for run in measured]
    yield figure("memory of a directed path", "B", sizes, "at most 256")


def capacity(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the cost of a capacity that changes every 1 ms, compared with one level, with 10 000 events."""
    if reason := no_cargo():
        yield skipped("a capacity that changes every 1 ms", reason)
        return
    measured = [row for _ in range(rounds) for row in example("crosswind-engine", "capacity")]
    for rate_bps in sorted({row["rate_bps"] for row in measured}):
        runs = [row for row in measured if row["rate_bps"] == rate_bps]
        yield figure(
            f"throughput lost by a capacity that changes every 1 ms, {rate_text(rate_bps)}",
            "ratio",
            [_lost(run["one_level_ns"], run["trace_ns"]) for run in runs],
            "at most 0.01",
            lost_by_one_level=[round(_lost(run["own_rate_ns"], run["one_level_ns"]), 3) for run in runs],
        )


def _lost(before_ns: list[float], after_ns: list[float]) -> float:
    """Return the lost share of throughput, as the median over turns."""
    turns = zip(before_ns, after_ns, strict=True)
    return statistics.median(1 - before / after for before, after in turns)


def forwarder(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the time of a frame from a port in memory through the engine to a port in memory."""
    if reason := no_cargo():
        yield skipped("forwarder in memory", reason)
        return
    frames: dict[str, list[float]] = {}
    for _ in range(rounds):
        for row in example("crosswind-emulator", "forwarding"):
            frames.setdefault(f"{row['frame']}, {row['hosts']} hosts", []).append(row["ns"])
    for frame, ns in frames.items():
        yield figure(f"forwarder in memory, {frame}", "ns", ns, None)


def domains(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the gain of two domains over one on 16 hosts, in packets per second and CPU time per packet.

    A round has several turns of each. The best turn of each counts, because other programs disturb two
    threads more often than one.
    """
    if reason := no_cargo():
        yield skipped("two domains against one", reason)
        return
    faster, dearer, best = [], [], []
    for _ in range(rounds):
        turns = example("crosswind-simulator", "domains")
        one, two = ([turn for turn in turns if turn["domains"] == count] for count in (1, 2))
        rates = [max(turn["packets_per_s"] for turn in of) for of in (one, two)]
        cpu = [min(turn["cpu_ns_per_packet"] for turn in of) for of in (one, two)]
        faster.append(rates[1] / rates[0])
        dearer.append(cpu[1] / cpu[0])
        best.append(rates)
    name = "two domains against one on 16 hosts"
    yield figure(
        f"{name}, packets a second",
        "ratio",
        faster,
        "at least 1.6",
        packets_per_s_in_one=[rates[0] for rates in best],
        packets_per_s_in_two=[rates[1] for rates in best],
    )
    yield figure(f"{name}, CPU time a packet", "ratio", dearer, "at most 1.2")


def no_cargo() -> str | None:
    """Return the reason why no example can be run; None if it can."""
    return None if shutil.which("cargo") else "needs cargo: the measurement is in crates/"


def example(package: str, name: str) -> list[dict[str, Any]]:
    """Return the JSON lines that an example of a crate prints."""
    return _rows(["cargo", "run", "--quiet", "--release", "-p", package, "--example", name])


def _rows(command: list[str]) -> list[dict[str, Any]]:
    """Return the JSON lines in the output of a command."""
    done = subprocess.run(command, cwd=REPOSITORY, check=True, capture_output=True, text=True)
    return [json.loads(line) for line in done.stdout.splitlines() if line.startswith("{")]
