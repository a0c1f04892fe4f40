"""The stream of a run: what happens to packets is in it if somebody reads it, and only then."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Live

FOLLOWED = """
import sys
from pathlib import Path
from crosswind.runner import run
from crosswind.spec.named_experiment import named_experiment
from crosswind.stream import Event, Note, RunBegun, RunEnded, Step, Stream, TrialEnded, TrialReached

experiment = {
    "name": "followed",
    "topology": {
        "hosts": 2,
        "uplink": {"rate": "100Mbit/s", "delay": "1ms", "buffer": "64KiB"},
        "nodes": {"server": "h0", "client": "h1"},
    },
    "conditions": [{"slow": {"link": [{"delay": {"time": "5ms"}}]}}],
    "application": {"rpc": {"duration": "500ms", "warm_up": "100ms"}},
    "trials": {"repeat": 1, "rest": "0s", "limits": {"void": "accept"}},
}
stream = Stream[Event]()
kinds = (Event,) if sys.argv[1] == "steps" else (Note, RunBegun, TrialReached, TrialEnded, RunEnded)
named = named_experiment(experiment)
with stream.subscribe(10_000, kinds) as events:
    run(named.resolved, named.text, named.folder, Path("results"), stream, report=lambda folder: None)
seen = list(events)
assert events.lost == 0
assert isinstance(seen[-1], RunEnded), seen[-1]
reached = [seen.index(event) for event in seen if isinstance(event, TrialReached)]
assert [seen[place].step for place in reached[:3]] == ["up", "prepared", "measured"]
steps = [event for event in seen if isinstance(event, Step)]
if sys.argv[1] == "steps":
    assert reached[0] < seen.index(steps[0])
    assert len(steps) >= 5
    assert {"slow"} <= {change.condition for step in steps for change in step.changes}
    assert any(row.departed_bytes for step in steps for row in step.rows)
else:
    assert not steps
print("followed")
"""


@pytest.mark.parametrize("reader", ["steps", "trials"])
def test_what_packets_do_is_in_the_stream_of_a_run_if_somebody_reads_it(live: Live, reader: str) -> None:
    done = subprocess.run(
        [sys.executable, "-c", FOLLOWED, reader],
        cwd=live.folder, env=live.env, capture_output=True, text=True, timeout=120,
    )  # fmt: skip
    assert done.stdout == "followed\n", done.stderr
