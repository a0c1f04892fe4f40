"""One writer for a results folder, until its process ends, however it ends."""

import os
import signal
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from crosswind.results import FolderInUse, only_writer

HOLDER = """
import sys
from pathlib import Path
from crosswind.results import only_writer

sys.argv = ["/usr/bin/crosswind", "run", "my experiment.yaml"]
with only_writer(Path(sys.stdin.readline().strip())):
    print("locked", flush=True)
    sys.stdin.read()
"""


@pytest.fixture
def holder(tmp_path: Path) -> Iterator[subprocess.Popen[str]]:
    """Another process that holds the lock of `tmp_path`."""
    process = subprocess.Popen(
        [sys.executable, "-c", HOLDER],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)},
    )
    assert process.stdin is not None
    assert process.stdout is not None
    with process:
        process.stdin.write(f"{tmp_path}\n")
        process.stdin.flush()
        assert process.stdout.readline() == "locked\n"
        yield process
        process.kill()


def test_a_second_writer_is_told_who_the_first_is(holder: subprocess.Popen[str], tmp_path: Path) -> None:
    whom = rf"process {holder.pid} \(crosswind run 'my experiment.yaml'\) writes it; wait"
    with pytest.raises(FolderInUse, match=whom), only_writer(tmp_path):
        pass


def test_the_lock_ends_with_its_process_whatever_ends_it(
    holder: subprocess.Popen[str], tmp_path: Path
) -> None:
    holder.send_signal(signal.SIGKILL)
    holder.wait()
    with only_writer(tmp_path):
        pass


def test_the_lock_names_its_present_holder_alone(tmp_path: Path) -> None:
    with only_writer(tmp_path):
        pass
    with (
        only_writer(tmp_path),
        pytest.raises(FolderInUse, match=f"process {os.getpid()} "),
        only_writer(tmp_path),
    ):
        pass
    assert len((tmp_path / "writer.lock").read_text().splitlines()) == 1
