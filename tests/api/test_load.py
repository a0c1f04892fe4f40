"""`crosswind.load`: results as tables for SQL, and as answers."""

from datetime import datetime
from pathlib import Path

import duckdb
import pytest

import crosswind
from crosswind.analysis.summarise import summarise
from crosswind.results import Journal
from crosswind.results.monitors import TABLES
from crosswind.results.reading import NotAResultsFolder, Results
from crosswind.results.rows import TrialRow
from surfaces import write_surface
from synthetic import write_folder


@pytest.fixture
def run(folder: Path) -> crosswind.LoadedRun:
    return crosswind.load(folder)


def test_trials_and_metrics_are_what_the_reader_has(run: crosswind.LoadedRun, folder: Path) -> None:
    reader = Results(folder)
    stored = run.trials.order("position").project("trial, status").fetchall()
    assert stored == [(row.trial, row.status) for row in reader.trials]
    assert len(run.metrics.fetchall()) == sum(len(rows) for rows in reader.metrics.values())


def test_instants_are_in_utc_and_need_no_further_package(run: crosswind.LoadedRun) -> None:
    ((first,),) = run.trials.aggregate("min(started)").fetchall()
    assert first == datetime(2026, 11, 20, 9, 30)


def test_operations_are_those_of_all_trials_or_of_one(run: crosswind.LoadedRun, folder: Path) -> None:
    counts = dict(run.operations().aggregate("trial, count(*)").fetchall())
    assert set(counts) == {path.stem for path in (folder / "samples").iterdir()}
    assert set(counts.values()) == {300}
    one = next(iter(counts))
    assert run.operations(one).project("trial").distinct().fetchall() == [(one,)]


def test_an_unknown_trial_is_refused_and_a_trial_without_samples_has_no_rows(tmp_path: Path) -> None:
    run = crosswind.load(write_folder(tmp_path / "run", operations=50, blocks=2))
    with pytest.raises(crosswind.CrosswindError, match='has no trial "b99"'):
        run.operations("b99")
    ((failed,),) = run.trials.filter("status = 'failed'").project("trial").fetchall()
    assert run.operations(failed).fetchall() == []
    assert run.operations(failed).columns == run.operations().columns


@pytest.mark.parametrize("table", sorted(TABLES))
def test_every_table_of_monitors_has_the_trial_and_its_columns_even_when_it_is_empty(
    run: crosswind.LoadedRun, table: str
) -> None:
    rows = getattr(run.monitors, table)()
    assert rows.columns == ["trial", *TABLES[table]]
    assert {trial for trial, *_ in rows.fetchall()} <= {row.trial for row in Results(run.folder).trials}


def test_tables_of_one_run_can_be_joined(run: crosswind.LoadedRun) -> None:
    drops = run.monitors.drops().set_alias("drops")
    joined = drops.join(run.trials.set_alias("trials"), "trial").aggregate("condition, count(*)")
    counted = dict(joined.fetchall())
    assert sum(counted.values()) == len(run.monitors.drops())
    assert set(counted) <= {condition.name for condition in run.summary.conditions}


def test_the_journal_is_read_and_never_written(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=50, blocks=1, conditions=1)
    assert crosswind.load(folder).journal.fetchall() == []
    assert not (folder / "journal.sqlite").exists()
    row = TrialRow("b00-p00-x", 0, 0, "x", "rpc", "pending", None, None, None, None, None, 0, 1)
    with Journal(folder / "journal.sqlite") as journal:
        journal.plan([row])
        # Read while a run has it open.
        ((at, trial, attempt, step, detail),) = crosswind.load(folder).journal.fetchall()
    assert (trial, attempt, step) == ("b00-p00-x", 0, "planned")
    assert isinstance(at, datetime)
    assert '"condition": "x"' in detail


def test_answers_are_those_of_the_report(run: crosswind.LoadedRun, folder: Path) -> None:
    found, expected = run.summary, summarise(folder)
    assert [each.estimates for each in found.conditions] == [each.estimates for each in expected.conditions]
    assert run.profile is None
    assert run.resolved.name == "icpe23-ycsb-b"


def test_a_run_with_factors_has_a_profile(tmp_path: Path) -> None:
    profile = crosswind.load(write_surface(tmp_path / "run", blocks=3, monitors=False)).profile
    assert profile is not None
    assert [axis.name for axis in profile.axes] == ["bandwidth", "delay"]


def test_a_folder_without_results_is_refused(tmp_path: Path) -> None:
    with pytest.raises(NotAResultsFolder, match=r"no trials\.parquet in it"):
        crosswind.load(tmp_path)


def test_the_latest_run_of_an_experiment_is_loaded(tmp_path: Path, folder: Path) -> None:
    (tmp_path / "latest").symlink_to(folder)
    assert crosswind.load(tmp_path).folder == tmp_path / "latest"


def test_tables_end_with_the_run(folder: Path) -> None:
    with crosswind.load(folder) as run:
        trials = run.trials
    with pytest.raises(duckdb.Error):
        trials.fetchall()


def test_a_damaged_table_is_named(tmp_path: Path) -> None:
    folder = write_folder(tmp_path / "run", operations=50, blocks=1, conditions=1)
    (folder / "metrics.parquet").write_bytes(b"PAR1")
    with pytest.raises(crosswind.CrosswindError, match=r"metrics\.parquet: is damaged"):
        crosswind.load(folder).metrics.fetchall()


def test_two_runs_are_compared_as_the_verb_does(run: crosswind.LoadedRun, folder: Path) -> None:
    found = crosswind.compare(folder, run)
    assert found.common == ["icpe23/no-interference", "icpe23/interference"]
    assert {each.verdict for each in found.compared} <= {"undecided", "refused"}
    with pytest.raises(NotAResultsFolder):
        crosswind.compare(folder, folder.parent / "nothing")
