"""A resolved experiment is written as it always was, and read back as the same."""

import json

import pytest
from pydantic import ValidationError

from crosswind import catalog
from crosswind.results.folder import short_hash
from crosswind.spec import Resolved, load_experiment, resolve
from crosswind.spec.resolved import ResolvedLink, ResolvedTopology


@pytest.mark.parametrize("name", catalog.experiment_names())
def test_an_experiment_is_read_back_from_what_was_written(name: str) -> None:
    written = resolve(load_experiment(catalog.experiment_file(name))).as_json()
    text = json.dumps(written, indent=2)
    again = Resolved.model_validate(json.loads(text))
    assert json.dumps(again.as_json(), indent=2) == text


@pytest.mark.parametrize(
    ("name", "digits"),
    [
        ("rpc-quick", "1b27beca"),
        ("icpe23-ycsb-b", "af9bf8a9"),
        ("nrg-memcached-profile", "0b2dd05e"),
        ("nsdi20-rested-budget", "50f507e4"),
    ],
)
def test_the_name_of_a_run_stays(name: str, digits: str) -> None:
    assert short_hash(resolve(load_experiment(catalog.experiment_file(name)))) == digits


def test_what_a_file_does_not_say_has_its_default_and_is_not_written() -> None:
    document = {"schema": 2, "application": {"name": "rpc"}, "conditions": [{"name": "none"}], "later": [1]}
    found = Resolved.model_validate(document)
    assert (found.trials.budgets, found.topology.domains, found.conditions[0].factors) == (
        "fresh",
        "auto",
        {},
    )
    assert found.as_json() == document
    assert Resolved.unknown().as_json() == {}


def test_a_link_has_the_keys_that_say_something() -> None:
    link = ResolvedLink(source="h0", target="switch", rate_bps=None, delay_ns=5, jitter_ns=0, cost=1)
    assert link.as_json() == {"from": "h0", "to": "switch", "rate_bps": None, "delay_ns": 5}
    assert "cost" in link.model_copy(update={"cost": 2}).as_json()


def test_links_join_the_hosts_and_switches_that_there_are() -> None:
    ends = [("h0", "switch"), ("switch", "h0")]
    links = [ResolvedLink(source=here, target=there, rate_bps=1, delay_ns=0) for here, there in ends]
    whole = {"form": "star", "switches": ["switch"], "links": links, "routes": "shortest"}
    assert ResolvedTopology(hosts=["h0"], nodes={"a": "h0"}, **whole).links == links
    for hosts, nodes in ((["h0", "h1"], {}), (["h0"], {"a": "h1"})):
        with pytest.raises(ValidationError, match=r"do not join|is on no host"):
            ResolvedTopology(hosts=hosts, nodes=nodes, **whole)
