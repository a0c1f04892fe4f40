"""What a confirmed operation means: a parameter in each store's own words."""

import re
from typing import get_args

import pytest

from crosswind.app.stores.durability import Durability
from crosswind.app.ycsb.application import Ycsb, YcsbParameters

NODES = ["db0", "db1", "client"]


def parameters(**given: object) -> YcsbParameters:
    return YcsbParameters.model_validate({"workload": "a", "duration": "1s", **given})


def misfits(**given: object) -> list[str]:
    found = list(Ycsb.misfits(parameters(**given), NODES))
    assert all(place == ("durability",) for place, _ in found)
    return [message for _, message in found]


def test_every_durability_of_every_store_can_be_written() -> None:
    words = {word for store in Ycsb.stores.values() for word in store.durabilities}
    assert words == set(get_args(Durability))


@pytest.mark.parametrize("store", list(Ycsb.stores))
def test_without_a_durability_the_stores_own_default_is_used(store: str) -> None:
    assert misfits(store=store) == []


def test_a_durability_of_another_store_is_refused_with_those_there_are() -> None:
    (message,) = misfits(store="etcd", durability="w=0")
    assert message == '"w=0" is none of etcd; write linearizable, serializable'


def test_more_replicas_than_there_are_cannot_be_waited_for() -> None:
    assert misfits(store="redis", durability="wait=1") == []
    (message,) = misfits(store="redis", durability="wait=2")
    assert re.search(r"2 replicas of 1.*wait=1", message)


@pytest.mark.parametrize(
    ("store", "durability", "says"),
    [
        ("mongodb", "w=0", "never waits for the network"),
        ("mongodb", "w=1", "before any secondary"),
        ("redis", None, "asynchronously"),
        ("redis", "wait=2", "Redis replicates asynchronously"),
        ("valkey", None, "Valkey replicates asynchronously"),
        ("etcd", "serializable", "may be stale"),
        ("cassandra", "one", "may be stale"),
        ("postgresql", "off", "before any standby"),
        ("ferretdb", "local", "before any standby"),
    ],
)
def test_a_durability_that_does_not_wait_for_the_network_is_remarked(
    store: str, durability: str | None, says: str
) -> None:
    (remark,) = Ycsb(parameters(store=store, durability=durability)).remarks()
    assert says in remark


@pytest.mark.parametrize(
    ("store", "durability"),
    [
        ("postgresql", None),
        ("postgresql", "remote_apply"),
        ("mongodb", "majority"),
        ("etcd", None),
        ("cassandra", None),
        ("cassandra", "all"),
    ],
)
def test_a_durability_that_waits_needs_no_remark(store: str, durability: str | None) -> None:
    assert Ycsb(parameters(store=store, durability=durability)).remarks() == []
