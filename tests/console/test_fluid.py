"""The page stays fluid: a run of 300 trials on 50 hosts, from a made stream."""

from __future__ import annotations

import json
import math
import statistics
import threading
import time
from pathlib import Path

from chromium import Chromium, needs_chromium

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

HOSTS, TRIALS, CONDITIONS = 50, 300, 10
FRAME_MS = 60
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


def conditions() -> tuple[str, ...]:
    return tuple(f"c{number}" for number in range(CONDITIONS))


def ended(number: int) -> list[Event]:
    """Return the events of a trial."""
    name, condition = f"b{number // CONDITIONS:02d}-p{number:03d}", conditions()[number % CONDITIONS]
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
                for place, each in enumerate(conditions())
            ),
        ),
    ]  # fmt: skip


def step(number: int, network: Network) -> Step:
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


def operations(number: int) -> OperationsStep:
    times = {"median_ns": 10**6, "p99_ns": 2 * 10**6, "slowest_ns": 10**7 + number % 100 * 10**5}
    return OperationsStep(
        application="rpc", node="client", at_ns=number * 100_000_000, length_ns=100_000_000,
        ended=1000 + number % 50, failed=number % 3, **times,
    )  # fmt: skip


@needs_chromium
def test_a_large_run_takes_at_most_60_ms_a_frame(tmp_path: Path) -> None:
    resolved = resolve(parse_experiment(EXPERIMENT.encode(), "large.yaml"))
    network = Network.of(resolved.topology)
    stream, over = Stream[Event](), threading.Event()
    setup = setup_of(parse_document(EXPERIMENT.encode(), "large.yaml"))
    shown = RunConsole(setup, resolved, stream, Steering(stream))
    with shown as console, Chromium(tmp_path / "profile") as page:
        stream.publish(
            RunBegun(
                name="large", summary="", folder="/results", application="rpc", conditions=conditions(),
                baseline="c0", trials=TRIALS, ended=0,
            )
        )  # fmt: skip
        for number in range(TRIALS):
            for event in ended(number):
                stream.publish(event)
        for number in range(600):
            stream.publish(operations(number))
            stream.publish(step(number, network))
            time.sleep(0)

        def go_on() -> None:
            number = 600
            while not over.wait(0.1):
                stream.publish(operations(number))
                stream.publish(step(number, network))
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
            gaps = sorted(json.loads(page.value(GAPS)))
            # It was drawn meanwhile.
            assert page.value(late) != before
            assert page.value("document.querySelectorAll('#picture .in-use').length") > 0
        finally:
            over.set()
            publishing.join()
        assert page.value("document.querySelectorAll('#charts canvas').length") == 9
        assert page.errors == []
    print("frames:", [round(gaps[int(share * len(gaps))], 1) for share in (0.5, 0.9, 0.99)], max(gaps), "ms")
    assert statistics.quantiles(gaps, n=20)[-1] <= FRAME_MS
