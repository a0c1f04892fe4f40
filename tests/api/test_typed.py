"""Programs of users are checked against the types of the package that is built."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Kept: the types of NumPy and DuckDB take most of the time, and do not change.
_CACHE = ROOT / ".mypy_cache" / "programs"

PROGRAM = """
import subprocess
from typing import assert_type

import duckdb

import crosswind

run = crosswind.load("results/mine/latest")
assert_type(run, crosswind.LoadedRun)
assert_type(run.trials, duckdb.DuckDBPyRelation)
assert_type(run.operations("b00-p00-none"), duckdb.DuckDBPyRelation)
assert_type(run.monitors.drops(), duckdb.DuckDBPyRelation)
assert_type(run.summary.baseline, str)
for compared in crosswind.compare("results/base", run).compared:
    assert_type(compared.p_holm, float)
again = crosswind.run({"name": "mine"}, "results", once=True)
assert_type(again, crosswind.LoadedRun)

with crosswind.Fabric({"hosts": 2}, conditions=["none", {"slow": {}}]) as net:
    assert_type(net, crosswind.Fabric)
    assert_type(net.set("slow"), int)
    done = net.exec("client", ["ping", "-c1", net.address("server")], check=True, timeout=5)
    assert_type(done, subprocess.CompletedProcess[str])
    assert_type(net.popen("server", ["sleep", "9"]), subprocess.Popen[str])
    assert_type(net.read().fidelity == "faithful", bool)
    assert_type(net.read().dropped_packets, int)
"""
WRONG = """
import crosswind

crosswind.load(7)
crosswind.laod("x")
with crosswind.Fabric({"hosts": 2}) as net:
    net.exec("client", [1])
    net.set(None)
"""


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder with the package as a wheel has it, without its programs."""
    folder = tmp_path_factory.mktemp("built")
    command = [sys.executable, "setup.py", "-q", "build_py", "--build-lib", str(folder)]
    subprocess.run(command, cwd=ROOT, check=True, capture_output=True)
    return folder


def strictly_checked(program: str, built: Path, folder: Path) -> tuple[int, str]:
    (folder / "program.py").write_text(program)
    checked = subprocess.run(
        # Of the package only the types count here; `make lint` checks its code.
        [
            sys.executable,
            "-m",
            "mypy",
            "--strict",
            "--follow-imports=silent",
            f"--cache-dir={_CACHE}",
            "program.py",
        ],
        cwd=folder,
        env=os.environ | {"MYPYPATH": str(built)},
        capture_output=True,
        text=True,
        check=False,
    )
    return checked.returncode, checked.stdout


def test_the_package_says_that_it_is_typed(built: Path) -> None:
    assert (built / "crosswind" / "py.typed").is_file()


def test_a_program_that_uses_the_interface_is_strictly_typed(built: Path, tmp_path: Path) -> None:
    assert strictly_checked(PROGRAM, built, tmp_path) == (0, "Success: no issues found in 1 source file\n")


def test_wrong_arguments_are_found(built: Path, tmp_path: Path) -> None:
    status, said = strictly_checked(WRONG, built, tmp_path)
    assert status == 1
    assert {line.split(":")[1] for line in said.splitlines() if ": error:" in line} == {"4", "5", "7", "8"}
