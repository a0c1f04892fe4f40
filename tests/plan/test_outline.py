"""A plan says what will happen, how long it takes, and changes nothing."""

import json

import pytest

from crosswind import catalog
from crosswind.plan import outline
from crosswind.plan.expected import trial_s
from crosswind.plan.text import between, describe, duration
from crosswind.spec import load_experiment, resolve
from crosswind.spec.document import document_of
from crosswind.spec.load import experiment_of


def test_the_demonstration_takes_a_minute_and_the_paper_a_few() -> None:
    quick = outline(resolve(load_experiment(catalog.experiment_file("rpc-quick"))))
    paper = outline(resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b"))))
    assert quick.expected.most_s is not None
    assert quick.expected.most_s < 70
    # `make demo` takes 244 to 250 s.
    assert paper.expected.least_s is not None
    assert paper.expected.most_s is not None
    assert paper.expected.least_s < 244 < 250 < paper.expected.most_s
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
    assert (endless.expected.least_s, endless.expected_at_most.most_s) == (None, None)
    lines = describe(endless).splitlines()
    assert "30 trials, of unknown duration until the first has run" in lines
    # 29 rests of 500 ms, and 3 s of the run and 2.5 s of each trial.
    assert lines[3].startswith(
        "  the load, for an unknown time, 14 s of rests, 78 s of set-up (about 4 times"
    )


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
    assert planned.expected.rests_s is None
    assert "rests until the budgets are refilled" in describe(planned)
    assert any(
        "until its credit buckets hold what they first held: 50 s at most" in a for a in planned.actions
    )


@pytest.mark.parametrize(
    ("least_s", "most_s", "text"),
    [
        (20.4, 20.0, "about 20 s"),
        (20.4, 31.0, "about 20 to 31 s"),
        (80.0, 130.0, "about 80 s to 2 min"),
        (80.0, None, "of unknown duration until the first has run"),
    ],
)
def test_a_range_of_times_names_its_unit_once_where_it_can(
    least_s: float, most_s: float | None, text: str
) -> None:
    assert between(least_s, most_s) == text


def test_the_parts_of_the_time_are_named_and_what_is_not_in_it() -> None:
    # 9 trials of 3 s after a warm-up of 500 ms, 8 rests of 500 ms, 3 s of the run and 0.5 s of each trial.
    planned = outline(resolve(load_experiment(catalog.experiment_file("rpc-quick"))))
    assert planned.expected.as_dict() == {
        "least_s": 43.0,
        "most_s": 65.5,
        "load_s": 31.5,
        "load_may_end_sooner": False,
        "rests_s": 4.0,
        "set_up_s": 7.5,
        "fingerprints_s": 0.0,
    }
    assert planned.not_counted == ["a void trial runs again, twice at most"]


def test_data_that_are_still_to_be_made_and_servers_of_the_user_are_not_counted() -> None:
    paper = resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b")))
    assert outline(paper, is_prepared=False).not_counted[0] == (
        "making the data of ycsb, once, before the first trial"
    )
    role = {"command": "exec true", "ready": {"port": 80}}
    own = {"command": {"roles": {"server": role, "client": {"command": "true"}}, "load": "client"}}
    own["command"]["metrics"] = {"time": {"elapsed": True, "better": "lower"}}
    file = {
        "name": "own",
        "topology": {"hosts": 2, "uplink": {"rate": "1Gbit/s"}, "nodes": {"server": "h0", "client": "h1"}},
        "conditions": ["none"],
        "application": own,
        "trials": {"repeat": 1},
    }
    found = outline(resolve(experiment_of(document_of(file, "own.yaml"))))
    assert "not counted: the time until your servers are ready, in each trial; " in describe(found)
    assert found.expected.least_s is None


def test_a_load_that_operations_may_end_has_only_an_upper_bound() -> None:
    resolved = resolve(load_experiment(catalog.experiment_file("icpe23-ycsb-b")))
    resolved.application.parameters.update({"duration_ns": 10**9, "operations": None, "warm_up_ns": 0})
    assert "  30 s of load" in describe(outline(resolved))
    resolved.application.parameters["operations"] = 1000
    bounded = outline(resolved)
    assert "  at most 30 s of load" in describe(bounded)
    # Rests, set-up and fingerprints are certain.
    parts = bounded.expected
    assert parts.rests_s is not None
    assert parts.least_s == parts.rests_s + parts.set_up_s + parts.fingerprints_s


def test_time_that_is_slowed_down_makes_loads_and_rests_as_much_longer() -> None:
    resolved = resolve(load_experiment(catalog.experiment_file("rpc-quick")))
    fast = outline(resolved)
    slow = outline(resolved.model_copy(update={"dilation": 10}))
    assert fast.expected.load_s is not None
    assert fast.expected.rests_s is not None
    assert slow.expected.load_s == 10 * fast.expected.load_s
    assert slow.expected.rests_s == 10 * fast.expected.rests_s
    assert slow.expected.set_up_s == fast.expected.set_up_s
    assert slow.expected.fingerprints_s == 0
    assert "time: 10 times slower; perceived time is shown" in describe(slow)
