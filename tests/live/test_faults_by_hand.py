"""Faults of nodes by hand beside `crosswind up`: a scrape shows them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING
from urllib.request import urlopen

from networks import TWO_NODES

if TYPE_CHECKING:
    from conftest import Live


def faults(url: str) -> set[str]:
    """Return the samples about faults of nodes in a scrape."""
    with urlopen(url, timeout=10) as answer:
        lines = answer.read().decode().splitlines()
    return {line for line in lines if line.startswith("crosswind_node_fault")}


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
