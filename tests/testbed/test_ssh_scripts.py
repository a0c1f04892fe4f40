"""The scripts that a machine's shell runs: an agent is started where it is whole, and copied once."""

from __future__ import annotations

import os
import platform
import shutil
import subprocess
from pathlib import Path

import pytest

from crosswind.testbed.ssh import AgentProgram
from crosswind.testbed.ssh.scripts import ABSENT, COPIED, STARTS, copy_script, start_script

SHELLS = [shell for shell in ("sh", "bash", "dash", "busybox") if shutil.which(shell)]


@pytest.fixture
def program(tmp_path: Path) -> AgentProgram:
    """Return a program that takes the place of the agent."""
    file = tmp_path / "agent"
    file.write_text('#!/bin/sh\necho "the agent runs"\n')
    return AgentProgram.of(file, static=True)


def run(home: Path, script: str, shell: str = "sh", given: bytes = b"") -> subprocess.CompletedProcess[bytes]:
    """Run a script as sshd does: by the account's login shell, with -c."""
    words = ["busybox", "sh"] if shell == "busybox" else [shell]
    env = {"HOME": str(home), "PATH": os.environ["PATH"]}
    return subprocess.run([*words, "-c", script], env=env, input=given, capture_output=True, check=False)


@pytest.mark.parametrize("shell", SHELLS)
def test_an_agent_is_copied_into_a_folder_of_its_checksum_and_started(
    program: AgentProgram, tmp_path: Path, shell: str
) -> None:
    home = tmp_path / "a home"
    home.mkdir()
    programs = {platform.machine(): program}
    first = run(home, start_script(programs), shell)
    assert first.stdout.strip() == ABSENT.strip() + f" Linux {platform.machine()}".encode()
    assert run(home, copy_script(program), shell, program.path.read_bytes()).stdout.strip() == COPIED
    again = run(home, start_script(programs), shell)
    assert again.stdout.splitlines() == [STARTS, b"the agent runs"]
    (folder,) = (home / ".cache/crosswind/agents").iterdir()
    assert folder.name == program.sha256
    assert [file.name for file in folder.iterdir()] == ["crosswind-agent"]


def test_a_copy_that_was_cut_or_changed_leaves_nothing(program: AgentProgram, tmp_path: Path) -> None:
    whole = program.path.read_bytes()
    for content in (whole[:-1], b"", whole[:-1] + b"x"):
        done = run(tmp_path, copy_script(program), given=content)
        assert (done.returncode, done.stdout) == (1, b"")
    (folder,) = (tmp_path / ".cache/crosswind/agents").iterdir()
    assert list(folder.iterdir()) == []


def test_a_machine_with_another_cpu_reports_it(program: AgentProgram, tmp_path: Path) -> None:
    done = run(tmp_path, start_script({"sparc64": program}))
    assert done.stdout.startswith(ABSENT + f"Linux {platform.machine()}".encode())
