"""Published figures beside those of a run: by command, in JSON and on the page."""

import json
import shutil
from pathlib import Path

import pytest

from crosswind.analysis.published import PublishedComparison, published_figures
from crosswind.analysis.summarise import summarise
from crosswind.cli._main import run
from crosswind.report import write_report
from crosswind.results.reading import Results
from crosswind.spec.published import resolved_published
from crosswind.spec.resolved import ResolvedPublished
from crosswind.stats import Interval, NeedsTrials
from synthetic import BASE, CONDITIONS, write_folder

SWITCH = "icpe23/token-bucket-on-switch"


def with_published(folder: Path, published: ResolvedPublished) -> Path:
    file = folder / "resolved.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | {"published": published.as_json()}))
    return folder


@pytest.fixture(scope="module")
def reproduced(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three set-ups of seven trials each, whose experiment names what the study published of workload B."""
    folder = write_folder(
        tmp_path_factory.mktemp("published") / "run", operations=400, blocks=7, conditions=3
    )
    return with_published(folder, resolved_published("icpe23-ycsb-b", list(CONDITIONS)[:3]))


def rows_of(folder: Path) -> dict[tuple[str, str, str], PublishedComparison]:
    results = Results(folder)
    figures = published_figures(summarise(results), results)
    assert figures is not None
    return {(row.metric, row.statistic, row.condition): row for row in figures.rows}


def test_every_operation_and_quantile_has_a_row_in_every_set_up(reproduced: Path) -> None:
    rows = rows_of(reproduced)
    assert len(rows) == 2 * 3 * 3
    switch = rows["latency.read", "p99", SWITCH]
    assert switch.published == 205_695_000
    assert switch.figure == "latency.read P99"
    # Table 5: 205 695 us with the bucket on the switch and 360 us without interference.
    assert switch.published_times == pytest.approx(205_695 / 360)
    assert isinstance(switch.here, Interval)
    assert switch.here.estimate > 190e6
    assert switch.direction == "same"
    base = rows["latency.read", "p99", BASE]
    assert base.published_times is None
    assert base.here_times is None


def test_a_difference_that_is_not_shown_here_has_no_direction(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=300, blocks=3, conditions=3)
    row = rows_of(with_published(folder, resolved_published("icpe23-ycsb-b", list(CONDITIONS))))[
        "latency.read", "p95", SWITCH
    ]
    assert isinstance(row.here, NeedsTrials)
    assert row.direction == "unknown"


def test_what_was_not_measured_here_or_in_another_unit_is_said(tmp_path: Path, capsys) -> None:
    folder = write_folder(tmp_path / "run", operations=300, blocks=1, conditions=1)
    figure = {"condition": BASE, "statistic": "p99", "value": 5.0}
    with_published(
        folder,
        ResolvedPublished.model_validate(
            {
                "source": "a study",
                "figures": [
                    figure | {"metric": "latency.scan", "unit": "ns"},
                    figure | {"metric": "latency", "unit": "1"},
                ],
            }
        ),
    )
    assert [row.here for row in rows_of(folder).values()] == [None, None]
    assert run(["report", str(folder), "--published"]) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "latency.scan P99 (no counted trial has it)" in text
    assert "latency P99 (published in 1, measured in ns: write its unit under `published`)" in text


def test_the_command_prints_them_beside_the_run_and_writes_nothing(reproduced: Path, capsys) -> None:
    assert run(["report", str(reproduced), "--published"]) == 0
    text = capsys.readouterr().out
    assert "Published and measured  Hasenoot et al., ICPE '23, Table 5" in text
    assert "latency.read P99" in text
    assert "token-bucket-on-switch" in text
    assert "as published" in text
    assert not (reproduced / "report.html").exists()


def test_json_has_them_and_the_page_has_a_section(reproduced: Path, tmp_path: Path, capsys) -> None:
    assert run(["report", str(reproduced), "--json"]) == 0
    rows = json.loads(capsys.readouterr().out)["published"]["rows"]
    assert len(rows) == 18
    assert {row["direction"] for row in rows} <= {"same", "other", "unknown"}
    copy = shutil.copytree(reproduced, tmp_path / "run")
    page = write_report(copy).read_text()
    assert 'id="published-title"' in page
    assert "205.7" in page or "206" in page


def test_a_run_without_published_figures_says_where_to_name_them(tmp_path: Path, capsys) -> None:
    folder = write_folder(tmp_path / "run", operations=100, blocks=1, conditions=1)
    assert run(["report", str(folder), "--published"]) == 2
    assert "names no published figures; add them as `published:`" in capsys.readouterr().err
    assert 'id="published-title"' not in write_report(folder).read_text()
    assert run(["report", str(folder), "--published", "--json"]) == 2
