"""What a regime is told on the command line: bounds hold, and what it would not heed is refused."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.cli._main import run
from crosswind.errors import Exit

REGIME = ("--regime", "10-30", "--for", "40s")


def fingerprint(folder: Path, *options: str) -> Exit:
    file = folder / "network.yaml"
    file.write_text("topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n")
    out = folder / "regime.jsonl"
    status = run(["fingerprint", str(file), *REGIME, "--out", str(out), *options])
    assert not out.exists()
    return Exit(status)


def test_a_busy_machine_is_refused_before_the_file_is_begun(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fingerprint(tmp_path, "--memory-at-most", "0.0001%") is Exit.PREFLIGHT
    assert "(--memory-at-most)" in capsys.readouterr().err


def test_what_says_how_much_a_fingerprint_measures_is_refused(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert fingerprint(tmp_path, "--rest", "5s", "--repeat", "2") is Exit.USAGE
    assert "--rest, --repeat: of a fingerprint" in capsys.readouterr().err
