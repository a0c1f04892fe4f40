"""Virtual time has no processes: faults of nodes are refused before anything is simulated."""

import pytest

from crosswind.errors import CrosswindError
from crosswind.simulation.trials import require_simulated
from crosswind.spec import Resolved, resolve
from crosswind.spec.load import parse_experiment


def resolved(steps: str) -> Resolved:
    text = f"""\
name: small
topology: {{hosts: 2, uplink: {{rate: 1Gbit/s}}, nodes: {{server: h0, client: h1}}}}
conditions: [{{broken: {{at: {steps}}}}}]
application: {{rpc: {{duration: 5s}}}}
trials: {{repeat: 1, rest: 0s}}
"""
    return resolve(parse_experiment(text.encode(), "small.yaml"))


@pytest.mark.parametrize("steps", ["{1s: {kill: server}}", "{1s: {isolate: {nodes: server, answer: reset}}}"])
def test_what_needs_real_processes_is_refused_with_its_words(steps: str) -> None:
    with pytest.raises(CrosswindError, match=r"broken: (kill server|isolate server \(reset\)) is a fault of"):
        require_simulated(resolved(steps))


def test_a_silent_cut_is_simulated() -> None:
    application, _ = require_simulated(resolved("{1s: {isolate: server}, 2s: {heal: all}}"))
    assert application.name == "rpc"
