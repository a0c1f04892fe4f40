"""A pilot says how many trials an experiment will take, or why it cannot tell."""

import json

import pytest

from crosswind.analysis.pilot import predict
from crosswind.analysis.pilot_text import describe_prediction
from crosswind.errors import CrosswindError
from crosswind.spec import Resolved


def experiment(*names, until=None, at_most=10, application="spark"):
    repeat = {"at_least": 6 if until else at_most, "at_most": at_most, "until": until}
    return Resolved.model_validate(
        {
            "application": {"name": application},
            "conditions": [{"name": name} for name in names],
            "trials": {"repeat": repeat, "rest_s": 2.0},
        }
    )


def until(within):
    return {"quantile": 0.5, "within": within, "confidence": 0.95}


def test_the_hungriest_condition_decides_and_the_pilots_trials_say_how_long_it_takes(write_run):
    pilot = write_run("pilot", {"none": (1, 10, 12), "slow": (2, 20, 6)})
    found = predict(experiment("none", "slow", until=until(0.02)), pilot)
    none, slow = found.conditions
    assert (none.pilot, slow.pilot) == (12, 6)
    assert none.trials is not None
    assert slow.trials is not None
    assert found.trials_each == max(none.trials, slow.trials)
    # A trial of the pilot took 1 s, and the experiment rests for 2 s.
    assert found.expected_s == 3 * 2 * found.trials_each
    said = describe_prediction(found)
    assert f"so {found.trials_each} complete blocks: {2 * found.trials_each} trials" in said
    assert "ends at 10 of each: raise `repeat`" in said
    json.dumps(found.as_json())


def test_a_long_pilot_is_asked_exactly_and_a_fixed_number_needs_one_look(write_run):
    # Job times vary by 5 %: their median is within 5 % from some ten trials on, as CONFIRM counts it.
    pilot = write_run("pilot", {"none": (1, 10, 60)})
    fixed = predict(experiment("none"), pilot).conditions[0].trials
    growing = predict(experiment("none", until=until(0.05)), pilot).conditions[0].trials
    assert fixed is not None
    assert 6 <= fixed < 20
    assert growing == fixed + 2, "three looks in a row"


def test_what_is_no_repetition_gives_no_number(write_run):
    pilot = write_run("pilot", {"none": (1, 10, 12)}, change=(6, 3))
    (needed,) = predict(experiment("none"), pilot).conditions
    assert needed.trials is None
    assert "the level changed" in needed.why_not
    assert "rest longer" in needed.why_not
    assert "no prediction: the guard refuses" in describe_prediction(predict(experiment("none"), pilot))


def test_five_trials_are_too_few_to_vary_and_say_what_an_interval_takes(write_run):
    pilot = write_run("pilot", {"none": (1, 10, 5)})
    found = predict(experiment("none"), pilot)
    assert (found.conditions[0].trials, found.conditions[0].only_least) == (6, True)
    said = describe_prediction(found)
    # The experiment runs ten of each in any case.
    assert "at least 6 trials (5 in the pilot)" in said
    assert "so at least 10 complete blocks" in said


def test_a_pilot_of_something_else_is_refused(write_run):
    pilot = write_run("pilot", {"none": (1, 10, 8)})
    with pytest.raises(CrosswindError, match="ran spark, and the experiment runs rpc"):
        predict(experiment("none", application="rpc"), pilot)
    with pytest.raises(CrosswindError, match="none of the conditions lossy; it has none"):
        predict(experiment("lossy"), pilot)
    assert predict(experiment("none", "lossy"), pilot).conditions[1].why_not == "not in the pilot"
