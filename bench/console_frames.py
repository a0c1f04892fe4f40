"""Whether the console's page stays fluid: frames of a run of 300 trials on 50 hosts, from a made stream."""

from __future__ import annotations

import json
import math
import shutil
import statistics
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from bench.figures import Figure, Skipped, figure, skipped
from crosswind.console import RunConsole
from crosswind.runner import Steering
from crosswind.spec import resolve
from crosswind.spec.document import parse_document
from crosswind.spec.load import parse_experiment
from crosswind.spec.network import Network
from crosswind.spec.setup import setup_of
from crosswind.stream import (
    ConditionSoFar,
    Event,
    FigureOfTrial,
    Lateness,
    OperationsStep,
    Row,
    RunBegun,
    SoFar,
    Step,
    Stream,
    TrialBegun,
    TrialEnded,
)

# The browser of the live tests.
sys.path.append(str(Path(__file__).parents[1] / "tests" / "live"))
from chromium import Chromium

HOSTS, TRIALS, CONDITIONS = 50, 300, 10
EXPERIMENT = f"""
name: large
topology:
  hosts: {HOSTS}
  uplink: {{rate: 1Gbit/s, delay: 1ms, buffer: 1MiB}}
  nodes: {{server: h0, client: h1, {", ".join(f"n{number}: h{number}" for number in range(2, HOSTS))}}}
conditions: [none]
application: {{rpc: {{duration: 5s}}}}
trials: {{repeat: 30}}
"""
GAPS = """new Promise((resolve) => {
  const gaps = [];
  let before = performance.now();
  const look = (now) => {
    gaps.push(now - before);
    before = now;
    if (gaps.length < 300) requestAnimationFrame(look);
    else resolve(JSON.stringify(gaps));
  };
  requestAnimationFrame(look);
})"""


def _conditions() -> tuple[str, ...]:
    return tuple(f"c{number}" for number in range(CONDITIONS))


def _ended(number: int) -> list[Event]:
    """Return the events of a trial."""
    name, condition = f"b{number // CONDITIONS:02d}-p{number:03d}", _conditions()[number % CONDITIONS]
    value = 1e6 * (1 + number % CONDITIONS)
    return [
        TrialBegun(
            trial=name, attempt=1, condition=condition, block=number // CONDITIONS, ended=number,
            trials=TRIALS, left_s=1000.0,
        ),
        TrialEnded(
            trial=name, attempt=1, condition=condition, block=number // CONDITIONS, status="done",
            reason=None, fidelity="faithful", fidelity_reason=None, duration_s=10.0,
            figures=(FigureOfTrial(name="P99", value=value, unit="ns"),),
        ),
        SoFar(
            figure="P99", unit="ns", better="lower", confidence=0.95, blocks=number // CONDITIONS,
            blocks_planned=TRIALS // CONDITIONS,
            conditions=tuple(
                ConditionSoFar(
                    condition=each, trials=number // CONDITIONS, value=1e6 * (1 + place),
                    low=1e6 * (1 + place) * (1 - 1 / (2 + number)),
                    high=1e6 * (1 + place) * (1 + 1 / (2 + number)),
                    needed=3, settled=False,
                )
                for place, each in enumerate(_conditions())
            ),
        ),
    ]  # fmt: skip


def _step(number: int, network: Network) -> Step:
    """Return a step in which every link is busy."""
    at_ns = number * 100_000_000
    elements = [f"{host}/{side}" for host in network.hosts for side in ("uplink", "downlink")]
    rows = tuple(
        Row(
            at_ns=at_ns, element=element, packet_class="real", arrived_bytes=10**6,
            departed_bytes=round(10**6 * (1 + math.sin(number / 9 + place))), dropped_packets=place % 3,
            dropped_bytes=0, queued_bytes=1000 * place,
        )
        for place, element in enumerate(elements)
    )  # fmt: skip
    return Step(
        event="step", domain=0, at_ns=at_ns, window_started_ns=0, rows=rows, credit=(), changes=(), stalls=(),
        lateness=Lateness(packets=number, early=0, missed=0, max_ns=0), left_out=0, made_ns=number * 10_000,
    )  # fmt: skip


def _operations(number: int) -> OperationsStep:
    return OperationsStep(
        application="rpc", node="client", at_ns=number * 100_000_000, length_ns=100_000_000,
        ended=1000 + number % 50, failed=number % 3,
        median_ns=10**6, p99_ns=2 * 10**6, slowest_ns=10**7 + number % 100 * 10**5,
    )  # fmt: skip


def frames(rounds: int) -> Iterator[Figure | Skipped]:
    """Yield the time from one frame to the next while the page shows the run: 95 of 100 are shorter."""
    name = f"frames of the console, {TRIALS} trials, {HOSTS} hosts"
    if shutil.which("chromium") is None:
        yield skipped(name, "no chromium here: apt-get install chromium")
        return
    gaps_ms = []
    for _ in range(rounds):
        with tempfile.TemporaryDirectory() as folder:
            gaps_ms.append(_gaps_ms(Path(folder)))
    p95 = [statistics.quantiles(gaps, n=20)[-1] for gaps in gaps_ms]
    yield figure(name, "ms", p95, "at most 60", longest=[round(max(gaps), 1) for gaps in gaps_ms])


def _gaps_ms(profile: Path) -> list[float]:
    """Return the times between 300 frames."""
    resolved = resolve(parse_experiment(EXPERIMENT.encode(), "large.yaml"))
    network = Network.of(resolved.topology)
    stream, over = Stream[Event](), threading.Event()
    setup = setup_of(parse_document(EXPERIMENT.encode(), "large.yaml"))
    shown = RunConsole(setup, resolved, stream, Steering(stream))
    with shown as console, Chromium(profile) as page:
        stream.publish(
            RunBegun(
                name="large", summary="", folder="/results", application="rpc", conditions=_conditions(),
                baseline="c0", trials=TRIALS, ended=0,
            )
        )  # fmt: skip
        for number in range(TRIALS):
            for event in _ended(number):
                stream.publish(event)
        for number in range(600):
            stream.publish(_operations(number))
            stream.publish(_step(number, network))
            time.sleep(0)

        def go_on() -> None:
            number = 600
            while not over.wait(0.1):
                stream.publish(_operations(number))
                stream.publish(_step(number, network))
                number += 1

        publishing = threading.Thread(target=go_on)
        publishing.start()
        try:
            # So high that every chart is in sight.
            page.open(console.url, height=2400)
            page.await_true("document.querySelectorAll('#ended li').length === 300")
            time.sleep(2)
            late = "document.getElementById('late').textContent"
            before = page.value(late)
            gaps: list[float] = json.loads(page.value(GAPS))
            # It was drawn meanwhile.
            assert page.value(late) != before
            assert page.value("document.querySelectorAll('#picture .in-use').length") > 0
        finally:
            over.set()
            publishing.join()
        assert page.value("document.querySelectorAll('#charts canvas').length") == 9
        assert page.errors == []
    return gaps
