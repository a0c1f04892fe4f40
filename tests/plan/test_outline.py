"""A plan says what will happen, how long it takes, and changes nothing."""

import json

import pytest

from crosswind import catalog
from crosswind.plan import outline
from crosswind.plan.text import describe, duration
from crosswind.spec import load_experiment, resolve


def test_the_demonstration_takes_less_than_a_minute_and_the_paper_less_than_five() -> None:
    quick = outline(resolve(load_experiment(catalog.experiment_file("rpc-quick"))))
    paper = outline(resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b"))))
    assert quick.expected_s is not None
    assert quick.expected_s < 60
    assert paper.expected_s is not None
    assert paper.expected_s < 300
    assert (len(quick.trials), len(paper.trials)) == (9, 30)


def test_an_outline_is_plain_json() -> None:
    planned = outline(resolve(load_experiment(catalog.experiment_file("rpc-quick"))))
    assert json.loads(json.dumps(planned.as_dict()))["trials"][0]["block"] == 0


def test_the_text_names_every_condition_what_is_done_and_what_scaling_costs() -> None:
    text = describe(outline(resolve(load_experiment(catalog.experiment_file("rpc-quick")))))
    for word in ("icpe23/interference", "What will be done", "no port", "Preserved", "Not preserved"):
        assert word in text


@pytest.mark.parametrize(
    ("seconds", "text"), [(20.4, "about 20 s"), (240.0, "about 4 min"), (9000.0, "about 2.5 h")]
)
def test_times_are_told_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text
