"""A fingerprint that is ended by a signal leaves no folder, or one that `cleanup` finds."""

from __future__ import annotations

import signal
import subprocess
import time
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from conftest import Live

NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 100Mbit/s, delay: 1ms, buffer: 1MiB}
  wait: sleep
  nodes: {a: h0, b: h1}
"""


def started(live: Live) -> subprocess.Popen[str]:
    """Start a fingerprint and wait until an end has a folder of its own."""
    (live.folder / "network.yaml").write_text(NETWORK)
    (live.folder / "tmp").mkdir()
    live.env["TMPDIR"] = str(live.folder / "tmp")
    running = live.start("fingerprint", "network.yaml", "--repeat", "100")
    deadline_s = time.monotonic() + 60
    while not list((live.folder / "work").glob("run-*/tmp*")):
        assert running.poll() is None, running.communicate()
        assert time.monotonic() < deadline_s
        time.sleep(0.01)
    return running


def test_term_removes_what_a_fingerprint_has_made(live: Live) -> None:
    running = started(live)
    running.send_signal(signal.SIGTERM)
    said, _ = running.communicate(timeout=60)
    assert running.returncode == 143, said
    assert "terminated" in said
    live.await_no_process()
    assert [list((live.folder / part).iterdir()) for part in ("tmp", "work")] == [[], []]
    assert live.run("cleanup") == (0, "nothing to clean up\n")


def test_kill_leaves_a_folder_that_cleanup_finds_once_its_process_is_dead(live: Live) -> None:
    running = started(live)
    status, said = live.run("cleanup")
    assert (status, said) == (0, "nothing to clean up\n")
    running.kill()
    running.communicate(timeout=60)
    live.await_no_process()
    left = sorted((live.folder / "work").iterdir())
    assert left
    status, said = live.run("cleanup")
    assert status == 0, said
    assert [f"removed {folder}" for folder in left] == said.splitlines()
    assert [list((live.folder / part).iterdir()) for part in ("tmp", "work")] == [[], []]
