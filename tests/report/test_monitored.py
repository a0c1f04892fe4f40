"""What monitors measured reaches the page: merged over trials, drawn, and in a table."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from crosswind.analysis.monitored import distributions
from crosswind.analysis.summarise import summarise
from crosswind.analysis.summary import ConditionSummary
from crosswind.report import write_report
from crosswind.report.describe import describe
from crosswind.results import Measurement, store_monitors
from crosswind.results.reading import Results
from crosswind.spec import ResolvedCondition
from synthetic import write_folder

MONITOR = "h0/link.up/0:monitor"


def monitored(results: Results, condition: ConditionSummary) -> None:
    """Give each counted trial of a condition a monitor: gaps of 0 and 1,000 ns, and one window of 50 %."""
    for trial in condition.counted:
        path = results.path / "monitors" / f"{trial.row.trial}.json"
        measurement: dict[str, Any] = json.loads(path.read_text())
        gaps = {
            "what": "ipg",
            "unit": "ns",
            "counts": "gaps",
            "count": 4,
            "bins": [[0, 1, 3], [992, 1008, 1]],
        }
        trend = {
            "what": "utilisation",
            "unit": "per-mille",
            "step_ns": 10**6,
            "rows": [[measurement["window"]["started_ns"], 500.0, 500]],
        }
        place = {"element": MONITOR, "place": "link", "of": "h0", "window_ns": 10**6, "started_ns": 0}
        measurement |= {
            "monitors": [{**place, "histograms": [gaps], "counts": {}, "trends": [trend]}],
            "series": {"step_ns": 1, "rows": []},
            "interference": [],
            "capacity": [],
            "drops": {"lost_records": 0, "rows": []},
            "retransmissions": {"lost_records": 0, "rows": []},
            "nodes": [],
        }
        typed = Measurement.model_validate(measurement)
        store_monitors(typed, measurement["load"], trial.row.trial, results.path / "monitors")


@pytest.fixture(scope="module")
def results(tmp_path_factory: pytest.TempPathFactory) -> Results:
    results = Results(write_folder(tmp_path_factory.mktemp("monitored") / "run", operations=500))
    monitored(results, summarise(results).conditions[0])
    return Results(results.path)


def test_histograms_of_trials_are_merged(results: Results) -> None:
    first, second, *_ = summarise(results).conditions
    (ipg,) = distributions(results, first)
    trials = len(first.counted)
    assert trials > 1
    assert ipg.bins == [(0, 1, 3 * trials), (992, 1008, trials)]
    assert [ipg.quantile(q) for q in (0.5, 0.75, 0.76, 1.0)] == [0, 0, 1007, 1007]
    assert ipg.cumulated() == [(0, 0.75), (1007, 1.0)]
    assert distributions(results, second) == []


def test_the_page_has_a_picture_of_each_quantity_and_its_numbers(results: Results) -> None:
    page = write_report(results.path).read_text()
    assert 'id="figure-monitored-ipg"' in page
    assert 'id="figure-course-utilisation-0"' in page
    assert 'id="figure-course-utilisation-1"' not in page
    assert f"<code>{MONITOR}</code>" in page


def test_a_page_without_monitors_says_nothing_of_them(folder: Path) -> None:
    page = write_report(folder).read_text()
    assert "What the monitors measured" not in page


def test_a_monitor_is_told_in_words() -> None:
    monitor = {
        "what": ["ipg", "drops"],
        "window_ns": 10**6,
        "match": {"from": "db0"},
        "start": {"after_ns": 0},
    }
    ((place, text),) = describe(ResolvedCondition(name="x", places={"link": [{"monitor": monitor}]}))
    assert (place, text.replace("\u00a0", " ")) == (
        "link",
        "monitor (ipg, drops; window 1.00 ms; only from db0)",
    )
