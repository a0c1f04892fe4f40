"""The console of a finished run: what its page gets of a trial is what the folder has, step by step."""

from __future__ import annotations

import http.client
import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from urllib.parse import quote

import numpy as np
import pytest
from faulty import write_faulty

from crosswind.console import Replay
from crosswind.console.replay import _operations
from crosswind.errors import CrosswindError
from crosswind.results.measurement import BucketRow
from crosswind.results.monitors import TABLES
from crosswind.results.query import write_rows
from crosswind.results.reading import Operations, Results
from synthetic import write_folder

MS = 1_000_000


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_folder(tmp_path_factory.mktemp("replay") / "run", operations=500)


@pytest.fixture
def replay(folder: Path) -> Iterator[Replay]:
    with Replay(Results(folder)) as replay:
        yield replay


def ask(replay: Replay, path: str, method: str = "GET") -> tuple[int, Any]:
    address, _, token = replay.url.removeprefix("http://").partition("/#")
    connection = http.client.HTTPConnection(address, timeout=10)
    connection.request(method, path, b"{}", {"Authorization": f"Bearer {token}"})
    answer = connection.getresponse()
    return answer.status, json.loads(answer.read())


def test_all_trials_are_listed_and_those_without_monitors_say_so(replay: Replay, folder: Path) -> None:
    status, page = ask(replay, "/api/page")
    assert (status, page["kind"], page["folder"]) == (200, "replay", "run")
    stored = {path.name.removesuffix(".json") for path in (folder / "monitors").glob("*.json")}
    assert {trial["trial"] for trial in page["trials"] if trial["stored"]} == stored
    (failed,) = [trial for trial in page["trials"] if trial["status"] == "failed"]
    assert not failed["stored"]
    assert "exited with 1" in failed["note"]


def test_a_trial_has_the_rows_of_its_folder(replay: Replay, folder: Path) -> None:
    results = Results(folder)
    for trial in ask(replay, "/api/page")[1]["trials"]:
        status, shown = ask(replay, f"/api/trial?name={quote(trial['trial'])}")
        if not trial["stored"]:
            assert status == 422
            continue
        rows = results.queues(trial["trial"])
        measurement = results.measurement(trial["trial"])
        assert measurement is not None
        assert [row[1] for row in shown["rows"]] == [row.element for row in rows]
        steps = range(-(-measurement.window.length_ns // shown["step_ns"]))
        assert all(row[0] in steps for row in shown["rows"])
        assert [row[3] for row in shown["rows"]] == [row.dropped_packets for row in rows]
        assert len(shown["operations"]["ended"]) == len(steps)


def test_a_trial_has_what_its_buckets_held_and_an_older_folder_has_none(replay: Replay, folder: Path) -> None:
    first, other = [trial["trial"] for trial in ask(replay, "/api/page")[1]["trials"] if trial["stored"]][:2]
    shown = ask(replay, f"/api/trial?name={quote(first)}")[1]
    begin_ns, step_ns, element = shown["started_ns"], shown["step_ns"], "client/host.egress/0:credit"
    assert shown["buckets"] == []
    rows = [BucketRow(begin_ns + step * step_ns, element, bits) for step, bits in ((0, 900), (7, 400))]
    write_rows(folder / "monitors" / f"{first}.credit.parquet", TABLES["credit"], rows)
    shown = ask(replay, f"/api/trial?name={quote(first)}")[1]
    assert shown["buckets"] == [[0, element, 900], [7, element, 400]]
    assert ask(replay, f"/api/trial?name={quote(other)}")[1]["buckets"] == []


def test_a_trial_has_its_faults_of_nodes_and_no_cut_twice(tmp_path: Path) -> None:
    with Replay(Results(write_faulty(tmp_path / "run", blocks=2))) as replay:
        trials = {trial["condition"]: trial["trial"] for trial in ask(replay, "/api/page")[1]["trials"]}
        shown = {name: ask(replay, f"/api/trial?name={quote(trial)}")[1] for name, trial in trials.items()}
    begin_ns = shown["icpe23/interference"]["started_ns"]
    assert shown["icpe23/interference"]["faults"] == []
    found = shown["icpe23/token-bucket-on-switch"]["faults"]
    assert [(fault["words"], round((fault["at_ns"] - begin_ns) / 1e9)) for fault in found] == [
        ("kill db0", 4), ("restart db0", 7), ("pause db0", 12), ("resume db0", 14),
    ]  # fmt: skip


@pytest.mark.parametrize("name", ["", "no-such", "../resolved", "b00-p00-none/../../resolved"])
def test_only_a_trial_of_the_list_is_read(replay: Replay, name: str) -> None:
    assert ask(replay, f"/api/trial?name={quote(name)}")[0] == 422


def test_nothing_can_be_changed(replay: Replay) -> None:
    for path in ("/api/set", "/api/page", "/api/trial"):
        assert ask(replay, path, "POST")[0] == 404


def test_an_operation_counts_in_the_step_in_which_it_ended() -> None:
    # Due at 0, 50, 90 and 210 ms; the third failed, and the last one ended after the window.
    found = Operations(
        node=np.array(["a"] * 4, dtype=object),
        connection=np.zeros(4, dtype=np.int64),
        intended_ns=np.array([0, 50, 90, 210]) * MS,
        started_ns=np.array([0, 60, 90, 210]) * MS,
        finished_ns=np.array([20, 90, 120, 400]) * MS,
        ok=np.array([True, True, False, True]),
    )
    shown = _operations(found, started_ns=0, length_ns=250 * MS, step_ns=100 * MS)
    assert shown is not None
    assert (shown.ended, shown.failed) == ([2, 1, 0], [0, 1, 0])
    assert shown.median_ns == [30 * MS, None, None]
    assert shown.p99_ns == [pytest.approx(39.8 * MS), None, None]
    assert shown.slowest_ns == [40 * MS, None, None]


def test_a_folder_without_its_experiment_has_no_network(folder: Path, tmp_path: Path) -> None:
    for part in ("trials.parquet", "metrics.parquet"):
        (tmp_path / part).write_bytes((folder / part).read_bytes())
    with pytest.raises(CrosswindError, match=r"resolved\.json"):
        Replay(Results(tmp_path))


def test_the_title_of_a_network_says_how_slow_time_was(folder: Path, tmp_path: Path) -> None:
    slow = Path(shutil.copytree(folder, tmp_path / "slow"))
    document = json.loads((slow / "resolved.json").read_text())
    (slow / "resolved.json").write_text(json.dumps(document | {"dilation": 4}))
    with Replay(Results(slow)) as replay:
        title = ask(replay, "/api/page")[1]["network"]["title"]
    assert title.endswith("; time: 4 times slower; perceived time is shown")
