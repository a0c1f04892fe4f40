"""The four set-ups of ICPE '23 on the switch, on a real Open vSwitch and on the emulator, in one table.

    python -m bench.open_vswitch setups [--repeat 5] [--results FOLDER]
    python -m bench.open_vswitch meters

`setups` runs requests and responses of 1 kB between two hosts, beside iperf3 between two pairs of hosts,
under no shaping, the token bucket, the priority queue, and both. `meters` floods meters of Open vSwitch with
buckets of several sizes.
"""

from __future__ import annotations

import argparse
import copy
import tempfile
from pathlib import Path

import duckdb

import crosswind
from crosswind.backends.expected import expectations
from crosswind.probe.flood import flood_task, read_flood
from crosswind.probe.pairs import run_tasks
from crosswind.spec import fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import OpenVSwitchHere, WorkFolder
from crosswind.testbed.running import RunningFabric

BACKENDS = ("ovs", "crosswind")
# A five-hundredth of the study's 10 Gbit/s, which two busy cores carry. Its bucket of 100 us at the policed
# rate would be smaller than a packet, and Open vSwitch fills buckets once a millisecond: this one holds 10
# ms.
UPLINK = {"rate": "20Mbit/s", "delay": "0us", "buffer": "64KiB"}
POLICE = {"police": {"rate": "16Mbit/s", "burst": "20kB"}}
MARKS = [{"mark": {"dscp": "AF41", "on": ["h0", "h2"]}}, {"mark": {"dscp": "AF11", "on": ["h1", "h3"]}}]
WEIGHTED = {
    "schedule": {
        "by": "wrr",
        "queues": [{"dscp": ["AF41", "AF42", "AF43"], "weight": 70}, {"dscp": "default", "weight": 30}],
    }
}
NOISE = {
    "between": ["h0-h1", "h2-h3"],
    "rate": {"normal": {"mean": "50%", "sd": "20%"}},
    "hold": "1s",
    "pacing": "10ms",
    "by": "iperf3",
    "zero": "silence",
}
SETUPS: dict[str, dict[str, object]] = {
    "interference": {},
    "token-bucket-on-switch": {"switch.ingress": [POLICE]},
    "priority-queue-on-switch": {"switch.ingress": MARKS, "switch.egress": [WEIGHTED]},
    "token-bucket-and-priority-queue-on-switch": {
        "switch.ingress": [POLICE, *MARKS],
        "switch.egress": [WEIGHTED],
    },
}
METER_BPS = 80_000_000
BURSTS_BYTES = (2_000, 5_000, 10_000, 20_000, 100_000)


def experiment(backend: str, repeat: int) -> dict[str, object]:
    """Return the experiment on a backend."""
    conditions = [{name: {**setup, "interference": NOISE}} for name, setup in SETUPS.items()]
    return {
        "name": f"icpe23-switch-{backend}",
        "source": "Hasenoot et al., ICPE '23, Table 2 and section 3.3",
        "topology": {"hosts": 4, "uplink": UPLINK, "nodes": {"server": "h0", "client": "h2"}},
        "backend": backend,
        "conditions": copy.deepcopy(conditions),
        "application": {
            "rpc": {"request": "100B", "response": "1kB", "connections": 1, "duration": "6s", "warm_up": "1s"}
        },
        "trials": {"repeat": repeat, "rest": "500ms", "seed": 7, "limits": {"void": "accept"}},
    }


def setups(repeat: int, results: Path) -> None:
    """Print medians over trials of each set-up on each backend."""
    print(
        "| set-up | backend | trials | verdicts | P50 us | P95 us | P99 us | slower than 100 ms | calls/s |"
    )
    print("|---|---|---|---|---|---|---|---|---|")
    for backend in BACKENDS:
        try:
            folder = crosswind.run(experiment(backend, repeat), results, keep_going=True, quiet=True).folder
        except crosswind.RunNotWhole as error:
            folder = error.folder
        for name in SETUPS:
            print(f"| {name} | {backend} | {_row(folder, name)} |", flush=True)


def _row(folder: Path, condition: str) -> str:
    trials, metrics = (f"'{folder / name}.parquet'" for name in ("trials", "metrics"))
    counted = f"SELECT trial FROM {trials} WHERE condition = '{condition}' AND status = 'done'"
    ended = duckdb.execute(
        "SELECT coalesce(fidelity, status), count(*) "
        f"FROM {trials} WHERE condition = '{condition}' GROUP BY 1"
    ).fetchall()
    values = [
        _median(f"SELECT median(value) FROM {metrics} WHERE trial IN ({counted}) AND {what}", per)
        for what, per in (
            ("metric = 'latency' AND statistic = 'p50'", 1e3),
            ("metric = 'latency' AND statistic = 'p95'", 1e3),
            ("metric = 'latency' AND statistic = 'p99'", 1e3),
            ("metric = 'slow'", 0.01),
            ("metric = 'throughput'", 1.0),
        )
    ]
    number = sum(many for _, many in ended)
    verdicts = ", ".join(f"{many} {kind}" for kind, many in ended)
    p50, p95, p99, slow, rate = values
    return f"{number} | {verdicts} | {p50:.0f} | {p95:.0f} | {p99:.0f} | {slow:.2f} % | {rate:.0f}"


def _median(query: str, per: float) -> float:
    (row,) = duckdb.execute(query).fetchall()
    return float("nan") if row[0] is None else row[0] / per


def meters() -> None:
    """Print what comes through meters of one rate and several bursts."""
    print(f"meters of {METER_BPS / 1e6:g} Mbit/s (IP), flooded at 1.3 times that for 2 s")
    print("| burst | came through, Mbit/s of IP |")
    print("|---|---|")
    for burst in BURSTS_BYTES:
        condition = {"switch.ingress": [{"police": {"rate": f"{METER_BPS}bit/s", "burst": f"{burst}B"}}]}
        text = repr({**experiment("ovs", 1), "conditions": [{"metered": condition}]})
        spec = fabric_of(resolve(parse_experiment(text.encode(), "meters")), "metered")
        (way, *_) = expectations(spec, spec.condition)
        with (
            WorkFolder() as work,
            tempfile.TemporaryDirectory() as logs,
            OpenVSwitchHere("meter").fabric(spec, work, Path(logs)) as fabric,
        ):
            assert isinstance(fabric, RunningFabric)
            folder = fabric.fresh(work, "probe")
            task = flood_task(1.3 * METER_BPS, 2.0, where=f"{way.receiver.ip}:5003")
            run_tasks([task], fabric, [way.sender.name], way.receiver.name, folder)
            flood = read_flood(folder, 2.0)
        print(f"| {burst} B | {flood.packet_rate() * 1500 * 8 / 1e6:.1f} |", flush=True)


def main() -> None:
    """Read the command line and run one part."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("part", choices=("setups", "meters"))
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--results", type=Path, default=Path("results"))
    chosen = parser.parse_args()
    setups(chosen.repeat, chosen.results) if chosen.part == "setups" else meters()


if __name__ == "__main__":
    main()
