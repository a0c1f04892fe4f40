"""The journal: what counts as finished, and what a kill leaves behind."""

import sqlite3
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from crosswind.results import AlreadyEnded, Journal, Metric, TrialRow
from crosswind.results.rows import attempt_name


def row(trial: str, position: int = 0, **changes: object) -> TrialRow:
    pending = TrialRow(
        trial=trial,
        block=0,
        position=position,
        condition="none",
        application="rpc",
        status="pending",
        reason=None,
        fidelity=None,
        fidelity_reason=None,
        started=None,
        duration_s=None,
        attempt=0,
        seed=7,
    )
    return replace(pending, **changes)  # type: ignore[arg-type]


def done(trial: str, attempt: int = 1, **changes: object) -> TrialRow:
    return row(trial, **{"status": "done", "fidelity": "faithful", "attempt": attempt, **changes})


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[Journal]:
    with Journal(tmp_path / "journal.sqlite") as journal:
        yield journal


def test_a_trial_is_finished_only_once_it_is_stored(journal: Journal) -> None:
    journal.plan([row("t0")])
    for step in ("started", "up", "prepared", "measured"):
        journal.write("t0", 1, step)
        assert [found.status for found in journal.rows()] == ["pending"]
    journal.stored("t0", done("t0"), [])
    assert [found.status for found in journal.rows()] == ["done"]


def test_rows_are_in_order_of_position_whatever_the_order_of_running(journal: Journal) -> None:
    journal.plan([row("late", 1), row("early", 0)])
    journal.stored("late", done("late", position=1), [])
    assert [found.trial for found in journal.rows()] == ["early", "late"]


def test_every_attempt_keeps_its_row(journal: Journal) -> None:
    journal.plan([row("t0")])
    journal.stored("t0", done("t0", 1, fidelity="void"), [])
    journal.stored("t0", done("t0-a2", 2), [Metric("client", "operations", "count", "count", 9)])
    assert [(found.trial, found.fidelity) for found in journal.rows()] == [
        ("t0", "void"),
        ("t0-a2", "faithful"),
    ]
    assert journal.metrics() == [("t0-a2", Metric("client", "operations", "count", "count", 9))]


def test_an_attempt_that_never_ended_becomes_an_interrupted_one(journal: Journal) -> None:
    journal.plan([row("t0"), row("t1", 1)])
    journal.write("t0", 1, "started")
    journal.stored("t0", done("t0"), [])
    journal.write("t1", 1, "started")
    journal.write("t1", 1, "measured")
    (interrupted,) = journal.record_interruptions()
    assert (interrupted.trial, interrupted.status, interrupted.attempt) == ("t1", "interrupted", 1)
    assert "interrupted" in str(interrupted.reason)
    assert journal.record_interruptions() == []


def test_a_block_is_planned_whole_or_not_at_all(journal: Journal) -> None:
    def breaks_off() -> Iterator[TrialRow]:
        yield row("t0")
        raise RuntimeError("killed here")

    with pytest.raises(RuntimeError):
        journal.plan(breaks_off())
    assert journal.planned() == []


def test_a_reader_does_not_block_the_writer(journal: Journal, tmp_path: Path) -> None:
    journal.plan([row("t0")])
    reader = sqlite3.connect(tmp_path / "journal.sqlite")
    reader.execute("BEGIN")
    assert reader.execute("SELECT count(*) FROM steps").fetchone() == (1,)
    journal.write("t0", 1, "started")
    reader.close()


def test_a_repeated_attempt_has_a_name_of_its_own() -> None:
    assert [attempt_name("b00-p01-x", attempt) for attempt in (1, 2, 3)] == [
        "b00-p01-x",
        "b00-p01-x-a2",
        "b00-p01-x-a3",
    ]


def test_a_trial_that_counts_is_stored_once(journal: Journal) -> None:
    journal.plan([row("t0")])
    journal.stored("t0", done("t0"), [])
    before = journal.steps()
    with pytest.raises(AlreadyEnded, match="t0 is done already, so t0-a2 cannot become done as well"):
        journal.stored("t0", done("t0-a2", 2), [])
    with pytest.raises(AlreadyEnded, match="t0 is done already, so t0 cannot become failed as well"):
        journal.failed("t0", done("t0", status="failed"))
    assert journal.steps() == before


def test_two_writers_of_one_journal_store_a_trial_once(journal: Journal, tmp_path: Path) -> None:
    journal.plan([row("t0")])
    with Journal(tmp_path / "journal.sqlite") as other:
        other.stored("t0", done("t0"), [])
    with pytest.raises(AlreadyEnded):
        journal.stored("t0", done("t0"), [])
    assert [step.step for step in journal.steps()] == ["planned", "stored"]


def test_an_interrupted_attempt_is_followed_by_one_that_counts(journal: Journal) -> None:
    journal.plan([row("t0")])
    journal.failed("t0", row("t0", status="interrupted", attempt=1))
    journal.stored("t0", done("t0-a2", 2), [])
    assert [step.step for step in journal.steps()] == ["planned", "interrupted", "stored"]
    assert [found.status for found in journal.rows()] == ["interrupted", "done"]
