"""One history of a store under faults, for the tests of those that are right and of those that are not."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from bench.histories.cases import Case
from crosswind.app.history import History
from crosswind.results.measurement import CheckedHistory
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from _pytest.mark.structures import ParameterSet
    from conftest import Live


def each(cases: Sequence[Case], quick: Sequence[Case] = ()) -> list[ParameterSet]:
    """Return cases as parameters; all but `quick` take a while."""
    return [
        pytest.param(case, id=case.words, marks=[] if case in quick else [pytest.mark.long]) for case in cases
    ]


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
