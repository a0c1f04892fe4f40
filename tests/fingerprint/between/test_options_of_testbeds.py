"""Options of `crosswind fingerprint --testbed`."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.cli._main import run


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["network.yaml"], "file"),
        (["--near", "x"], "--near"),
        (["--full-speed", "3s"], "--full-speed"),
        (["--load-at-most", "1"], "--load-at-most"),
        (["--console"], "--console"),
    ],
)
def test_options_of_two_ends_are_refused(
    options: list[str], named: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "testbed.yaml"
    file.write_text("ssh: {hosts: [m0, m1]}\n")
    assert run(["fingerprint", "--testbed", str(file), *options]) == 2
    assert named in capsys.readouterr().err.lower()


@pytest.mark.parametrize("content", ["local\n", "ssh: {hosts: [m0]}\n"])
def test_one_machine_is_no_network(content: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "testbed.yaml"
    file.write_text(content)
    assert run(["fingerprint", "--testbed", str(file)]) == 2
    assert "list at least two" in capsys.readouterr().err
