"""A run says before its first trial what about this machine could spoil it."""

import shutil
import subprocess
from pathlib import Path

from crosswind.runner.notes import other_agents


def test_an_agent_that_serves_somebody_else_is_seen(tmp_path: Path) -> None:
    # Any program will do: what counts is its name and that it has no argument, as an agent has none.
    cat = tmp_path / "crosswind-agent"
    shutil.copy(Path("/bin/cat").resolve(), cat)
    before = other_agents()
    with subprocess.Popen([cat], stdin=subprocess.PIPE) as agent:
        assert set(other_agents()) - set(before) == {agent.pid}
        agent.communicate()


def test_a_node_is_not_taken_for_an_agent(tmp_path: Path) -> None:
    sleep = tmp_path / "crosswind-agent"
    shutil.copy(Path("/bin/sleep").resolve(), sleep)
    with subprocess.Popen([sleep, "30"]) as node:
        assert node.pid not in other_agents()
        node.kill()
