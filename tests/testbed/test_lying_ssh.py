"""A machine that lies before its agent starts: what it prints is bounded, and becomes one plain line."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from crosswind.testbed import NotHere
from crosswind.testbed.agent import Agent
from crosswind.testbed.ssh import SshTransport, transport

ENDLESS = "import sys\nwhile True: sys.{}.write('x' * 65536)"
CASES = {
    "a line without end": (ENDLESS.format("stdout"), "no answer within"),
    "complaints without end": (ENDLESS.format("stderr"), "no answer within"),
    "escapes": ("print('\\x1b[2Jowned'); raise SystemExit(255)", r"ssh failed (\x1b[2Jowned)"),
    "a strange machine": (
        "print('crosswind-agent is absent on Linux \\x1b[2J x86_64 ../../etc')",
        r"it is Linux on \x1b[2J x86_64 ../../etc, there are agents for",
    ),
}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(transport, "_START_S", 3.0)
    monkeypatch.setattr(transport, "_END_S", 1.0)


def pretend(monkeypatch: pytest.MonkeyPatch, folder: Path, program: str) -> None:
    """Put a program in the place of ssh."""
    ssh = folder / "ssh"
    ssh.write_text(f"#!{sys.executable} -S\n{program}\n")
    ssh.chmod(0o755)
    monkeypatch.setenv("PATH", str(folder), prepend=":")


@pytest.mark.parametrize("case", CASES)
def test_a_machine_that_prints_anything_is_refused_in_one_line(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, case: str
) -> None:
    program, why = CASES[case]
    pretend(monkeypatch, tmp_path, program)
    with pytest.raises(NotHere) as refused:
        Agent(SshTransport("m0"))
    assert str(refused.value).startswith("host m0: ")
    assert why in str(refused.value)
    assert str(refused.value).isprintable()
    assert len(str(refused.value)) < 3_000


def test_a_script_that_prints_without_end_is_ended(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    pretend(monkeypatch, tmp_path, ENDLESS.format("stdout"))
    with pytest.raises(NotHere, match="host m0: it printed more than 1048576 bytes"):
        SshTransport("m0").run("uname", timeout_s=30)


def test_a_machine_gets_neither_keys_nor_display_nor_ports(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    pretend(monkeypatch, tmp_path, f"import sys; open('{tmp_path}/words', 'w').write(' '.join(sys.argv))")
    with pytest.raises(NotHere):
        SshTransport("m0").start()
    words = (tmp_path / "words").read_text()
    for option in ("ForwardAgent=no", "ForwardX11=no", "ClearAllForwardings=yes"):
        assert f"-o {option}" in words
