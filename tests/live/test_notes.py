"""What a run says of this machine before its first trial."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from crosswind.runner import preflight
from crosswind.spec import load_experiment, resolve
from crosswind.testbed import Agent

if TYPE_CHECKING:
    import pytest
    from conftest import Live


def test_the_agent_of_the_check_is_not_taken_for_another(live: Live, monkeypatch: pytest.MonkeyPatch) -> None:
    started: list[int] = []

    def watched() -> Agent:
        agent = Agent()
        started.append(agent.pid)
        return agent

    monkeypatch.setattr(preflight, "Agent", watched)
    file = live.folder / "alone.yaml"
    file.write_text(
        "name: alone\n"
        "topology: {hosts: 2, nodes: {server: h0, client: h1}, uplink: {rate: 1Gbit/s, delay: 1ms}}\n"
        "conditions: [none]\n"
        "application: {rpc: {connections: 1, duration: 1s}}\ntrials: {repeat: 1}\n"
    )
    checked = preflight.preflight(resolve(load_experiment(file)))
    assert started
    named = {int(number) for note in checked.notes for number in re.findall(r"\d+", note)}
    assert named.isdisjoint(started)
