"""What a terminal and a log show of a run, from events that are made up: no trial runs."""

import io
from collections.abc import Iterator

import pytest
from rich.console import Console

from crosswind.report import terminal
from crosswind.report.lines import Lines
from crosswind.report.live import LiveTable
from crosswind.report.trial_text import left
from crosswind.stream import (
    ConditionSoFar,
    Event,
    FigureOfTrial,
    Note,
    RunBegun,
    SoFar,
    Stream,
    TrialBegun,
    TrialEnded,
    TrialReached,
)

CONDITIONS = ("study/plain", "study/[slow]")


def begun(blocks: int) -> RunBegun:
    return RunBegun(
        name="made",
        summary="",
        folder="/results/made",
        application="rpc",
        conditions=CONDITIONS,
        baseline=CONDITIONS[0],
        trials=2 * blocks,
        ended=0,
    )


def run_of(blocks: int, failed: tuple[int, ...] = ()) -> Iterator[Event]:
    """Return the events of a run of two conditions, of 1 ms and 2 ms; trials of these numbers fail."""
    yield begun(blocks)
    done = dict.fromkeys(CONDITIONS, 0)
    for number in range(2 * blocks):
        condition, trial = CONDITIONS[number % 2], f"t{number}"
        yield TrialBegun(
            trial=trial,
            attempt=1,
            condition=condition,
            block=number // 2,
            ended=number,
            trials=2 * blocks,
            left_s=10.0 * (2 * blocks - number),
        )
        for step in ("up", "prepared", "measured"):
            yield TrialReached(trial=trial, step=step)
        works = number not in failed
        done[condition] += works
        value = 1e6 * (1 + number % 2)
        yield TrialEnded(
            trial=trial,
            attempt=1,
            condition=condition,
            block=number // 2,
            status="done" if works else "failed",
            reason=None if works else "no answer",
            fidelity="faithful" if works else None,
            fidelity_reason=None,
            duration_s=10.0,
            figures=(FigureOfTrial(name="P99", value=value, unit="ns"),) if works else (),
        )
        yield so_far((number + 1) // 2, blocks, done)


def so_far(complete: int, blocks: int, done: dict[str, int]) -> SoFar:
    return SoFar(
        figure="P99",
        unit="ns",
        better="lower",
        confidence=0.95,
        blocks=complete,
        blocks_planned=blocks,
        conditions=tuple(
            ConditionSoFar(
                condition=name,
                trials=done[name],
                value=value if done[name] else None,
                low=value * 0.9 if done[name] >= 6 else None,
                high=value * 1.1 if done[name] >= 6 else None,
                needed=max(0, 6 - done[name]),
                settled=done[name] == blocks,
            )
            for name, value in zip(CONDITIONS, (1e6, 2e6), strict=True)
        ),
    )


def lines_of(events: Iterator[Event]) -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    view = Lines(console)
    for event in events:
        view.show(event)
    view.close()
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_log_has_a_line_per_trial_and_a_table_after_the_first_block() -> None:
    lines = lines_of(run_of(3))
    assert lines[:2] == [
        "1/6  study/plain: P99 1.00 ms, faithful; 50 s left",
        "2/6  study/[slow]: P99 2.00 ms, faithful; 40 s left",
    ]
    assert lines[2] == "so far, 1 of 3 blocks; an interval needs 6 trials:"
    assert " ".join(lines[3].split()) == "condition P99 ms vs baseline trials"
    assert " ".join(lines[5].split()) == "plain 1.00 baseline 1"
    assert " ".join(lines[6].split()) == "[slow] 2.00 2.00 \u00d7 higher 1"
    assert lines[-1] == "6/6  study/[slow]: P99 2.00 ms, faithful"


def test_a_log_of_many_blocks_has_few_tables_and_none_after_the_last_block() -> None:
    lines = lines_of(run_of(16))
    headers = [line for line in lines if line.startswith("so far")]
    few = "; an interval needs 6 trials"
    assert headers == [
        f"so far, {blocks} of 16 blocks{few if blocks < 6 else ''}:" for blocks in (1, 2, 4, 8)
    ]
    after = lines[lines.index("so far, 8 of 16 blocks:") :]
    assert " ".join(after[1].split()) == "condition P99 ms 95 % interval vs baseline trials"
    assert " ".join(after[3].split()) == "plain 1.00 0.900 - 1.10 baseline 8"


def test_a_log_has_no_table_where_nothing_is_known() -> None:
    assert not any("so far" in line for line in lines_of(run_of(3, failed=tuple(range(6)))))


def test_a_note_and_a_reason_are_lines_of_a_log_whatever_brackets_they_have() -> None:
    assert lines_of(iter([Note(text="note: [bold] is a word")])) == ["note: [bold] is a word"]
    assert "3/6  study/plain: failed: no answer; 30 s left" in lines_of(run_of(3, failed=(2,)))


class Terminal(Console):
    """A terminal whose pictures can be read."""

    def __init__(self, height: int = 24) -> None:
        super().__init__(
            file=io.StringIO(), width=90, height=height, force_terminal=True, color_system=None, _environ={}
        )

    def text(self) -> str:
        assert isinstance(self.file, io.StringIO)
        return self.file.getvalue()


def picture(view: LiveTable) -> list[str]:
    console = Console(file=io.StringIO(), width=90, color_system=None)
    console.print(view.drawn())
    assert isinstance(console.file, io.StringIO)
    return [line.rstrip() for line in console.file.getvalue().splitlines()]


def test_a_terminal_shows_what_is_known_and_the_trial_that_runs() -> None:
    view = LiveTable(Terminal())
    pictures = {}
    for event in run_of(3, failed=(3,)):
        view.show(event)
        if isinstance(event, TrialReached) and event.step == "prepared":
            pictures[event.trial] = picture(view)
    view.close()
    assert pictures["t0"] == ["trial 1 of 6 | 60 s left | plain measures"]
    last = pictures["t5"]
    assert last[0] == ""
    assert " ".join(last[3].split()) == "plain 1.00 baseline 3"
    assert " ".join(last[4].split()) == "[slow] 2.00 2.00 \u00d7 higher 1, 1 failed"
    assert (
        last[-1] == "2 of 3 blocks | an interval needs 6 trials | trial 6 of 6 | 10 s left | [slow] measures"
    )


def test_a_terminal_keeps_notes_and_reasons_above_the_table() -> None:
    console = Terminal()
    view = LiveTable(console)
    for event in (*run_of(3, failed=(3,)), Note(text="the last note")):
        view.show(event)
    view.close()
    assert "t3: failed: no answer" in console.text()
    assert "the last note" in console.text()
    assert "t2: " not in console.text()


def test_a_terminal_with_few_lines_counts_the_conditions_that_it_does_not_show() -> None:
    view = LiveTable(Terminal(height=10))
    many = so_far(0, 1, dict.fromkeys(CONDITIONS, 0))
    view.show(many.model_copy(update={"conditions": many.conditions * 4}))
    view.close()
    assert "and 5 more conditions" in picture(view)


def test_no_line_is_lost_at_the_end_nor_when_the_run_raises(capsys: pytest.CaptureFixture[str]) -> None:
    stream = Stream[Event]()

    def run() -> None:
        with terminal.shown(stream):
            for number in range(300):
                stream.publish(Note(text=f"note {number}"))
            raise KeyError

    with pytest.raises(KeyError):
        run()
    assert capsys.readouterr().err.splitlines() == [f"note {number}" for number in range(300)]
    assert not stream.wants(Note)


@pytest.mark.parametrize(
    ("seconds", "said"), [(0.2, "1 s left"), (80, "80 s left"), (150, "2 min left"), (7200, "2.0 h left")]
)
def test_time_left_is_said_as_people_say_it(seconds: float, said: str) -> None:
    assert left(seconds) == said


def test_terminal_and_log_say_how_slow_time_is() -> None:
    for view in (Lines, LiveTable):
        console = Console(file=io.StringIO(), width=100, force_terminal=view is LiveTable, highlight=False)
        shown = view(console)
        shown.show(begun(2).model_copy(update={"dilations": (10,)}))
        shown.close()
        assert isinstance(console.file, io.StringIO)
        assert "time: 10 times slower; perceived time is shown" in console.file.getvalue()
