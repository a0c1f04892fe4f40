"""Which agent is copied to which machine."""

from __future__ import annotations

import platform
from pathlib import Path

import pytest

from crosswind.testbed.ssh import agent_programs, note_on_programs, programs


@pytest.fixture
def agents(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Return an empty folder in the place of that for static agents, beside an agent of this machine."""
    own = tmp_path / "own"
    own.write_text("own")
    own.chmod(0o755)
    monkeypatch.setenv("CROSSWIND_AGENT", str(own))
    monkeypatch.setattr(programs, "FOLDER", tmp_path)
    return tmp_path


def add(agents: Path, processor: str) -> None:
    (agents / processor).mkdir()
    (agents / processor / "crosswind-agent").write_text(processor)


def test_without_static_agents_this_machines_own_is_copied_with_a_note(agents: Path) -> None:
    (found,) = agent_programs().items()
    assert (found[0], found[1].static, found[1].size_bytes) == (platform.machine(), False, len("own"))
    note = note_on_programs()
    assert note is not None
    assert note.startswith(f"the agent for {platform.machine()} is this machine's own")


def test_a_static_agent_is_copied_unless_the_developer_names_another(
    agents: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for processor in ("x86_64", "aarch64"):
        add(agents, processor)
    assert {name: program.static for name, program in agent_programs().items()} == {
        name: name != platform.machine() for name in ("x86_64", "aarch64")
    }
    monkeypatch.delenv("CROSSWIND_AGENT")
    assert all(program.static for program in agent_programs().values())
    assert note_on_programs() is None
