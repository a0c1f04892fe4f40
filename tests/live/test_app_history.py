"""Stores that lose data under a partition are found, and stores that are configured well are not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.histories.cases import LOSING, RIGHT, STALE, Case
from crosswind.app.history import History
from crosswind.results.measurement import CheckedHistory
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet
    from conftest import Live


# A start of Cassandra takes most of a minute; `python -m bench.histories cassandra` has its other workloads.
RIGHT_HERE = [case for case in RIGHT if case.store != "cassandra" or case.workload == "register"]


def each(cases: Sequence[Case], quick: Sequence[Case] = ()) -> list[ParameterSet]:
    """Return cases as parameters; all but `quick` take a while."""
    marks = {False: pytest.mark.long, True: ()}
    return [pytest.param(case, id=case.words, marks=marks[case in quick]) for case in cases]


def verdict(live: Live, case: Case) -> CheckedHistory:
    """Run one trial; return what the check of its history found."""
    if missing := History.missing(case.store):
        pytest.skip("; ".join(f"{item.what}; {item.remedy}" for item in missing))
    (live.folder / "history.yaml").write_text(json.dumps(case.experiment()))
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    live.measured("history.yaml", timeout_s=300)
    folder = (live.results / "histories" / "latest").resolve()
    checked = CheckedHistory.model_validate(json.loads(latest(folder, "monitors/*.json"))["load"]["checked"])
    assert_stored(folder, checked)
    return checked


def latest(folder: Path, pattern: str) -> str:
    """Return the text of the latest attempt: on a busy machine the ones before it were void."""
    return max(folder.glob(pattern), key=lambda file: file.stat().st_mtime_ns).read_text()


def assert_stored(folder: Path, checked: CheckedHistory) -> None:
    """Both files are there, have an event each line, and the same numbers."""
    lines, edn = (latest(folder, f"outputs/*.history.{form}").splitlines() for form in ("jsonl", "edn"))
    events = [json.loads(line) for line in lines]
    assert len(edn) == len(events)
    ended = [event["type"] for event in events if event["process"] != "nemesis"]
    assert ended.count("ok") == checked.confirmed
    assert ended.count("fail") == checked.refused
    assert ended.count("info") == checked.unknown
    report = (folder / "report.html").read_text()
    assert ('<svg class="history"' in report) == (checked.verdict == "violation")


@pytest.mark.parametrize("case", each(LOSING, quick=LOSING[:1]))
def test_a_store_that_confirms_before_its_replicas_have_it_loses_writes(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "violation"
    assert found.shown
    assert any(one.is_wrong for one in found.shown[0].operations)
    # About 40 additions a second on each of five keys, for a second and a half at least.
    assert case.workload == "register" or found.elements.lost > 20, found.elements


@pytest.mark.parametrize("case", each(STALE))
def test_a_store_that_answers_before_it_knows_gives_answers_that_cannot_be(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "violation"
    assert "can only have held" in found.shown[0].why


@pytest.mark.parametrize("case", each(RIGHT_HERE))
def test_a_store_that_is_configured_well_is_right_under_the_same_faults(live: Live, case: Case) -> None:
    found = verdict(live, case)
    assert found.verdict == "ok", found.shown or found.undecided_because
    # The faults were felt: some operations have no known outcome.
    assert found.confirmed > 200
    assert found.unknown > 0
