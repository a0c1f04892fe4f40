"""A network without an experiment, and the conditions that can be set on it."""

from pathlib import Path

import pytest

from crosswind import catalog
from crosswind.spec import SpecErrors, fabric_of, load_setup
from crosswind.spec.resolved import NormalRate

TEXT = """\
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s}
  nodes: {a: h0, b: h1}
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "up.yaml"
    path.write_text(TEXT)
    return path


def test_a_topology_alone_is_under_the_empty_condition(file: Path) -> None:
    setup = load_setup(file)
    assert list(setup.conditions) == ["none"]
    fabric = fabric_of(setup.resolved(seed=3), "none")
    assert [node.name for node in fabric.nodes] == ["a", "b"]


def test_a_condition_can_be_written_in_the_file(file: Path) -> None:
    file.write_text(TEXT + "condition: {slow: {link: [{delay: {time: 1ms}}]}}\n")
    fabric = fabric_of(load_setup(file).resolved(seed=3), "slow")
    assert fabric.condition.places == {"link": [{"delay": {"time_ns": 1_000_000}}]}


def test_an_experiment_brings_its_conditions() -> None:
    setup = load_setup(catalog.experiment_file("rpc-quick"))
    assert next(iter(setup.conditions)) == "icpe23/no-interference"
    rate = setup.condition("icpe23/interference").interference[0].rate
    assert isinstance(rate, NormalRate)
    assert rate.normal.mean_bps == 500_000_000


def test_a_condition_that_does_not_fit_the_network_is_refused(file: Path) -> None:
    with pytest.raises(SpecErrors, match="host h2 does not exist"):
        load_setup(file).condition("icpe23/interference")


def test_a_condition_file_can_be_set(file: Path, tmp_path: Path) -> None:
    condition = tmp_path / "slow.yaml"
    condition.write_text("slow: {link: [{delay: {time: 1ms}}]}\n")
    assert load_setup(file).condition(str(condition)).name == "slow"


def test_the_nearest_condition_is_named(file: Path) -> None:
    with pytest.raises(SpecErrors, match='did you mean "none"'):
        load_setup(file).condition("nome")


def test_all_that_is_wrong_is_reported(file: Path) -> None:
    file.write_text(TEXT.replace("b: h1", "b: h7") + "condition: icpe23/interference\nscale: 3\n")
    with pytest.raises(SpecErrors) as caught:
        load_setup(file)
    assert [problem.line for problem in caught.value.problems] == [4, 5, 5, 6]
