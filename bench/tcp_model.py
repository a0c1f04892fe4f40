"""The simulator's TCP beside Linux's, over 20 conditions: bulk goodput, and calls that meet a timeout.

`python -m bench.tcp_model [ROUNDS [CONDITION ...]] [--dilation K]` runs each condition live and in virtual
time with the same seeds, `ROUNDS` times, and prints a row of a table for each. Losses are drawn from the same
seeds, so that both lose the same packets as long as they send alike. A call meets a timeout where it takes
longer than the least timeout (200 ms) and the fastest call together. The interval of a share is that of a
binomial at 95 %, from the live calls alone. `wait: sleep` leaves both CPUs to the ends, and is exact from
60 us on. Under a dilation the live ends perceive a machine that is K times as fast, and stalls of 1/K.

The last column is how late the emulator's packets left (P99): a machine that is too busy shows there.
"""

import argparse
import csv
import math
import statistics
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from tempfile import TemporaryDirectory

from crosswind.app import Application, Stage, find
from crosswind.plan import Trial
from crosswind.results import Metric
from crosswind.simulation import SimulatedTrial, simulate_trials
from crosswind.spec import Resolved, fabric_of, resolve
from crosswind.spec.load import parse_experiment
from crosswind.spec.restored import restored
from crosswind.testbed import Agent, Ended, RunningFabric, TestbedError, WorkFolder

ROUNDS = 3
LENGTH = "duration: 8s, warm_up: 2s"
RTO_MIN_NS = 200_000_000
EXPERIMENT = """
name: tcp-model
topology:
  hosts: 2
  wait: sleep
  uplink: {{rate: {rate}, delay: {delay}, buffer: {buffer}}}
  tcp: {{{tcp}}}
  nodes: {{server: h0, client: h1}}
application: {application}
conditions: [tried: {condition}]
trials: {{repeat: 1, seed: {seed}}}
{time}"""


@dataclass(frozen=True)
class Case:
    """A network and the calls that are made in it; `delay` is that of each of two links."""

    name: str
    rate: str
    delay: str
    buffer: str
    condition: str = "{}"
    calls: str = "connections: 16, request: 100B, response: 10kB"
    tcp: str = "congestion_control: cubic"

    def resolved(self, application: str, seed: int, dilation: int | None) -> Resolved:
        """Return the experiment of an application in this network."""
        text = EXPERIMENT.format(
            rate=self.rate,
            delay=self.delay,
            buffer=self.buffer,
            tcp=self.tcp,
            application=application,
            condition=self.condition,
            seed=seed,
            time="" if dilation is None else f"time: {{dilation: {dilation}}}\n",
        )
        return resolve(parse_experiment(text.encode(), f"{self.name}.yaml"))


def at_switch(element: str) -> str:
    """Return a condition with an element where packets enter the switch, in both directions."""
    return f"{{switch.ingress: [{element}]}}"


SMALL = "connections: 16, request: 100B, response: 1kB"
LARGE = "connections: 16, request: 100B, response: 50kB"
CODEL = "drop: {codel: {target: 5ms, interval: 100ms}}"
CASES = (
    Case("10 Mbit/s, 10 ms", "10Mbit/s", "5ms", "25kB"),
    Case("100 Mbit/s, 10 ms", "100Mbit/s", "5ms", "250kB", calls=LARGE),
    Case("100 Mbit/s, 10 ms, 10 packets of buffer", "100Mbit/s", "5ms", "15kB"),
    Case("100 Mbit/s, 50 ms", "100Mbit/s", "25ms", "1250kB", calls=LARGE),
    Case("100 Mbit/s, 100 ms", "100Mbit/s", "50ms", "2500kB", calls=LARGE),
    Case("10 Mbit/s, 50 ms, deep buffer", "10Mbit/s", "25ms", "1MB"),
    Case("1 Gbit/s, 0.1 ms", "1Gbit/s", "50us", "125kB"),
    Case("1 Gbit/s, 5 ms", "1Gbit/s", "2500us", "1250kB", calls=LARGE),
    Case("100 Mbit/s, 10 ms, 0.1 % lost", "100Mbit/s", "5ms", "250kB", at_switch("lose: 0.1%"), SMALL),
    Case("100 Mbit/s, 10 ms, 1 % lost", "100Mbit/s", "5ms", "250kB", at_switch("lose: 1%"), SMALL),
    Case("10 Mbit/s, 25 ms, 3 % lost", "10Mbit/s", "12500us", "62kB", at_switch("lose: 3%"), SMALL),
    Case("1 Gbit/s, 1 ms, 0.1 % lost", "1Gbit/s", "500us", "250kB", at_switch("lose: 0.1%"), SMALL),
    Case(
        "100 Mbit/s, 2 ms, bursts of 5",
        "100Mbit/s",
        "1ms",
        "100kB",
        at_switch("lose: {gilbert_elliott: {p: 0.1%, r: 20%}}"),
    ),
    Case(
        "50 Mbit/s, 20 ms, bursts of 10",
        "50Mbit/s",
        "10ms",
        "250kB",
        at_switch("lose: {gilbert_elliott: {p: 0.05%, r: 10%}}"),
    ),
    Case(
        "100 Mbit/s, 5 ms, policed to 20",
        "100Mbit/s",
        "2500us",
        "125kB",
        at_switch("police: {rate: 20Mbit/s, burst: 50kB}"),
    ),
    Case(
        "1 Gbit/s, 1 ms, policed to 100",
        "1Gbit/s",
        "500us",
        "250kB",
        at_switch("police: {rate: 100Mbit/s, burst: 100kB}"),
    ),
    Case(
        "100 Mbit/s, 10 ms, shaped to 20",
        "100Mbit/s",
        "5ms",
        "250kB",
        at_switch("shape: {rate: 20Mbit/s, burst: 15kB, buffer: 50kB}"),
    ),
    Case(
        "100 Mbit/s, 10 ms, CoDel",
        "100Mbit/s",
        "5ms",
        "1MB",
        f"{{host.egress: [{{queue: {{buffer: 1MB, {CODEL}}}}}]}}",
        LARGE,
    ),
    Case(
        "10 Mbit/s, 25 ms, CoDel that marks",
        "10Mbit/s",
        "12500us",
        "500kB",
        f"{{host.egress: [{{queue: {{buffer: 500kB, {CODEL}, ecn: true}}}}]}}",
        tcp="congestion_control: cubic, ecn: true",
    ),
    Case(
        "100 Mbit/s, 10 ms, 0.1 % lost, Reno",
        "100Mbit/s",
        "5ms",
        "250kB",
        at_switch("lose: 0.1%"),
        SMALL,
        "congestion_control: reno",
    ),
)


@dataclass
class Compared:
    """What a condition measured live and in virtual time."""

    live_bps: list[float] = field(default_factory=list)
    simulated_bps: list[float] = field(default_factory=list)
    live_calls: int = 0
    live_timeouts: int = 0
    simulated_calls: int = 0
    simulated_timeouts: int = 0
    late_ns: list[int] = field(default_factory=list)

    def row(self, name: str) -> str:
        """Return a row of the table."""
        live_bps, simulated_bps = statistics.mean(self.live_bps), statistics.mean(self.simulated_bps)
        live = self.live_timeouts / max(1, self.live_calls)
        simulated = self.simulated_timeouts / max(1, self.simulated_calls)
        half = 1.96 * math.sqrt(live * (1 - live) / max(1, self.live_calls))
        ratio = f"{simulated / live:.2f}" if live else "-"
        cells = [
            name,
            f"{live_bps / 1e6:.2f}",
            f"{simulated_bps / 1e6:.2f}",
            f"{simulated_bps / live_bps:.3f}",
            f"{100 * live:.2f} ± {100 * half:.2f}",
            f"{100 * simulated:.2f}",
            ratio,
            f"{statistics.median(self.late_ns) / 1e3:.0f}",
        ]
        return f"| {' | '.join(cells)} |"


def compared(case: Case, seeds: range, dilation: int | None) -> Compared:
    """Run a condition with each seed, live and in virtual time."""
    found = Compared()
    for seed in seeds:
        bulk = case.resolved(f"{{traffic: {{{LENGTH}}}}}", seed, dilation)
        metrics, _, late_ns = _live(bulk, seed)
        found.live_bps.append(_goodput(metrics))
        found.late_ns.append(late_ns)
        found.simulated_bps.append(_goodput(_simulated(bulk, seed).metrics))
        calls = case.resolved(f"{{rpc: {{{case.calls}, {LENGTH}}}}}", seed, dilation)
        _, latencies_ns, late_ns = _live(calls, seed)
        longest_ns = min(latencies_ns) + RTO_MIN_NS
        found.live_calls += len(latencies_ns)
        found.live_timeouts += sum(each > longest_ns for each in latencies_ns)
        found.late_ns.append(late_ns)
        answer = _simulated(calls, seed).answer.calls
        if answer is not None:
            found.simulated_calls += answer.operations
            found.simulated_timeouts += answer.timeouts
    return found


def _simulated(resolved: Resolved, seed: int) -> SimulatedTrial:
    (trial,) = simulate_trials(resolved, [Trial("tried", 0, 0, "tried", seed)])
    return trial


def _goodput(metrics: list[Metric]) -> float:
    return sum(metric.value for metric in metrics if metric.metric == "goodput")


def _live(resolved: Resolved, seed: int) -> tuple[list[Metric], list[int], int]:
    """Return the metrics of a live trial, the latencies of its calls, and how late its packets left (P99)."""
    kind: type[Application] = find(resolved.application.name)
    application = kind(restored(kind.Parameters, resolved.application.parameters))
    spec = fabric_of(resolved, "tried", seed)
    with (
        TemporaryDirectory(prefix="crosswind-bench-") as logs,
        WorkFolder() as work,
        Agent() as agent,
        RunningFabric(agent, spec, Path(logs)) as fabric,
    ):
        stage = Stage(fabric, work.fresh("trial", *fabric.application_account), seed)
        application.start(stage)
        load = application.load(stage)
        load.await_measured_phase()
        fabric.measure()
        if load.process.wait(load.longest_s) != Ended(0, None):
            raise TestbedError(f"{load.process}: {load.first_error() or load.process.last_words()}")
        measurement = fabric.read()
        outcome = load.outcome()
        latencies_ns = [] if outcome.operations is None else _latencies_ns(outcome.operations)
        application.stop(stage)
    return list(outcome.metrics), latencies_ns, measurement.ledger.error_ns["p99"] or 0


def _latencies_ns(samples: Path) -> list[int]:
    with samples.open() as file:
        return [
            int(row["finished_ns"]) - int(row["started_ns"])
            for row in csv.DictReader(file)
            if row["measured"] == "1" and row["ok"] == "1"
        ]


def rows(rounds: int, names: list[str], dilation: int | None) -> Iterator[str]:
    """Yield the table, line by line."""
    heads = ["condition", "bulk, Mbit/s: Linux", "simulated", "ratio"]
    heads += ["calls with a timeout, %: Linux", "simulated", "ratio", "late P99, us"]
    yield f"| {' | '.join(heads)} |"
    yield f"| {' | '.join(['---'] * len(heads))} |"
    for case in CASES:
        if not names or case.name in names:
            yield compared(case, range(1, rounds + 1), dilation).row(case.name)


def main() -> None:
    """Print the table."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").split("\n\n")[0])
    parser.add_argument("rounds", type=int, nargs="?", default=ROUNDS)
    parser.add_argument("conditions", nargs="*", metavar="condition", help="by name; all when absent")
    parser.add_argument("--dilation", type=int)
    asked = parser.parse_args()
    names = [case.name for case in CASES]
    if unknown := [name for name in asked.conditions if name not in names]:
        parser.error(f"no condition is called {unknown[0]!r}; there are {'; '.join(names)}")
    for line in rows(asked.rounds, asked.conditions, asked.dilation):
        print(line, flush=True)


if __name__ == "__main__":
    main()
