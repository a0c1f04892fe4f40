"""A trial that a hand moves while it runs is void, is tried again, and everything that happened is kept."""

from __future__ import annotations

import http.client
import json
import re
import sqlite3
import subprocess
import time
from collections.abc import Callable
from typing import TYPE_CHECKING

import duckdb
import pytest
from chromium import Chromium, needs_chromium

if TYPE_CHECKING:
    from conftest import Live

DELAY = {"place": "hosts", "on": None, "slider": "delay_us", "value": 20_000}
DRAGGED = """(() => {
  const found = document.getElementById('delay_us');
  found.value = 100;
  found.dispatchEvent(new Event('input'));
})()"""


def move(url: str) -> None:
    """Move a trial over HTTP, as soon as its load runs."""
    address, _, token = url.removeprefix("http://").partition("/#")
    deadline = time.monotonic() + 10
    while True:
        connection = http.client.HTTPConnection(address, timeout=10)
        connection.request("POST", "/api/set", json.dumps(DELAY), {"Authorization": f"Bearer {token}"})
        answer = connection.getresponse()
        said = answer.read().decode()
        if answer.status == 200:
            return
        assert (answer.status, "no trial can be steered now" in said) == (422, True), said
        assert time.monotonic() < deadline
        time.sleep(0.02)


def check_explored(live: Live, process: subprocess.Popen[str], said: list[str]) -> None:
    """Check that the first attempt of the first trial is void because of the hand, and another one counts."""
    assert process.stdout is not None
    said += process.stdout
    live.check_measured(process.wait(120), "".join(said))
    rows = duckdb.sql(
        f"SELECT trial, status, fidelity, fidelity_reason FROM '{live.run_folder}/trials.parquet' "
        "ORDER BY position, attempt"
    ).fetchall()
    (name, status, fidelity, reason), *others = rows
    assert (status, fidelity) == ("done", "void")
    assert re.match(
        r"explored by hand: 1 move \d+\.\d\d s after the start \(delay of all links of hosts: ", reason
    ), reason
    again = [row for row in others if row[0].startswith(f"{name}-a")]
    if again[-1][2] == "void":
        pytest.skip(f"SKIPPED: the other attempts are void too: {again[-1][3]}")
    assert again[-1][1] == "done"
    assert not any("explored by hand" in (row[3] or "") for row in others)

    connection = sqlite3.connect(live.run_folder / "journal.sqlite")
    moved = connection.execute("SELECT attempt, detail FROM steps WHERE step = 'moved'").fetchall()
    connection.close()
    ((attempt, detail),) = moved
    assert attempt == 1
    assert json.loads(detail)["words"].startswith("delay of all links of hosts: ")
    measured = json.loads((live.run_folder / "monitors" / f"{name}.json").read_text())
    by_hand = [change["at_ns"] for change in measured["changes"] if change["condition"] == "by-hand"]
    assert json.loads(detail)["at_ns"] in by_hand
    assert "by hand: link" in (live.run_folder / "report.html").read_text()


def test_one_move_voids_the_attempt_and_the_next_one_counts(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=1, duration="3s")
    with live.serving("console: ", "run", file, "--console") as (process, said):
        live.await_step("prepared")
        time.sleep(1)  # The warm-up is over.
        move(said[-1].split()[1])
        check_explored(live, process, said)


@needs_chromium
@pytest.mark.long
def test_the_page_of_a_run_says_what_a_move_costs_before_the_first_one(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=1, duration="4s")
    with (
        live.serving("console: ", "run", file, "--console") as (process, said),
        Chromium(live.folder / "profile") as page,
    ):
        page.open(said[-1].split()[1])
        page.await_true("document.getElementById('doing').textContent === 'the load runs'", timeout_s=60)
        assert page.value("document.querySelector('.hand').hidden")
        cost = "document.getElementById('cost').textContent"
        assert page.value(cost).startswith("The first move makes the attempt that runs void.")
        page.value("document.getElementById('steer').click()")
        time.sleep(1)  # The warm-up is over.
        assert not page.value("document.querySelector('.hand').hidden")
        page.value(DRAGGED)
        page.await_true(f"{cost}.startsWith('This attempt was moved')")
        page.await_true("document.getElementById('active').textContent === 'by-hand'")
        page.await_true(
            "document.querySelector('#ended li')?.textContent.includes('explored by hand')", timeout_s=60
        )
        # What was done can be saved after the trial as well, and the next one begins as declared.
        assert not page.value("document.getElementById('save').disabled")
        page.await_true("document.getElementById('doing').textContent === 'the load runs'", timeout_s=60)
        assert page.value("document.querySelector('#sliders output').textContent") == "0"
        assert page.errors == []
        check_explored(live, process, said)
