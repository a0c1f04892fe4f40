"""The verb on this machine, as root and as an ordinary user: real nodes and packets, speed not judged."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import crosswind
from crosswind.testbed import NotHere, find_binary

SOURCE = Path(crosswind.__file__).parent.parent
NOBODY = "65534"
RUN = "from crosswind.cli import main; main()"
# Five seconds on a quiet machine; others may be building on this one.
PATIENCE_S = 60


@pytest.fixture
def home() -> Iterator[Path]:
    """Give an empty folder that other accounts can get through, which those of pytest are not."""
    with tempfile.TemporaryDirectory(prefix="crosswind-doctor-") as name:
        Path(name).chmod(0o755)
        yield Path(name)


@pytest.fixture
def environment(home: Path) -> dict[str, str]:
    """Return an environment with folders of its own, the programs found, and this Python's packages."""
    try:
        programs = {
            "CROSSWIND_AGENT": str(find_binary("crosswind-agent")),
            "CROSSWIND_LOAD": str(find_binary("crosswind-load")),
        }
    except NotHere as error:
        pytest.skip(f"SKIPPED: {error}")
    packages = [str(SOURCE), *(path for path in sys.path if path.endswith("-packages"))]
    return {
        **programs,
        "PATH": os.environ["PATH"],
        "PYTHONPATH": os.pathsep.join(packages),
        "PYTHONDONTWRITEBYTECODE": "1",
        "HOME": str(home),
        "XDG_CACHE_HOME": str(home / "cache"),
        "XDG_RUNTIME_DIR": str(home / "run"),
        "CROSSWIND_CACHE_DIR": str(home / "crosswind"),
        "CROSSWIND_WORK_DIR": str(home / "work"),
    }


def crosswind_json(
    command: list[str], arguments: list[str], environment: dict[str, str]
) -> tuple[int, dict[str, Any]]:
    done = subprocess.run(
        [*command, "-c", RUN, *arguments, "--json"],
        env=environment,
        capture_output=True,
        text=True,
        timeout=PATIENCE_S,
        check=False,
    )
    assert done.stdout, done.stderr
    return done.returncode, json.loads(done.stdout)


def check_diagnosis(status: int, diagnosis: dict[str, Any]) -> None:
    """Check what must hold on every machine that can run Crosswind, however slow it is."""
    lacking = [finding for finding in diagnosis["findings"] if finding["verdict"] == "missing"]
    assert lacking == []
    assert status == 0
    calibration = diagnosis["calibration"]
    assert [check["declared_ns"] for check in calibration["delays"]] == [20_000, 100_000, 1_000_000]
    assert all(check["packets"] == 500 and check["early"] == 0 for check in calibration["delays"])
    # Two system calls and two veth pairs take more than half a microsecond on any machine.
    assert calibration["floor_ns_p50"] > 500
    assert calibration["goodput_bps"] > 0
    assert calibration["wait_mode"] in ("spin", "sleep")


@pytest.mark.skipif(os.geteuid() != 0, reason="SKIPPED: root only; this is an ordinary user")
def test_root_is_told_what_this_machine_honours_and_plan_knows_it(
    environment: dict[str, str],
) -> None:
    _, before = crosswind_json([sys.executable], ["plan", "rpc-quick"], environment)
    assert "crosswind doctor" in before["machine"][0]
    began = time.monotonic()
    status, diagnosis = crosswind_json([sys.executable], ["doctor"], environment)
    took_s = time.monotonic() - began
    check_diagnosis(status, diagnosis)
    assert diagnosis["calibration"]["rootless"] is False
    # About five on a quiet machine; this bound only finds a probe that waits for nothing.
    assert took_s < 120, "about five seconds on a machine that does nothing else"
    _, after = crosswind_json([sys.executable], ["plan", "rpc-quick"], environment)
    assert not any("crosswind doctor" in remark for remark in after["machine"])


def test_an_ordinary_user_needs_no_root(environment: dict[str, str], home: Path) -> None:
    if os.geteuid() != 0:
        check_diagnosis(*crosswind_json([sys.executable], ["doctor"], environment))
        return
    if shutil.which("setpriv") is None:
        pytest.skip("SKIPPED: setpriv (util-linux) is not here")
    drop = ["setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"]
    python = python_of(drop, environment)
    if python is None:
        pytest.skip("SKIPPED: no Python here that an ordinary user may execute has the packages")
    os.chown(home, int(NOBODY), int(NOBODY))
    status, diagnosis = crosswind_json([*drop, python], ["doctor"], environment)
    refused = [
        finding["found"]
        for finding in diagnosis["findings"]
        if finding["verdict"] == "missing" and finding["name"] in ("privileges", "nodes")
    ]
    if refused:
        assert status == 3
        pytest.skip(f"SKIPPED: ordinary users cannot make nodes here: {refused[0]}")
    check_diagnosis(status, diagnosis)
    assert diagnosis["calibration"]["rootless"] is True


def python_of(drop: list[str], environment: dict[str, str]) -> str | None:
    """Return a Python that the account can execute with all packages; None if there is none."""
    here = f"python{sys.version_info.major}.{sys.version_info.minor}"
    for python in (sys.executable, f"/usr/bin/{here}"):
        tried = subprocess.run(
            [*drop, python, "-c", "import crosswind, click, numpy, pydantic, rich"],
            env=environment,
            capture_output=True,
            check=False,
        )
        if tried.returncode == 0:
            return python
    return None


def test_a_machine_that_lacks_something_gets_3_and_is_told_what(environment: dict[str, str]) -> None:
    status, diagnosis = crosswind_json(
        [sys.executable], ["doctor"], {**environment, "CROSSWIND_AGENT": "/nowhere/crosswind-agent"}
    )
    assert status == 3
    assert diagnosis["calibration"] is None
    assert "crosswind-agent" in [
        finding["name"] for finding in diagnosis["findings"] if finding["verdict"] == "missing"
    ]
