"""Faults of nodes by hand beside `crosswind up`: a scrape shows them, and a restart starts again what ran."""

from __future__ import annotations

import subprocess
import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.request import urlopen

from networks import TWO_NODES

if TYPE_CHECKING:
    from conftest import Live

# It takes a port, so that two of it would not run beside each other.
SERVE = """
import os, socket, sys, time
socket.create_server(("", 7000))
print(os.environ["MARK"], os.path.basename(os.getcwd()), sys.argv[1:], flush=True)
time.sleep(600)
"""


def faults(url: str) -> set[str]:
    """Return the samples about faults of nodes in a scrape, but counters that are zero."""
    with urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line for line in lines if line.startswith("crosswind_node_fault") and not line.endswith(" 0.0")}


def await_faults(url: str, expected: set[str]) -> None:
    deadline = time.monotonic() + 10
    while (found := faults(url)) != expected:
        assert time.monotonic() < deadline, found
        time.sleep(0.05)


def test_a_scrape_shows_what_a_hand_did_to_nodes(live: Live) -> None:
    by = 'by="hand"'
    with live.up(TWO_NODES, "--metrics", "0") as (_, said):
        (url,) = [line.split()[1] for line in said if line.startswith("metrics: ")]
        assert faults(url) == set()
        assert live.run("fault", "pause", "a", "b")[0] == 0
        paused = {f'crosswind_node_fault{{{by},fault="pause",node="{node}"}} 1.0' for node in "ab"}
        counted = {f'crosswind_node_faults_total{{{by},fault="pause",node="{node}"}} 1.0' for node in "ab"}
        await_faults(url, paused | counted)
        assert live.run("fault", "resume", "a")[0] == 0
        assert live.run("fault", "kill", "b")[0] == 0
        counted |= {
            f'crosswind_node_faults_total{{{by},fault="resume",node="a"}} 1.0',
            f'crosswind_node_faults_total{{{by},fault="kill",node="b"}} 1.0',
        }
        await_faults(url, {f'crosswind_node_fault{{{by},fault="kill",node="b"}} 1.0'} | counted)
        # Something runs there again.
        assert live.run("exec", "b", "--", "true")[0] == 0
        await_faults(url, {f'crosswind_node_faults_total{{{by},fault="restart",node="b"}} 1.0'} | counted)


def await_lines(path: Path, count: int) -> list[str]:
    deadline = time.monotonic() + 30
    while len(lines := path.read_text().splitlines()) < count:
        assert time.monotonic() < deadline, lines
        time.sleep(0.05)
    return lines


def test_a_restart_starts_again_what_exec_had_started(live: Live) -> None:
    (live.folder / "serve.py").write_text(SERVE)
    printed = live.folder / "printed"
    with live.up(TWO_NODES):
        with printed.open("w") as out:
            first = subprocess.Popen(
                [*live.command, "exec", "b", "--", sys.executable, "serve.py", "two words", "*"],
                cwd=live.folder, env=live.env | {"MARK": "mark"}, stdout=out, stderr=out,
            )  # fmt: skip
        line = f"mark {live.folder.name} ['two words', '*']"
        assert await_lines(printed, 1) == [line]
        status, said = live.run("fault", "restart", "b", "a")
        assert status == 2
        assert 'restart names "a", where nothing runs that crosswind exec has started' in said
        assert "crosswind exec a -- CMD" in said
        # Nothing was killed for it.
        assert first.poll() is None
        assert live.run("fault", "kill", "b")[0] == 0
        assert first.wait(20) == 128 + 9
        status, said = live.run("fault", "restart", "b")
        assert (status, said.split()[:3]) == (0, ["restart", "b", "effective_ns"])
        assert await_lines(printed, 2) == [line] * 2
        # Without a kill before it, and of what a restart has started.
        assert live.run("fault", "restart", "b")[0] == 0
        assert await_lines(printed, 3) == [line] * 3
