"""Run every benchmark and print one JSON line per figure: `python -m bench [NAME ...]`."""

import json
import statistics
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bench import bare, transfer
from bench.pairs import Task, fabric_spec, over_bare, over_fabric
from crosswind.testbed import Agent, Fabric, find_binary

ROUNDS = 5
LINK_DELAY_NS = 10_000


def _probe(rate: int, count: int, payload_bytes: int) -> Task:
    load = str(find_binary("crosswind-load"))
    there = "10.77.0.2:5002"
    send = ["--to", there, "--rate", str(rate), "--count", str(count), "--payload-bytes", str(payload_bytes)]
    receive = ["--listen", there, "--count", str(count)]
    return Task(
        receive=lambda folder: [load, "probe-receive", *receive, "--out", str(folder / "probe.csv")],
        send=lambda folder: [load, "probe-send", *send],
    )


def _delays(folder: Path) -> "np.ndarray[Any, np.dtype[np.int64]]":
    rows = np.loadtxt(folder / "probe.csv", delimiter=",", skiprows=1, dtype=np.int64, ndmin=2)
    return rows[:, 2] - rows[:, 1]


def delay() -> list[dict[str, Any]]:
    """Added one-way delay at 1000 packets a second over a 10 us link, against bare veth in the same round."""
    task = _probe(1000, 2000, 22)
    errors: dict[str, list[float]] = {"p50": [], "p99": []}
    early = 0
    for _ in range(ROUNDS):
        quantiles: list[tuple[float, float]] = []

        def collect(folder: Path, into: list[tuple[float, float]] = quantiles) -> float:
            into.append(tuple(np.quantile(_delays(folder), [0.5, 0.99])))
            return 0.0

        over_bare(task, collect)
        _, measured = over_fabric(task, collect, fabric_spec(delay_ns=LINK_DELAY_NS // 2))
        early += measured["ledger"]["early"]
        (bare50, bare99), (fabric50, fabric99) = quantiles
        errors["p50"].append(fabric50 - bare50 - LINK_DELAY_NS)
        errors["p99"].append(fabric99 - bare99 - LINK_DELAY_NS)
    return [
        _figure(
            "added one-way delay error p50, 10 us link, 1 kpps",
            "us",
            [e / 1e3 for e in errors["p50"]],
            "at most 5",
        ),
        _figure(
            "added one-way delay error p99, 10 us link, 1 kpps", "us", [e / 1e3 for e in errors["p99"]], None
        ),
        {"figure": "packets that left early", "unit": "count", "value": early, "wanted": "0"},
    ]


def tcp() -> list[dict[str, Any]]:
    """One TCP stream through a link without a rate limit, as a share of bare veth in the same round."""
    script = str(Path(transfer.__file__))
    task = Task(
        receive=lambda folder: [sys.executable, script, "receive", "10.77.0.2", str(folder / "goodput")],
        send=lambda folder: [sys.executable, script, "send", "10.77.0.2", "3"],
    )
    ratios, rates = [], []
    for _ in range(ROUNDS):
        without = over_bare(task, lambda folder: float((folder / "goodput").read_text()))
        through, _ = over_fabric(task, lambda folder: float((folder / "goodput").read_text()), fabric_spec())
        ratios.append(through / without)
        rates.append(through / 1e9)
    return [
        _figure("TCP goodput through an unlimited link against bare veth", "ratio", ratios, "at least 0.35"),
        _figure("TCP goodput through an unlimited link", "Gbit/s", rates, None),
    ]


def udp() -> list[dict[str, Any]]:
    """Packets of 64 bytes at 100 000 a second for 2 s: how many are lost."""
    count = 200_000
    lost = []
    for _ in range(ROUNDS):
        arrived, _ = over_fabric(
            _probe(100_000, count, 22), lambda folder: float(len(_delays(folder))), fabric_spec()
        )
        lost.append(count - arrived)
    return [_figure("64 B UDP packets lost of 200 000 at 100 kpps", "packets", lost, "0")]


def hosts() -> list[dict[str, Any]]:
    """Four hosts up and down, and what an idle emulator uses."""
    ups, downs, idle = [], [], []
    for _ in range(ROUNDS + 2):
        with Agent() as agent:
            started = time.monotonic()
            with Fabric(agent, fabric_spec(hosts=4), Path("/tmp")) as fabric:
                ups.append(time.monotonic() - started)
                fabric.measure()
                time.sleep(0.5)
                fabric.measure()
                time.sleep(1)
                measured = fabric.read()
                window = measured["window"]
                idle.append(measured["host"]["emulator_cpu_ns"] / (window["ended_ns"] - window["started_ns"]))
                ending = time.monotonic()
            downs.append(time.monotonic() - ending)
    return [
        _figure("four hosts up", "s", ups, "at most 0.5"),
        _figure("four hosts down", "s", downs, "at most 0.2"),
        _figure("idle emulator, share of a core", "ratio", idle, "under 0.1"),
        {
            "figure": "agent binary",
            "unit": "MB",
            "value": round(find_binary("crosswind-agent").stat().st_size / 1e6, 2),
            "wanted": "under 15",
        },
    ]


def _figure(name: str, unit: str, values: list[float], wanted: str | None) -> dict[str, Any]:
    return {
        "figure": name,
        "unit": unit,
        "value": round(statistics.median(values), 4),
        "min": round(min(values), 4),
        "max": round(max(values), 4),
        "rounds": len(values),
        "wanted": wanted,
    }


BENCHMARKS: dict[str, Callable[[], list[dict[str, Any]]]] = {
    "delay": delay,
    "tcp": tcp,
    "udp": udp,
    "hosts": hosts,
}


def main(names: list[str]) -> int:
    """Run the named benchmarks, or all."""
    unknown = [name for name in names if name not in BENCHMARKS]
    if unknown:
        print(f"no benchmark named {', '.join(unknown)}; there are {', '.join(BENCHMARKS)}", file=sys.stderr)
        return 2
    if reason := bare.possible():
        print(f"SKIPPED: {reason}", file=sys.stderr)
        return 0
    for name in names or list(BENCHMARKS):
        for figure in BENCHMARKS[name]():
            print(json.dumps(figure), flush=True)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
