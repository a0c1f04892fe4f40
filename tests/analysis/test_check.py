import re
import xml.etree.ElementTree as ElementTree

import pytest

from crosswind.analysis import check_text
from crosswind.analysis.check import check
from crosswind.analysis.comparable import NotComparable
from crosswind.cli._main import run
from crosswind.errors import Exit


@pytest.mark.parametrize(
    ("scales", "outcomes", "status"),
    [
        ((9, 18), ["pass", "pass"], Exit.DONE),
        ((9, 24), ["pass", "regression"], Exit.REGRESSION),
        ((9, 21), ["pass", "undecided"], Exit.UNDECIDED),
        ((10.5, 24), ["undecided", "regression"], Exit.REGRESSION),
    ],
)
def test_slowdowns_pass_regress_or_ask_for_more_trials(base, write_run, scales, outcomes, status):
    other = write_run("run", {"none": (3, scales[0], 8), "slow": (4, scales[1], 8)})
    found = check(other, base, 0.05)
    assert [checked.outcome for checked in found.checked] == outcomes
    assert found.exit == status
    assert all((checked.more_trials != 0) == (checked.outcome == "undecided") for checked in found.checked)


def test_where_more_is_better_less_is_slower(write_run):
    runs = {
        name: write_run(name, {"none": (seed, scale, 8)}, better="higher")
        for name, seed, scale in (("was", 1, 10), ("is", 2, 8))
    }
    (checked,) = check(runs["is"], runs["was"], 0.05).checked
    assert checked.outcome == "regression"
    assert checked.slowdown[1] == pytest.approx(10 / 8, rel=0.1)


def test_a_slowdown_is_said_as_people_say_it(base, write_run):
    other = write_run("run", {"none": (3, 0.5, 8), "slow": (4, 25, 8)})
    said = check_text.lines(check(other, base, 0.05))
    faster, slower, _ = (line.replace("\u00a0", " ").replace("\u00d7", "x") for line in said)
    assert re.search(r"was 10\.\d s: (19|20|21)\.\d x faster \([\d.]+ - [\d.]+ x\), allowed 5 %$", faster)
    assert re.search(r": 2\d % slower \(\d+ - \d+ %\), allowed 5 %$", slower)


def test_too_few_trials_never_pass(base, write_run, capsys):
    other = write_run("run", {"none": (3, 1, 1), "slow": (4, 1, 1)})
    found = check(other, base, 0.05)
    assert found.exit == Exit.UNDECIDED
    assert check_text.lines(found)[0].endswith("; an interval needs 4 trials a side")
    assert run(["compare", str(base), str(other)]) == 0
    assert "needs 4 trials a side" in capsys.readouterr().out


def test_trials_that_are_no_repetitions_are_refused_with_the_reason(base, write_run, capsys):
    worn = write_run("run", {"none": (3, 9, 12), "slow": (4, 19, 12)}, change=(6, 2))
    found = check(worn, base, 0.05)
    assert [checked.outcome for checked in found.checked] == ["refused", "refused"]
    assert found.exit == Exit.UNDECIDED
    refused, _, answer = check_text.lines(found)
    assert "refused: the level changed after trial 6 of 12" in refused
    assert "remedy: bring the system to the same state" in refused
    assert answer == "Refused: trials under 2 of 2 conditions are not independent."
    skipped = ElementTree.fromstring(check_text.junit(found)).find("testcase/skipped")
    assert "refused: the level changed" in skipped.get("message")
    assert run(["compare", str(base), str(worn)]) == 0
    told = capsys.readouterr().out
    assert "Of 2 numbers: 2 refused." in told
    assert "! refused: job time under none: the level changed after trial 6 of 12" in told


def test_a_condition_that_was_not_run_has_not_passed(base, write_run):
    other = write_run("run", {"none": (3, 9, 8)})
    with pytest.raises(NotComparable, match=r"lacks conditions of .*: slow"):
        check(other, base, 0.05)


def test_trials_that_failed_have_not_passed_however_quick_the_others_are(base, write_run, capsys):
    other = write_run("run", {"none": (3, 9, 9), "slow": (4, 18, 8)}, failed={"none": 1})
    found = check(other, base, 0.05)
    assert [checked.outcome for checked in found.checked] == ["failed", "pass"]
    assert found.exit == Exit.UNDECIDED
    failed, _, answer = check_text.lines(found)
    assert failed.endswith("; failed trials, which are not in these numbers: 1")
    assert answer == "Failed: trials under 1 of 2 conditions failed, so these conditions have not passed."
    assert run(["compare", str(base), str(other)]) == 0
    assert "! trials that failed under none: 0 of base, 1 of other" in capsys.readouterr().out


def test_a_condition_of_which_no_trial_counts_has_not_passed(base, write_run, capsys):
    other = write_run("run", {"none": (3, 9, 8), "slow": (4, 18, 8)}, failed={"slow": 8})
    with pytest.raises(NotComparable, match="no counted trial of slow"):
        check(other, base, 0.05)
    assert run(["compare", str(base), str(other)]) == 0
    assert "! without counted trials in both: slow" in capsys.readouterr().out


def test_junit_readers_see_a_failure_only_where_something_failed(base, write_run):
    other = write_run("run", {"none": (3, 9, 9), "slow": (4, 21, 8)}, failed={"none": 1})
    suite = ElementTree.fromstring(check_text.junit(check(other, base, 0.05)))
    assert {name: suite.get(name) for name in ("tests", "failures", "skipped")} == {
        "tests": "2",
        "failures": "1",
        "skipped": "1",
    }
    assert suite.find("testcase[@name='none']/failure").get("type") == "failed"
    undecided = suite.find("testcase[@name='slow']")
    assert undecided.find("failure") is None
    assert "more trials on each side would decide" in undecided.find("skipped").get("message")


def test_the_verb_writes_junit_and_the_summary_of_the_job(base, write_run, tmp_path, monkeypatch, capsys):
    other = write_run("run", {"none": (3, 9, 8), "slow": (4, 24, 8)})
    monkeypatch.setenv("GITHUB_STEP_SUMMARY", str(tmp_path / "summary.md"))
    arguments = ["check", str(other), "--against", str(base), "--junit", str(tmp_path / "junit.xml")]
    assert run(arguments) == 5
    assert "Regression: 1 of 2 conditions are slower by more than 5 %." in capsys.readouterr().out
    suite = ElementTree.parse(tmp_path / "junit.xml").getroot()
    assert (suite.get("tests"), suite.get("failures")) == ("2", "1")
    assert suite.find("testcase[@name='slow']/failure").get("type") == "regression"
    assert "| REGRESSION | slow |" in (tmp_path / "summary.md").read_text()
