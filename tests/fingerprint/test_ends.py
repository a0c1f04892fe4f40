"""What an end of a network holds is gone with the process that asked for it, however that ended."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from crosswind.fingerprint.measure.ends import End
from crosswind.testbed import TestbedError

HERE = End("here", (), "127.0.0.1", "crosswind-load", "python3", ("iperf3",), ("nuttcp",), None)
# Holds a folder of an end until it is killed.
_HOLD = """
import sys, time
sys.path.insert(0, sys.argv[1])
from test_ends import HERE
with HERE.folder() as folder:
    print(folder, flush=True)
    time.sleep(1e6)
"""


def test_a_folder_of_an_end_is_there_while_its_block_runs() -> None:
    with HERE.folder() as folder:
        Path(folder, "file").write_text("x")
        assert HERE.read(f"{folder}/file") == b"x"
    assert not Path(folder).exists()


def test_an_end_that_cannot_make_a_folder_says_why(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", "/nowhere/at/all")
    with pytest.raises(TestbedError, match="nowhere"), HERE.folder():
        raise AssertionError("there is no folder")


def test_a_folder_of_an_end_goes_with_a_process_that_is_killed() -> None:
    command = [sys.executable, "-c", _HOLD, str(Path(__file__).parent)]
    environment = os.environ | {"PYTHONPATH": os.pathsep.join(sys.path)}
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True, env=environment) as holding:
        assert holding.stdout is not None
        folder = Path(holding.stdout.readline().strip())
        assert folder.is_dir()
        holding.send_signal(signal.SIGKILL)
    deadline_s = time.monotonic() + 30
    while folder.exists() and time.monotonic() < deadline_s:
        time.sleep(0.01)
    assert not folder.exists()


def test_a_folder_in_a_work_folder_is_left_to_cleanup(tmp_path: Path) -> None:
    own = End("own", (), "127.0.0.1", "", "", (), (), None, tmp_path)
    with own.folder() as folder:
        assert Path(folder).parent == tmp_path
    assert list(tmp_path.iterdir()) == []
