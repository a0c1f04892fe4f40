"""Ghosts and real iperf3 in the same condition: offered, carried, dropped, and the delay of other packets.

`python -m bench.interference [ROUNDS [NETWORK ...]]` prints one JSON line for each figure of each kind of
interference: paced ghosts, which never back off, ghosts over tcp, and real processes. Kinds alternate within
a round, and no draw ends within a window, so that iperf3 is not restarted. The bystander is a UDP probe of
1000 small packets a second on the same path. The last figure says how late the emulator itself was: a machine
too busy for iperf3 shows there.
"""

import json
import statistics
import sys
import time
from collections import defaultdict
from dataclasses import dataclass
from itertools import product
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np

from crosswind.probe.single_packets import read_probes
from crosswind.results import Measurement
from crosswind.results.measurement import SeriesRow
from crosswind.runner.interference import check_iperf3, real_noise
from crosswind.spec import fabric_of, real_interference, resolve
from crosswind.spec.load import parse_experiment
from crosswind.testbed import Agent, RunningFabric, WorkFolder, find_binary

ROUNDS = 3
SETTLE_S = 3.0
WINDOW_S = 10.0
PROBES_PER_S = 1000
PROBE_IP_BYTES = 50
KINDS = {
    "ghost, udp": "by: ghost",
    "ghost, tcp": "by: ghost, transport: tcp",
    "iperf3": "by: iperf3",
}
# Of the uplink.
RATES = ("50%", "80%")


@dataclass(frozen=True)
class Network:
    """A pair of hosts, and the policer that is tried on their switch."""

    rate: str
    delay: str
    buffer: str
    policer_rate: str
    burst: str


NETWORKS = {
    # The ICPE '23 study's at a tenth; the same with a tenth of its rates, for slower machines; and a path on
    # which a round trip is 40 ms whatever the machine does.
    "1 Gbit/s": Network("1Gbit/s", "2us", "52kB", "800Mbit/s", "10kB"),
    "100 Mbit/s": Network("100Mbit/s", "2us", "52kB", "80Mbit/s", "10kB"),
    "100 Mbit/s, 40 ms": Network("100Mbit/s", "10ms", "500kB", "80Mbit/s", "100kB"),
}
EXPERIMENT = """
name: interference
topology:
  hosts: 2
  uplink: {{rate: {uplink.rate}, delay: {uplink.delay}, buffer: {uplink.buffer}}}
  nodes: {{server: h0, client: h1}}
application: {{rpc: {{duration: 1s}}}}
conditions:
  - tried:
      interference: {{between: [h0-h1], rate: {rate}, hold: 60s, pacing: 10ms, {kind}}}
      {policer}
trials: {{repeat: 1, seed: {seed}}}
"""

Figures = dict[str, float]


def measured(kind: str, uplink: Network, policed: bool, rate: str, seed: int) -> Figures:
    """Return the figures of one window; the interference starts three seconds before it."""
    policer = f"switch.ingress: [{{police: {{rate: {uplink.policer_rate}, burst: {uplink.burst}}}}}]"
    text = EXPERIMENT.format(
        kind=kind, uplink=uplink, rate=rate, policer=policer if policed else "", seed=seed
    )
    resolved = resolve(parse_experiment(text.encode(), "interference.yaml"))
    spec, real = fabric_of(resolved, "tried"), real_interference(resolved, "tried")
    check_iperf3(real)
    with (
        TemporaryDirectory(prefix="crosswind-bench-") as logs,
        WorkFolder() as work,
        Agent() as agent,
        RunningFabric(agent, spec, Path(logs)) as fabric,
    ):
        folder = work.fresh("bench", *fabric.application_account)
        with real_noise(fabric, real, seed, folder):
            time.sleep(SETTLE_S)
            fabric.measure()
            delays = _probe(fabric, folder)
            measurement = fabric.read()
    return _figures(measurement, delays)


def _probe(fabric: RunningFabric, folder: Path) -> "np.ndarray[Any, np.dtype[np.int64]]":
    """Return the one-way delays of the probes that arrived, in ns."""
    load, there = str(find_binary("crosswind-load")), f"{fabric.nodes['client'].address}:5002"
    count, out = str(round(WINDOW_S * PROBES_PER_S)), folder / "probe.csv"
    receive = [load, "probe-receive", "--listen", there, "--count", count, "--out", out]
    receiver = fabric.start("client", "probe-receive", receive, cwd=folder)
    while "listening" not in receiver.stdout.read_text():
        time.sleep(0.01)
    send = [
        load,
        "probe-send",
        "--to",
        there,
        "--rate",
        PROBES_PER_S,
        "--count",
        count,
        "--payload-bytes",
        22,
    ]
    fabric.start("server", "probe-send", send, cwd=folder)
    receiver.wait(WINDOW_S + 30)
    return read_probes(out, int(count)).delay_ns


def _figures(measurement: Measurement, delays: "np.ndarray[Any, np.dtype[np.int64]]") -> Figures:
    elements = {element.element: element for element in measurement.elements}
    seconds = measurement.window.length_ns / 1e9
    probes_bps = PROBES_PER_S * PROBE_IP_BYTES * 8 * WINDOW_S / seconds

    def mbps(element: str, key: str) -> float:
        counts = elements[element]
        total_bytes: int = sum(getattr(kind, key) for kind in (counts.real, counts.ghost))
        return float((total_bytes * 8 / seconds - probes_bps) / 1e6)

    def dropped(element: str) -> float:
        counts = [elements[element].real, elements[element].ghost]
        lost = sum(reason.packets for count in counts for reason in count.dropped.values())
        arrived = sum(count.arrived_packets for count in counts)
        return 100 * lost / max(1, arrived)

    policers = [name for name in elements if name == "h0/switch.ingress/0:police"]
    waited_us = (delays - delays.min()) / 1e3
    return {
        "offered Mbit/s": mbps("h0/uplink", "arrived_bytes"),
        "carried Mbit/s": mbps("h1/downlink", "departed_bytes"),
        "cv of 100 ms volumes": _variation(measurement.series.rows),
        "dropped at the uplink %": dropped("h0/uplink"),
        "dropped at the policer %": dropped(policers[0]) if policers else 0.0,
        "probes lost %": 100 * (1 - len(delays) / (WINDOW_S * PROBES_PER_S)),
        "probe waits us p50": float(np.quantile(waited_us, 0.5)),
        "probe waits us p90": float(np.quantile(waited_us, 0.9)),
        "probe waits us p99": float(np.quantile(waited_us, 0.99)),
        "emulator late us p99": (measurement.ledger.error_ns["p99"] or 0) / 1e3,
    }


def _variation(rows: list[SeriesRow]) -> float:
    """Return standard deviation / mean of what the first host's uplink was offered in each step."""
    volumes: dict[int, int] = defaultdict(int)
    for row in rows:
        if row.element == "h0/uplink":
            volumes[row.at_ns] += row.arrived_bytes
    # The last step is not whole.
    whole: list[int] = [volumes[at_ns] for at_ns in sorted(volumes)][:-1]
    return float(statistics.pstdev(whole) / statistics.mean(whole))


def main(rounds: int, networks: list[str]) -> None:
    """Measure every kind at every rate, with and without the policer, in alternation."""
    for network in networks:
        for policed, rate in product((False, True), RATES):
            found: dict[str, list[Figures]] = {kind: [] for kind in KINDS}
            for seed, (name, kind) in product(range(1, rounds + 1), KINDS.items()):
                found[name].append(measured(kind, NETWORKS[network], policed, rate, seed))
            for figure in found["iperf3"][0]:
                values = {name: [round(one[figure], 3) for one in runs] for name, runs in found.items()}
                medians = {name: statistics.median(each) for name, each in values.items()}
                line = {"uplink": network, "policed": policed, "rate": rate, "figure": figure}
                print(json.dumps(line | {"median": medians, "rounds": values}), flush=True)


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else ROUNDS, sys.argv[2:] or list(NETWORKS))
