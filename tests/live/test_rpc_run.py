"""Whole runs of requests and responses through a real fabric."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import signal
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from crosswind.analysis.summarise import summarise

if TYPE_CHECKING:
    from conftest import Live

Experiment = Callable[..., str]


def rows(folder: Path, select: str) -> list[tuple[Any, ...]]:
    return duckdb.sql(select.replace("TRIALS", f"'{folder}/trials.parquet'").replace("METRICS", f"'{folder}/metrics.parquet'")).fetchall()  # fmt: skip  # noqa: E501


def test_two_conditions_in_two_blocks_leave_a_complete_folder(live: Live, experiment: Experiment) -> None:
    status, said = live.run("run", experiment())
    assert status == 0, said
    folder = live.run_folder
    # A void attempt is repeated, and both are rows.
    counted = "SELECT status, count(DISTINCT (block, condition)) FROM TRIALS GROUP BY 1"
    assert rows(folder, counted) == [("done", 4)]
    assert rows(folder, "SELECT block, count(DISTINCT condition) FROM TRIALS GROUP BY 1 ORDER BY 1") == [
        (0, 2),
        (1, 2),
    ]
    medians = dict(
        rows(
            folder,
            "SELECT condition, median(value) FROM METRICS JOIN TRIALS USING (trial) "
            "WHERE metric = 'latency' AND statistic = 'p50' GROUP BY 1",
        )
    )
    # A round trip crosses each direction's uplink and downlink: 4 ms of propagation. The condition adds 5 ms
    # in front of each of the two wires of each direction: 20 ms more. Never early; late by at most a busy
    # machine.
    assert 4e6 <= medians["none"] < 9e6
    assert 24e6 <= medians["slow"] < 29e6
    for (trial,) in rows(folder, "SELECT trial FROM TRIALS"):
        for file in (
            f"samples/{trial}.parquet",
            f"monitors/{trial}.counters.parquet",
            f"monitors/{trial}.json",
        ):
            assert (folder / file).is_file()
        assert json.loads((folder / "monitors" / f"{trial}.json").read_text())["load"]["connections"]
    provenance = json.loads((folder / "provenance.json").read_text())
    for name, variable in (("crosswind-agent", "CROSSWIND_AGENT"), ("crosswind-load", "CROSSWIND_LOAD")):
        checksum = hashlib.sha256(Path(live.env[variable]).read_bytes()).hexdigest()
        assert provenance["before"]["tools"][name].endswith(f" sha256:{checksum}")
    assert provenance["after"]["kernel"] == os.uname().release
    assert (folder / "report.html").is_file()
    assert list((live.folder / "work").iterdir()) == []


def test_a_failing_application_is_a_row_with_its_reason_and_the_run_goes_on(
    live: Live, experiment: Experiment
) -> None:
    load = Path(live.env["CROSSWIND_LOAD"])
    real = load.with_name("real-load")
    load.rename(real)
    load.write_text(
        f'#!/bin/sh\nif [ "$1" = rpc ]; then echo "no luck today" >&2; exit 5; fi\nexec {real} "$@"\n'
    )
    load.chmod(0o755)
    status, said = live.run("run", experiment(repeat=1))
    assert status == 4, said
    found = rows(live.run_folder, "SELECT status, reason FROM TRIALS")
    assert [row[0] for row in found] == ["failed", "failed"]
    assert all("exit status 5" in row[1] and "no luck today" in row[1] for row in found)
    assert "2 trials failed" in said


@pytest.mark.parametrize(
    ("printed", "error"),
    [
        ("printf '{\"operations\": 1' > summary.json", "Invalid JSON: EOF while parsing"),
        ("head -c 100000 /dev/zero | tr '\\0' '[' > summary.json", "Invalid JSON: recursion limit exceeded"),
    ],
    ids=["cut off", "100,000 deep"],
)
def test_a_result_that_nobody_can_read_costs_its_trial_and_not_the_run(
    live: Live, experiment: Experiment, printed: str, error: str
) -> None:
    load = Path(live.env["CROSSWIND_LOAD"])
    real = load.with_name("real-load")
    load.rename(real)
    load.write_text(f'#!/bin/sh\n{real} "$@" || exit\n[ "$1" != rpc ] || {printed}\n')
    load.chmod(0o755)
    status, said = live.run("run", experiment(repeat=1))
    assert status == 4, said
    found = rows(live.run_folder, "SELECT status, reason FROM TRIALS")
    assert [row[0] for row in found] == ["failed", "failed"]
    reason = f"load on client: its result cannot be read ({error}"
    assert all(reason in row[1] for row in found)


def test_failed_stop_ends_the_run_at_the_first_failure(live: Live, experiment: Experiment) -> None:
    load = Path(live.env["CROSSWIND_LOAD"])
    real = load.with_name("real-load")
    load.rename(real)
    load.write_text(f'#!/bin/sh\n[ "$1" = --version ] && exec {real} --version\nexit 5\n')
    load.chmod(0o755)
    status, said = live.run("run", experiment(limits="failed: stop, void: accept"))
    assert status == 4, said
    assert rows(live.run_folder, "SELECT status, count(*) FROM TRIALS GROUP BY 1 ORDER BY 1") == [
        ("failed", 1),
        ("pending", 3),
    ]


def test_a_killed_agent_fails_its_trial_only_and_resume_repairs_it(
    live: Live, experiment: Experiment
) -> None:
    run = live.start("run", experiment(repeat=2, duration="1s"))
    live.await_step("prepared")
    agent = live.agent_pid()
    assert agent is not None
    os.kill(agent, signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    found = rows(live.run_folder, "SELECT status, reason FROM TRIALS ORDER BY position")
    assert found[0][0] == "failed"
    assert len(found) >= 4
    assert {row[0] for row in found[1:]} == {"done"}
    assert "agent: ended while in use (killed by signal 9)" in found[0][1]
    finished = live.stored()
    status, said = live.run("resume")
    assert status == 0, said
    assert finished < live.stored()
    assert (
        len(rows(live.run_folder, "SELECT DISTINCT block, condition FROM TRIALS WHERE status = 'done'")) == 4
    )


@pytest.mark.parametrize("number", [signal.SIGINT, pytest.param(signal.SIGTERM, marks=pytest.mark.long)])
def test_an_interrupted_run_says_how_to_continue_and_does(
    live: Live, experiment: Experiment, number: signal.Signals
) -> None:
    run = live.start("run", experiment(repeat=2, duration="1s"))
    live.await_step("stored")
    live.await_step("prepared", 2)
    run.send_signal(number)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    assert f"interrupted by {number.name}" in said
    assert "crosswind resume" in said
    assert "So far: 1 of 4 trials." in said
    page = (live.run_folder / "report.html").read_text()
    assert re.search(r"So far: 1 of 4 trials, as of [-\d]+ [:\d]+ UTC\. The run was stopped", page)
    live.await_no_process()
    statuses = "SELECT status, count(*) FROM TRIALS GROUP BY 1 ORDER BY 1"
    assert rows(live.run_folder, statuses) == [("done", 1), ("interrupted", 1), ("pending", 2)]
    status, said = live.run("resume")
    assert status == 0, said
    assert rows(live.run_folder, statuses) == [("done", 4), ("interrupted", 1)]
    summary = summarise(live.run_folder)
    assert [(len(condition.counted), condition.lost) for condition in summary.conditions] == [(2, 0), (2, 0)]


def test_a_killed_run_has_a_report_of_its_blocks_and_gets_one_of_all_that_is_stored(
    live: Live, experiment: Experiment
) -> None:
    run = live.start("run", experiment(repeat=3, duration="1s"))
    live.await_step("stored", 3)
    live.await_step("prepared", 4)
    run.kill()
    said, _ = run.communicate(timeout=60)
    assert "so far, 1 of 3 blocks" in said
    live.await_no_process()
    report = live.run_folder / "report.html"
    known = r"trials, as of [-\d]+ [:\d]+ UTC"
    assert re.search(rf"So far: 2 of 6 {known}, while the run went on", report.read_text())
    status, said = live.run("report", str(live.run_folder))
    assert status == 0, said
    assert "So far: 3 of 6 trials." in said
    assert re.search(rf"So far: 3 of 6 {known}\. The run was stopped", report.read_text())


def test_a_second_writer_of_a_running_run_is_refused_with_its_process_until_that_is_killed(
    live: Live, experiment: Experiment
) -> None:
    run = live.start("run", experiment(repeat=1))
    live.await_step("prepared")
    run.send_signal(signal.SIGSTOP)  # So that it is still there, however long the verbs take to start.
    for verb in ("resume", "report"):
        status, said = live.run(verb, str(live.run_folder))
        assert status == 2, said
        assert f"process {run.pid} (-c run live.yaml) writes it" in said
    run.kill()
    run.communicate(timeout=60)
    live.await_no_process()
    status, said = live.run("resume")
    assert status == 0, said
    statuses = "SELECT status, count(*) FROM TRIALS GROUP BY 1 ORDER BY 1"
    assert rows(live.run_folder, statuses) == [("done", 2), ("interrupted", 1)]


def test_resume_refuses_another_experiment_and_another_machine(live: Live, experiment: Experiment) -> None:
    assert live.run("run", experiment(repeat=1))[0] == 0
    folder = live.run_folder
    text = (folder / "experiment.yaml").read_text()
    (folder / "experiment.yaml").write_text(text.replace("100Mbit/s", "50Mbit/s"))
    status, said = live.run("resume")
    assert status == 2
    assert "topology" in said
    (folder / "experiment.yaml").write_text(text)
    provenance = json.loads((folder / "provenance.json").read_text())
    provenance["before"]["kernel"] = "2.6.32"
    (folder / "provenance.json").write_text(json.dumps(provenance))
    status, said = live.run("resume", str(folder))
    assert status == 7
    assert "kernel was 2.6.32" in said


def test_a_missing_binary_stops_the_run_before_it_starts(live: Live, experiment: Experiment) -> None:
    Path(live.env["CROSSWIND_LOAD"]).unlink()
    status, said = live.run("run", experiment())
    assert status == 3, said
    assert "CROSSWIND_LOAD" in said
    assert not live.results.exists()


@pytest.mark.skipif(
    os.geteuid() != 0 or not shutil.which("unshare"), reason="needs root to mount a small disk"
)
def test_a_full_disk_ends_the_run_and_keeps_what_was_stored(live: Live, experiment: Experiment) -> None:
    small, kept = live.folder / "small", live.folder / "kept"
    small.mkdir()
    experiment(repeat=40, duration="500ms")
    script = (
        f'mount -t tmpfs -o size=900k tmpfs {small}; "$@"; status=$?; cp -a {small}/. {kept}; exit $status'
    )
    prefix = ("unshare", "--mount", "sh", "-c", script, "sh")
    status, said = live.run("run", "live.yaml", "--results", str(small), "--json", prefix=prefix)
    assert "no room left" in said, said
    assert status == 4, said
    folder = next(kept.glob("live/2*"))
    found = rows(folder, "SELECT trial FROM TRIALS WHERE status = 'done'")
    assert found
    for (trial,) in found:
        assert rows(folder, f"SELECT count(*) > 0 FROM '{folder}/samples/{trial}.parquet'") == [(True,)]


def test_a_run_needs_no_root(live: Live, experiment: Experiment, as_nobody: tuple[str, ...]) -> None:
    experiment(repeat=1)
    status, said = live.run("run", "live.yaml", prefix=as_nobody)
    if status == 3:
        pytest.skip(said)
    assert status == 0, said
    provenance = json.loads((live.run_folder / "provenance.json").read_text())
    assert provenance["before"]["rootless"] is True
