"""Which trials a run tries, how often, and when it stops; the trials themselves are played, not run."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from crosswind.errors import CrosswindError, Exit
from crosswind.fingerprint.measure.machines import ANYTHING, Bounds, TooBusy
from crosswind.plan import Trial, selected
from crosswind.results import Journal, MachineFacts, Metric, ResultsFolder, TrialRow
from crosswind.results.folder import Side, fingerprint_file
from crosswind.results.rows import attempt_name
from crosswind.runner import Steering, runs, sitting
from crosswind.runner.attempt import planned_row
from crosswind.runner.growth import unsettled
from crosswind.runner.interruption import Interrupted
from crosswind.runner.outcome import RunOutcome
from crosswind.runner.preflight import Checked
from crosswind.spec.resolved import Resolved, Selection
from crosswind.stream import Event, Note, RunEnded, SoFar, Stream, TrialBegun, TrialEnded
from crosswind.testbed import ThisMachine

TWICE = {"at_least": 2, "at_most": 2}
MEDIAN = {"metric": "latency", "statistic": "p50", "unit": "ns", "label": "P50", "better": "lower"}

# What the attempts of the played trials come to, in the order in which they are made.
Ends = Iterator[str]


class PlayedAttempt:
    """Stands in for `Attempt`: writes the end that the script says, at once."""

    script: Ends

    def __init__(
        self,
        resolved: Any,
        application: Any,
        testbed: Any,
        folder: Any,
        journal: Journal,
        trial: Trial,
        number: int,
        budgets: Any,
        stream: Any,
        steering: Any,
    ) -> None:
        self._journal, self._trial, self._number = journal, trial, number
        self._interrupted = self.is_explored = False
        self._pending = planned_row(trial, resolved)

    def run(self, work: Any, interruption: Any) -> tuple[TrialRow, list[Metric]]:
        end = next(self.script)
        name = attempt_name(self._trial.id, self._number)
        row = replace(self._pending, trial=name, attempt=self._number, started="2026-01-01T00:00:00+00:00")
        self.is_explored = end.startswith("explored-")
        end = end.removeprefix("explored-")
        status, _, reason = end.partition(":")
        if status in ("failed", "interrupted"):
            row = replace(row, status=status, reason=reason or "played")  # type: ignore[arg-type]
            self._interrupted = status == "interrupted"
            self._journal.failed(self._trial.id, row)
            return row, []
        row = replace(row, status="done", fidelity=end)  # type: ignore[arg-type]
        metrics = [Metric("client", "latency", "ns", "p50", 100.0)]
        self._journal.stored(self._trial.id, row, metrics)
        return row, metrics

    def raise_if_it_stops_the_run(self) -> None:
        if self._interrupted:
            raise Interrupted(signal.SIGINT)


def work_folder(*, keep: bool = False) -> AbstractContextManager[None]:
    return nullcontext()


@pytest.fixture
def play(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> Callable[..., tuple[RunOutcome, list[tuple[str, str]]]]:
    """Return a function that runs two conditions by a script; it returns outcome and (trial, end) rows."""
    monkeypatch.setattr(sitting, "Attempt", PlayedAttempt)
    monkeypatch.setattr(sitting, "WorkFolder", work_folder)
    monkeypatch.setattr(runs, "preflight", lambda resolved: Checked(rootless=False))
    monkeypatch.setattr(runs, "application_of", lambda resolved: None)
    monkeypatch.setattr(runs, "machine_now", lambda *_: MachineFacts())
    monkeypatch.setattr(sitting.Sitting, "_prepare", lambda self, work: None)

    def run(
        script: str,
        *,
        repeat: dict[str, Any] | None = None,
        also: dict[str, Any] | None = None,
        bounds: Bounds = ANYTHING,
        keep_going: bool = False,
        only: tuple[str, ...] = (),
        once: bool = False,
        stream: Stream[Event] | None = None,
        report: Callable[[Path], object] = lambda folder: None,
        **limits: Any,
    ) -> tuple[RunOutcome, list[tuple[str, str]]]:
        resolved = {
            "schema": 2,
            "name": "played",
            "topology": {},
            "application": {"name": "rpc", "parameters": {}, "figures": [MEDIAN]},
            "conditions": [{"name": "a"}, {"name": "b"}],
            "trials": {
                "repeat": {"at_least": 1, "at_most": 1, "until": None} | (repeat or {}),
                "order": "sequential",
                "rest_s": 0,
                "seed": 7,
                "limits": {"duration_s": None, "void": "stop", "failed": "continue"} | limits,
            },
        } | (also or {})
        PlayedAttempt.script = iter(script.split())
        outcome = runs.run(
            selected(Resolved.model_validate(resolved), only, once),
            "name: played\n",
            tmp_path,
            tmp_path / "results",
            stream or Stream[Event](),
            bounds,
            report=report,
            keep_going=keep_going,
        )
        with ResultsFolder(outcome.folder).journal() as journal:
            rows = [(row.trial, row.fidelity or row.status) for row in journal.rows()]
        return outcome, rows

    return run


Play = Callable[..., tuple[RunOutcome, list[tuple[str, str]]]]


def test_every_trial_is_tried_once_when_all_goes_well(play: Play) -> None:
    outcome, rows = play("faithful degraded")
    assert outcome.exit is Exit.DONE
    assert rows == [("b00-p00-a", "faithful"), ("b00-p01-b", "degraded")]


def test_what_the_machine_does_beside_is_kept_or_refused(play: Play, tmp_path: Path) -> None:
    outcome, _ = play("faithful faithful")
    before = ResultsFolder(outcome.folder).provenance().before
    assert before is not None
    assert before.state is not None
    assert before.state.memory_bytes > 0
    assert all(rates.received >= 0 for rates in before.state.interfaces_bps.values())
    kept = sorted((tmp_path / "results").rglob("*"))
    with pytest.raises(TooBusy, match=r"memory .* used, above 0% \(--memory-at-most\)"):
        play("faithful faithful", bounds=Bounds(memory_share=0.0))
    assert sorted((tmp_path / "results").rglob("*")) == kept


def test_a_void_trial_is_repeated_before_the_next_and_stays_visible(play: Play) -> None:
    outcome, rows = play("void faithful faithful")
    assert outcome.exit is Exit.DONE
    assert rows == [("b00-p00-a", "void"), ("b00-p00-a-a2", "faithful"), ("b00-p01-b", "faithful")]


def test_a_trial_is_tried_three_times_at_most(play: Play) -> None:
    outcome, rows = play("void void void faithful")
    assert outcome.exit is Exit.TRIALS
    assert [end for _, end in rows] == ["void", "void", "void", "faithful"]
    assert play("void void void faithful", void="accept")[0].exit is Exit.DONE


def test_an_attempt_that_a_hand_explored_is_made_again_and_is_no_try(play: Play) -> None:
    ways = "explored-void explored-failed " * 3
    outcome, rows = play(f"{ways} void {ways} void faithful faithful")
    assert outcome.exit is Exit.DONE
    assert [end for _, end in rows] == [
        *["void", "failed"] * 3, "void", *["void", "failed"] * 3, "void", "faithful", "faithful",
    ]  # fmt: skip
    assert [end for _, end in play("explored-void void explored-failed void void faithful")[1]][-2:] == [
        "void",
        "faithful",
    ]


def test_a_hand_stops_no_run(play: Play) -> None:
    explored = "explored-failed:x explored-failed:x"
    assert play(f"{explored} faithful {explored} faithful", failed="stop")[0].exit is Exit.DONE
    # Nor does it save one: what failed without it is not tried again.
    assert play("failed explored-void faithful")[1][0] == ("b00-p00-a", "failed")


def test_a_failed_trial_is_not_repeated_and_the_run_goes_on(play: Play) -> None:
    outcome, rows = play("failed faithful")
    assert outcome.exit is Exit.TRIALS
    assert rows == [("b00-p00-a", "failed"), ("b00-p01-b", "faithful")]


def test_failed_stop_leaves_the_rest_pending(play: Play) -> None:
    outcome, rows = play("failed", failed="stop")
    assert outcome.exit is Exit.TRIALS
    assert rows == [("b00-p00-a", "failed"), ("b00-p01-b", "pending")]


def test_a_run_stops_when_its_whole_first_block_fails_for_one_reason(play: Play) -> None:
    outcome, rows = play("failed:port_4711_is_taken failed:port_4712_is_taken", repeat=TWICE)
    assert outcome.exit is Exit.TRIALS
    assert [end for _, end in rows] == ["failed", "failed", "pending", "pending"]
    stopped, failed, pending = outcome.remarks
    assert "all 2 trials of the first block failed for the same reason" in stopped
    assert "--keep-going" in stopped
    assert failed == "2 trials failed: b00-p00-a: port_4711_is_taken"
    assert pending.startswith("2 trials pending; continue with: crosswind resume")


def test_a_run_goes_on_where_the_first_block_fails_for_several_reasons_or_in_part(play: Play) -> None:
    assert [end for _, end in play("failed:x failed:y faithful faithful", repeat=TWICE)[1]][2:] == [
        "faithful",
        "faithful",
    ]
    assert [end for _, end in play("failed faithful failed failed", repeat=TWICE)[1]][2:] == [
        "failed",
        "failed",
    ]


def test_keep_going_runs_what_is_bound_to_fail(play: Play) -> None:
    _, rows = play("failed failed failed faithful", repeat=TWICE, keep_going=True)
    assert [end for _, end in rows] == ["failed", "failed", "failed", "faithful"]


def test_one_failed_trial_alone_stops_no_run(play: Play) -> None:
    alone = {"conditions": [{"name": "a"}]}
    thrice = {"at_least": 3, "at_most": 3}
    assert [end for _, end in play("failed faithful faithful", repeat=thrice, also=alone)[1]] == [
        "failed",
        "faithful",
        "faithful",
    ]
    outcome, rows = play("failed failed", repeat=thrice, also=alone)
    assert [end for _, end in rows] == ["failed", "failed", "pending"]
    assert "all 2 first trials failed for the same reason" in outcome.remarks[0]


def test_nothing_is_stopped_where_nothing_is_left(play: Play) -> None:
    assert not any("same reason" in remark for remark in play("failed failed")[0].remarks)


def test_once_runs_each_condition_once_and_only_runs_what_it_names(play: Play) -> None:
    assert [name for name, _ in play("faithful " * 2, repeat=TWICE, once=True)[1]] == [
        "b00-p00-a",
        "b00-p01-b",
    ]
    outcome, rows = play("faithful " * 2, repeat=TWICE, only=("b",))
    assert [name for name, _ in rows] == ["b00-p00-b", "b01-p01-b"]
    assert ResultsFolder(outcome.folder).resolved().selection == Selection(only=["b"], once=False)
    with pytest.raises(CrosswindError, match='no condition "c"; it has a, b'):
        play("", only=("c",))


def test_an_interrupted_trial_is_pending_and_no_failure(play: Play) -> None:
    outcome, rows = play("faithful interrupted")
    assert rows == [("b00-p00-a", "faithful"), ("b00-p01-b", "interrupted")]
    assert outcome.remarks == [
        "interrupted by SIGINT",
        f"1 trial pending; continue with: crosswind resume {outcome.folder}",
    ]
    assert outcome.stopped


def test_a_run_that_goes_on_writes_its_old_report_anew_before_its_first_trial(play: Play) -> None:
    outcome, _ = play("faithful interrupted")
    folder = ResultsFolder(outcome.folder)
    ended: list[int] = []

    def report(path: Path) -> None:
        with ResultsFolder(path).journal() as journal:
            ended.append(sum(row.status == "done" for row in journal.rows()))

    PlayedAttempt.script = iter(["faithful"])
    (folder.path / "report.html").touch()
    with folder.journal() as journal:
        resolved, stream = folder.resolved(), Stream[Event]()
        again = sitting.Sitting(
            resolved,
            Any,
            ThisMachine(),
            folder,
            journal,
            stream,
            Steering(stream),
            report=report,
            keep_going=False,
        )
        assert not again.execute().stopped
    assert ended == [1]


def test_blocks_are_added_until_the_intervals_are_narrow(play: Play) -> None:
    until = {"quantile": 0.5, "within": 0.05, "confidence": 0.95}
    # Equal values are as narrow as can be, but a median needs six of them, and the rule three looks in a row.
    outcome, rows = play("faithful " * 20, repeat={"at_least": 2, "at_most": 10, "until": until})
    assert outcome.exit is Exit.DONE
    assert len(rows) == 16


def test_too_few_blocks_for_the_interval_leave_the_run_undecided(play: Play) -> None:
    until = {"quantile": 0.5, "within": 0.05, "confidence": 0.95}
    outcome, rows = play("faithful " * 20, repeat={"at_least": 2, "at_most": 3, "until": until})
    assert outcome.exit is Exit.UNDECIDED
    assert len(rows) == 6
    assert outcome.remarks == [
        f"undecided under {name} after 3 trials: no interval yet, which needs 6 trials that end; "
        "raise `at most`"
        for name in "ab"
    ]


def test_the_network_is_measured_after_the_first_block_and_after_the_last(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    seen: list[str] = []

    def attach(resolved: Any, folder: ResultsFolder, side: Side, stream: Any) -> None:
        fingerprint_file(folder.path, side).touch()
        with folder.journal() as journal:
            seen.append(f"{side} {sum(row.status == 'done' for row in journal.rows())}")

    monkeypatch.setattr(sitting, "attach_fingerprint", attach)
    play("faithful " * 6, repeat={"at_least": 3, "at_most": 3})
    assert seen == ["before 2", "after 6"]
    seen.clear()
    play("faithful faithful")  # With one block, the first fingerprint has no other place.
    assert seen == ["before 0", "after 2"]
    seen.clear()
    play("failed", failed="stop")
    assert seen == ["before 0"]


def test_the_limit_of_time_ends_a_run_between_two_trials(play: Play) -> None:
    outcome, rows = play("faithful faithful", duration_s=0)
    assert outcome.exit is Exit.TRIALS
    assert [end for _, end in rows] == ["pending", "pending"]
    assert "duration 0 s reached" in outcome.remarks[0]


def test_an_adaptive_design_runs_more_points_in_blocks_of_their_own_until_it_has_enough(play: Play) -> None:
    points = [{"name": f"d{level}", "factors": {"delay": level}} for level in range(9)]
    adaptive = {"start": 4, "at_most": 7, "step": 2}
    surface = {
        "factors": {"delay": {"unit": "ns"}},
        "conditions": points,
        "design": {"adaptive": adaptive},
    }
    outcome, rows = play("faithful " * 14, repeat={"at_least": 2, "at_most": 2}, also=surface)
    assert outcome.exit is Exit.DONE
    assert len(rows) == 14
    blocks = [[name.split("-")[2] for name, _ in rows if name.startswith(f"b0{block}")] for block in range(6)]
    # Twice the four points that are spread out, twice two more, twice the last one that is allowed.
    assert [len(block) for block in blocks] == [4, 4, 2, 2, 1, 1]
    assert [sorted(block) for block in blocks[::2]] == [sorted(block) for block in blocks[1::2]]
    assert len({name for block in blocks for name in block}) == 7
    assert play("faithful " * 14, repeat={"at_least": 2, "at_most": 2}, also=surface)[1] == rows


def test_an_interrupted_attempt_does_not_count_against_its_condition(tmp_path: Path) -> None:
    until = {"quantile": 0.5, "within": 0.05, "confidence": 0.95}
    resolved = Resolved.model_validate(
        {
            "application": {"name": "rpc", "figures": [MEDIAN]},
            "conditions": [{"name": "a"}],
            "trials": {"repeat": {"at_least": 6, "at_most": 20, "until": until}},
        }
    )
    looks = {}
    for first in ("interrupted", "failed", None):
        with Journal(tmp_path / f"{first}.sqlite") as journal:
            trials = [planned_row(Trial(f"t{n}", n, n, "a", 7), resolved) for n in range(9)]
            journal.plan(trials)
            if first:
                journal.failed("t0", replace(trials[0], status=first, attempt=1))  # type: ignore[arg-type]
            for row in trials[1:]:
                stored = replace(row, status="done", fidelity="faithful", attempt=1)
                journal.stored(row.trial, stored, [Metric("client", "latency", "ns", "p50", 100.0)])
            looks[first] = trials_counted(resolved, journal, tmp_path)
    assert looks["interrupted"] == looks[None] == 8
    assert looks["failed"] == 9


def trials_counted(resolved: Resolved, journal: Journal, folder: Path) -> int:
    """Return how many trials the stopping rule counts under the only condition."""
    # So that it wants more in any case.
    repeat = resolved.trials.repeat.model_copy(update={"at_least": 20})
    longer = resolved.model_copy(update={"trials": resolved.trials.model_copy(update={"repeat": repeat})})
    return unsettled(longer, journal, folder)["a"].n


def events_of(play: Play, script: str, **options: Any) -> list[Event]:
    stream = Stream[Event]()
    with stream.subscribe() as events:
        play(script, stream=stream, **options)
        stream.end()
        return list(events)


def test_a_run_publishes_what_happens_in_order(play: Play) -> None:
    events = events_of(play, "faithful void failed:broken")
    assert [event.event for event in events] == [
        "run-begun",
        *("trial-begun", "trial-ended", "so-far") * 3,
        "run-ended",
    ]
    begun = [event for event in events if isinstance(event, TrialBegun)]
    assert [(event.trial, event.ended, event.trials) for event in begun] == [
        ("b00-p00-a", 0, 2),
        ("b00-p01-b", 1, 2),
        ("b00-p01-b-a2", 1, 2),
    ]
    ended = [event for event in events if isinstance(event, TrialEnded)]
    assert [(event.trial, event.status, event.reason, event.fidelity) for event in ended] == [
        ("b00-p00-a", "done", None, "faithful"),
        ("b00-p01-b", "done", None, "void"),
        ("b00-p01-b-a2", "failed", "broken", None),
    ]
    assert [(f.name, f.value, f.unit) for f in ended[0].figures] == [("P50", 100.0, "ns")]
    assert isinstance(events[-1], RunEnded)
    assert events[-1].exit == Exit.TRIALS
    assert events[-1].remarks[0] == "1 trial failed: b00-p01-b-a2: broken"
    assert "crosswind resume" in events[-1].remarks[1]


def test_the_figure_of_every_condition_is_known_after_each_trial_and_its_interval_from_six(
    play: Play,
) -> None:
    events = events_of(play, "faithful " * 11 + "failed", repeat={"at_least": 6, "at_most": 6})
    looks = [event for event in events if isinstance(event, SoFar)]
    assert len(looks) == 12
    a, b = looks[0].conditions
    assert (a.condition, a.trials, a.value, a.low, a.needed, a.settled) == ("a", 1, 100.0, None, 5, False)
    assert (b.condition, b.trials, b.value, b.needed) == ("b", 0, None, 6)
    assert [look.blocks for look in looks] == [0, 1, 1, 2, 2, 3, 3, 4, 4, 5, 5, 6]
    assert {look.blocks_planned for look in looks} == {6}
    a, b = looks[-1].conditions
    assert (a.trials, a.value, a.low, a.high, a.needed, a.settled) == (6, 100.0, 100.0, 100.0, 0, True)
    assert (b.trials, b.low, b.needed, b.settled) == (5, None, 1, True)  # Of the failed one, it says nothing.


def test_a_growing_run_says_how_many_more_trials_its_rule_expects(play: Play) -> None:
    until = {"quantile": 0.5, "within": 0.05, "confidence": 0.95}
    events = events_of(play, "faithful " * 20, repeat={"at_least": 2, "at_most": 10, "until": until})
    a = [event.conditions[0] for event in events if isinstance(event, SoFar)]
    # Six equal trials have an interval, and the rule looks three times: eight in all.
    assert [(known.trials, known.needed, known.settled) for known in a[-5::2]] == [
        (6, 2, False),
        (7, 1, False),
        (8, 0, True),
    ]


def test_a_report_is_written_between_blocks_and_its_failure_ends_no_run(play: Play) -> None:
    written: list[int] = []

    def report(folder: Path) -> None:
        with ResultsFolder(folder).journal() as journal:
            written.append(sum(row.status == "done" for row in journal.rows()))
        raise ValueError("no page for this")

    stream = Stream[Event]()
    with stream.subscribe() as events:
        outcome, _ = play("faithful " * 4, repeat=TWICE, stream=stream, report=report)
        stream.end()
        notes = [event.text for event in events if isinstance(event, Note)]
    assert outcome.exit is Exit.DONE
    assert written == [2]
    assert notes == ["report.html not written: ValueError: no page for this"]


def test_reports_are_written_less_often_when_they_take_more_than_a_share_of_the_run(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    written: list[Path] = []
    six = {"at_least": 6, "at_most": 6}
    monkeypatch.setattr(sitting, "REPORTS_SHARE", 0.0)
    play("faithful " * 12, repeat=six, report=written.append)
    assert len(written) == 1
    monkeypatch.setattr(sitting, "REPORTS_SHARE", 1.0)
    play("faithful " * 12, repeat=six, report=written.append)
    assert len(written) == 1 + 5
