"""Applications as plugins, their parameters."""

import pytest
from pydantic import ValidationError

from crosswind.app import find, names
from crosswind.app.load import seconds
from crosswind.app.registry import UnknownApplication
from crosswind.app.rpc import RpcParameters
from crosswind.app.ycsb import YcsbParameters
from crosswind.app.ycsb.store import replicas_of


def test_the_built_in_applications_are_found() -> None:
    assert {"rpc", "ycsb"} <= set(names())
    for name in ("rpc", "ycsb"):
        assert find(name).name == name


def test_an_unknown_application_names_the_installed_ones() -> None:
    with pytest.raises(UnknownApplication, match=r'"mongodb": not installed; installed are .*rpc'):
        find("mongodb")


def test_parameters_read_quantities_with_units() -> None:
    read = RpcParameters.model_validate({"request": "1kB", "duration": "3s", "rate": "500/s"})
    assert (read.request_bytes, read.duration_ns, read.rate, read.warm_up_ns) == (1000, 3 * 10**9, 500, 10**9)


def test_a_load_without_an_end_is_refused_with_the_remedy() -> None:
    with pytest.raises(ValidationError, match="add `duration: 5s`"):
        YcsbParameters.model_validate({"workload": "b"})


@pytest.mark.parametrize("nodes", [["db0"], ["client", "db1"]])
def test_ycsb_names_the_nodes_that_it_lacks(nodes: list[str]) -> None:
    assert find("ycsb").roles_missing(nodes)


def test_replicas_are_in_order_of_their_number() -> None:
    assert replicas_of(["db10", "db0", "db2", "client", "db01", "db1"]) == ["db1", "db2", "db10"]


def test_durations_are_handed_on_exactly() -> None:
    assert seconds(1_500_000_001) == "1.500000001"
