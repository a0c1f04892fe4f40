"""Histories in the first answers and as pictures."""

from __future__ import annotations

import re

from crosswind.analysis.histories import TrialHistory, counterexamples, data_answer
from crosswind.report.history_picture import draw
from crosswind.results.measurement import CheckedHistory, ShownOperation, WrongKey

WRONG = WrongKey(
    key=4,
    why="process 2 read 1; the register can only have held 7 then",
    operations=[
        ShownOperation(process=0, words="write 7", began_ns=10**9, ended_ns=2 * 10**9),
        ShownOperation(process=5, words="write 8", began_ns=15 * 10**8),
        ShownOperation(process=2, words="read 1 <&>", began_ns=3 * 10**9, ended_ns=4 * 10**9, is_wrong=True),
    ],
)


def trial(name: str, condition: str, verdict: str) -> TrialHistory:
    wrong = verdict == "violation"
    checked = CheckedHistory.model_validate(
        {
            "workload": "register",
            "verdict": verdict,
            "keys": 5,
            "confirmed": 100,
            "refused": 1,
            "unknown": 2,
            "wrong_keys": [4] if wrong else [],
            "undecided_keys": [1] if verdict == "unknown" else [],
            "undecided_because": "the time for the check was over" if verdict == "unknown" else None,
            "shown": [WRONG] if wrong else [],
        }
    )
    return TrialHistory(name, condition, checked)


def test_the_answer_is_yes_only_where_every_trial_is_right() -> None:
    right, unknown, wrong = (trial(v, f"c-{v}", v) for v in ("ok", "unknown", "violation"))
    assert data_answer([]) is None
    yes = data_answer([right, right])
    assert yes is not None
    assert (yes.verdict, yes.short) == ("ok", "Yes, in 2 trials")
    perhaps = data_answer([right, unknown])
    assert perhaps is not None
    assert (perhaps.verdict, perhaps.short) == ("unknown", "Unknown in 1 of 2 trials")
    assert perhaps.text.endswith("In unknown: the time for the check was over.")
    no = data_answer([right, unknown, wrong])
    assert no is not None
    assert (no.verdict, no.short) == ("violation", "No: wrong in 1 of 3 trials")
    assert no.text == f"Wrong under c-violation. In violation, key 4: {WRONG.why}."


def test_of_each_condition_the_report_shows_keys_of_as_many_trials_as_there_are() -> None:
    found = counterexamples([trial(f"{c}{n}", c, "violation") for c in "ab" for n in range(6)])
    assert [one.trial for one, _ in found] == [f"{c}{n}" for c in "ab" for n in range(4)]


def test_a_counterexample_is_drawn_with_a_row_for_each_process_and_the_wrong_one_marked() -> None:
    picture = str(draw(WRONG))
    assert re.findall(r">process (\d+)<", picture) == ["0", "5", "2"]
    bars = re.findall(r'<rect class="(\w+)" x="([\d.]+)" y="[\d.]+" width="([\d.]+)"', picture)
    assert [kind for kind, *_ in bars] == ["known", "unknown", "wrong"]
    known, unknown, wrong = ((float(x), float(x) + float(width)) for _, x, width in bars)
    # The unknown write begins within the first, ends nowhere, and so overlaps with the read.
    assert known[0] < unknown[0] < known[1] < wrong[0] < wrong[1] < unknown[1]
    assert ">write 8?<" in picture
    # Values are text, not markup.
    assert "read 1 &lt;&amp;&gt;" in picture
