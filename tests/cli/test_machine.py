"""What the machine refuses is named with a remedy, before any work is done; it is no internal error."""

import errno
import sqlite3
import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.cli._finish import finish
from crosswind.cli._machine import MachineRefused, NoRoomLeft, refused_by_machine, require_writable
from crosswind.cli._main import run
from crosswind.errors import Exit
from crosswind.runner.outcome import RunOutcome


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (
            ["run", "rpc-quick", "--results", "/dev/null/r"],
            "name a folder that you may write with --results",
        ),
        (["demo", "--app", "rpc", "--results", "/dev/null/r"], "because /dev/null is not a folder"),
        (["certify", "--out", "/dev/null/c.json"], "name another file with --out"),
        (["up", "x.yaml", "--record", "/dev/null/r.cwr"], "name another file with --record"),
        (["up", "x.yaml", "--capture", "/dev/null/r.pcapng"], "name another file with --capture"),
        (["simulate", "x.cwr", "--packets", "/dev/null/p.csv"], "name another file with --packets"),
        (["check", "a", "--against", "b", "--junit", "/dev/null/j.xml"], "name another file with --junit"),
        (["fingerprint", "x.yaml", "--out", "/dev/null/f.json"], "name a file that you may write with --out"),
    ],
)
def test_a_verb_that_cannot_write_says_so_before_it_begins(
    arguments: list[str], words: str, tmp_path: Path, monkeypatch, capsys
) -> None:
    monkeypatch.chdir(tmp_path)
    topology = "topology: {hosts: 2, uplink: {rate: 1Gbit/s}, nodes: {a: h0, b: h1}}\n"
    (tmp_path / "x.yaml").write_text(topology)
    assert run(arguments) == Exit.PREFLIGHT
    assert words in capsys.readouterr().err


def in_reach_of_nobody(folder: Path, arguments: list[str]) -> subprocess.CompletedProcess[str]:
    """Run a verb in a folder that forbids writing, as an account to which that applies."""
    folder.chmod(0o555)
    words = [sys.executable, "-c", "from crosswind.cli import main; main()", *arguments]
    # Root without this capability is stopped by permissions as everybody is.
    drop = ["setpriv", "--inh-caps=-dac_override", "--bounding-set=-dac_override"]
    probe = subprocess.run([*drop, "test", "-w", str(folder)], check=False, capture_output=True)
    if probe.returncode not in (0, 1):
        drop = []
    if subprocess.run([*drop, "test", "-w", str(folder)], check=False).returncode == 0:
        pytest.skip("SKIPPED: this account may write everywhere, and setpriv cannot take that away")
    return subprocess.run([*drop, *words], cwd=folder, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(
    ("arguments", "status", "words"),
    [
        (["init"], 2, "experiment.yaml cannot be written: permission denied"),
        (["run", "rpc-quick"], 3, "results: cannot be made in"),
        (["demo", "--app", "rpc"], 3, "permission denied; name a folder that you may write with --results"),
    ],
)
def test_standing_in_a_folder_of_somebody_else(
    arguments: list[str], status: int, words: str, tmp_path: Path
) -> None:
    done = in_reach_of_nobody(tmp_path, arguments)
    assert (done.returncode, words in done.stderr) == (status, True), done.stderr


def test_a_folder_that_can_be_made_is_no_error(tmp_path: Path) -> None:
    require_writable(tmp_path / "new" / "results", "unused")
    require_writable(tmp_path, "unused")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("error", "kind", "words"),
    [
        (OSError(errno.ENOSPC, "No space left on device", "r/x"), NoRoomLeft, "r/x: no room left"),
        (sqlite3.OperationalError("database or disk is full"), NoRoomLeft, "no room left"),
        (PermissionError(errno.EACCES, "Permission denied", "r/x"), MachineRefused, "r/x: permission denied"),
        (OSError(errno.EROFS, "Read-only file system", "r/x"), MachineRefused, "read-only file system"),
        (FileNotFoundError(errno.ENOENT, "No such file", "r/x"), MachineRefused, "was it removed meanwhile?"),
        (
            sqlite3.OperationalError("attempt to write a readonly database"),
            MachineRefused,
            "cannot be written",
        ),
        (MemoryError(), MachineRefused, "no memory left"),
        (ImportError("x.so: failed to map segment from shared object"), MachineRefused, "no memory left"),
    ],
)
def test_what_the_machine_refused_is_named(error: Exception, kind: type, words: str) -> None:
    refused = refused_by_machine(error)
    assert isinstance(refused, kind)
    assert words in str(refused)


def test_what_it_did_not_refuse_stays_a_fault() -> None:
    assert refused_by_machine(ValueError("nonsense")) is None
    assert refused_by_machine(OSError("nonsense")) is None


def test_a_limit_of_memory_is_named() -> None:
    code = """
from crosswind.cli._finish import finish
from crosswind.cli._machine import refused_by_machine
try:
    bytearray(1 << 40)
except MemoryError as error:
    print(refused_by_machine(error))
"""
    done = subprocess.run(
        ["prlimit", "--as=1000000000", sys.executable, "-c", code], capture_output=True, text=True, check=True
    )
    assert "this process may have 1 GB (`ulimit -v`); raise the limit" in done.stdout


def test_a_run_without_room_for_its_first_table_ends_with_why(tmp_path: Path, capsys) -> None:
    outcome = RunOutcome(tmp_path, Exit.TRIALS, [f"{tmp_path}: no room left for the tables"])
    assert finish(outcome) == Exit.TRIALS
    said = capsys.readouterr()
    assert "no room left for the tables" in said.err
    assert "no trials.parquet" not in said.err
    assert "report" not in said.out
