"""Private installations: complete or not there, and one at a time."""

import os
import signal
import subprocess
import sys
import time
from dataclasses import make_dataclass
from pathlib import Path

import pytest

from crosswind.app.requirements.private_folder import PrivateFolder, make_readable


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    return tmp_path


Requested = make_dataclass("Requested", ["version"])


def folder(version: str = "1") -> PrivateFolder:
    return PrivateFolder("kind", "thing", Requested(version))


def ignore(_: str) -> None:
    pass


def test_what_was_installed_is_recorded_and_found() -> None:
    with folder().installing(ignore, lambda: False) as fresh:
        assert fresh is not None
        (fresh.path / "file").touch()
        assert not folder().is_complete
        fresh.record["thing"] = "1 sha256:00"
    assert folder().is_complete
    assert folder().record == {"thing": "1 sha256:00"}


def test_a_failed_installation_leaves_nothing() -> None:
    def fail() -> None:
        with folder().installing(ignore, lambda: False) as fresh:
            assert fresh is not None
            (fresh.path / "file").touch()
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert not folder().path.exists()


def test_what_is_there_is_not_installed_again() -> None:
    with folder().installing(ignore, lambda: True) as fresh:
        assert fresh is None


def test_other_content_is_another_folder() -> None:
    assert folder("2").path != folder().path


# Says `begun`, leaves half a file, and then never ends.
STUCK = """
import time
from dataclasses import make_dataclass
from crosswind.app.requirements.private_folder import PrivateFolder
requested = make_dataclass("Requested", ["version"])("1")
with PrivateFolder("kind", "thing", requested).installing(print, lambda: False) as fresh:
    (fresh.path / "half").touch()
    print("begun", flush=True)
    time.sleep(600)
"""


def test_a_killed_installation_is_none_and_does_not_block_the_next() -> None:
    stuck = subprocess.Popen([sys.executable, "-c", STUCK], stdout=subprocess.PIPE, text=True)
    assert stuck.stdout is not None
    assert stuck.stdout.readline() == "begun\n"
    assert not folder().is_complete
    os.kill(stuck.pid, signal.SIGKILL)
    stuck.wait(10)
    with folder().installing(ignore, lambda: False) as fresh:
        assert fresh is not None
        assert list(fresh.path.iterdir()) == []


WAITING = """
import time
from dataclasses import make_dataclass
from crosswind.app.requirements.private_folder import PrivateFolder
folder = PrivateFolder("kind", "thing", make_dataclass("Requested", ["version"])("1"))
with folder.installing(lambda text: None, lambda: folder.is_complete) as fresh:
    print("installs" if fresh else "finds it there", flush=True)
    time.sleep(0.3)
"""


def test_two_installations_at_once_install_once() -> None:
    both = [
        subprocess.Popen([sys.executable, "-c", WAITING], stdout=subprocess.PIPE, text=True) for _ in range(2)
    ]
    said = sorted(process.communicate(timeout=30)[0] for process in both)
    assert said == ["finds it there\n", "installs\n"]


# The installer dies, the tool that it had started goes on for a while.
ORPHANED = """
import os, signal
from dataclasses import make_dataclass
from crosswind.app.requirements.private_folder import PrivateFolder
from crosswind.app.requirements.tool import run_tool
requested = make_dataclass("Requested", ["version"])("1")
with PrivateFolder("kind", "thing", requested).installing(print, lambda: False) as fresh:
    kill = f"kill -9 {os.getpid()}; sleep 1; touch {fresh.path}/late"
    run_tool(["sh", "-c", kill], wanted="thing", lock=fresh.lock)
"""


def test_nobody_writes_into_a_folder_that_an_orphaned_tool_still_writes_to() -> None:
    installer = subprocess.run([sys.executable, "-c", ORPHANED], timeout=30, check=False)
    assert installer.returncode == -signal.SIGKILL
    said: list[str] = []
    began = time.monotonic()
    with folder().installing(said.append, lambda: False) as fresh:
        assert fresh is not None
        assert time.monotonic() - began > 0.5
        assert not (fresh.path / "late").exists()
    assert said == ["another process is installing the same; waiting for its end"]


def test_every_account_may_read_what_was_unpacked_and_nothing_runs_as_its_owner(tmp_path: Path) -> None:
    (tmp_path / "private").mkdir(mode=0o700)
    program, data = tmp_path / "private" / "program", tmp_path / "private" / "data"
    for path, mode in ((program, 0o4750), (data, 0o600)):
        path.touch()
        path.chmod(mode)
    (tmp_path / "link").symlink_to("nowhere")
    make_readable(tmp_path)
    assert (tmp_path / "private").stat().st_mode & 0o7777 == 0o755
    assert program.stat().st_mode & 0o7777 == 0o755
    assert data.stat().st_mode & 0o7777 == 0o644
