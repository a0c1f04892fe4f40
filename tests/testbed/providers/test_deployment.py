"""The record of machines that a provider made: who uses them, and what is nobody's."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.testbed.providers.deployment import TAG, Deployment, recorded


@pytest.fixture(autouse=True)
def _own_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CROSSWIND_STATE_DIR", str(tmp_path / "state"))


def test_a_deployment_is_in_use_until_its_block_ends_and_recorded_until_it_is_forgotten() -> None:
    with Deployment.new() as deployment:
        assert TAG.fullmatch(deployment.tag)
        assert deployment.key.stat().st_mode & 0o777 == 0o600
        assert deployment.path.stat().st_mode & 0o777 == 0o700
        assert deployment.key.with_suffix(".pub").read_text().startswith("ssh-ed25519 ")
        assert Deployment(deployment.tag).used_by() == "an active run"
    assert Deployment(deployment.tag).used_by() is None
    assert [each.tag for each in recorded()] == [deployment.tag]
    deployment.forget()
    assert recorded() == []


def test_a_process_that_makes_machines_uses_them_as_long_as_it_lives() -> None:
    with Deployment.new() as deployment:
        pass
    with subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE) as process:
        made = deployment.while_running(process.pid)
        made.__enter__()
        assert deployment.used_by() == f"process {process.pid}, which makes machines"
        assert process.stdin is not None
        process.stdin.close()
    assert deployment.used_by() is None


def test_a_tag_without_a_record_is_used_by_nobody_here() -> None:
    assert Deployment("crosswind-00000000").used_by() is None
