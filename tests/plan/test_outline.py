"""A plan says what will happen, how long it takes, and changes nothing."""

import json

import pytest

from crosswind import catalog
from crosswind.plan import outline
from crosswind.plan.expected import trial_s
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
    for word in ("icpe23/interference", "What will be done", "no port", "Preserved", "Warnings"):
        assert word in text


def test_the_text_names_factors_with_their_levels() -> None:
    planned = outline(resolve(load_experiment(catalog.experiment_file("nrg-memcached-profile"))))
    text = describe(planned)
    assert "9 conditions from 2 factors, every combination" in text
    assert "  bandwidth: 10Gbit/s, 2Gbit/s, 1Gbit/s" in text
    assert planned.as_dict()["points"]["1gbit-50us"] == {"bandwidth": 10**9, "delay": 50_000}


def test_a_load_that_only_operations_end_takes_a_time_that_nobody_knows_before() -> None:
    resolved = resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b")))
    resolved.application.parameters.update({"duration_ns": None, "operations": 1000})
    endless = outline(resolved)
    assert (endless.expected_s, endless.expected_s_at_most) == (None, None)
    assert "30 trials, of unknown duration until the first has run" in describe(endless)


def test_an_application_says_what_its_trials_take_besides_their_load() -> None:
    resolved = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    # 500 ms of warm-up, 3 s, what a trial of rpc takes besides (0.5 s), 500 ms of rest.
    assert trial_s(resolved) == 4.5


@pytest.mark.parametrize(
    ("declared", "auto", "line"),
    [
        ("auto", 1, None),
        ("auto", 4, "domains: 4"),
        (1, 4, "domains: 1"),
        (2, 1, "domains: 2"),
        ([["switch", "h0"], ["h1"]], 1, "domains: 2 (switch, h0; h1)"),
    ],
)
def test_domains_are_told_where_they_are_declared_or_several(
    declared: str | int | list[list[str]], auto: int, line: str | None
) -> None:
    resolved = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    topology = resolved.topology.model_copy(update={"domains": declared})
    planned = outline(resolved.model_copy(update={"topology": topology}), auto)
    assert [text for text in describe(planned).splitlines() if text.startswith("domains")] == (
        [] if line is None else [line]
    )
    assert planned.domains == (None if line is None else auto if declared == "auto" else declared)
    many = line not in (None, "domains: 1")
    assert any(("cores: its threads spin" if many else "one core: it spins") in a for a in planned.actions)


@pytest.mark.parametrize(
    ("seconds", "text"), [(20.4, "about 20 s"), (240.0, "about 4 min"), (9000.0, "about 2.5 h")]
)
def test_times_are_told_as_people_say_them(seconds: float, text: str) -> None:
    assert duration(seconds) == text


def test_a_rest_that_the_buckets_decide_has_a_bound() -> None:
    # 50 Gbit come back at 1 Gbit/s.
    planned = outline(resolve(load_experiment(catalog.experiment_file("nsdi20-rested-budget"))))
    assert planned.expected_s is None
    assert any(
        "until its credit buckets hold what they first held: 50 s at most" in a for a in planned.actions
    )
