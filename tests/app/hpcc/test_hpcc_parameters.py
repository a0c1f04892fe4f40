"""The process grid has to be all ranks, or HPL does not cross the network."""

import pytest

from crosswind.app.hpcc import Hpcc, HpccParameters
from crosswind.app.hpcc.input_file import input_file
from crosswind.app.hpcc.parameters import Grid, misfits, squarest
from crosswind.spec.sizes_file import sizes_of


def asked(**parameters: object) -> HpccParameters:
    return HpccParameters.model_validate(parameters)


@pytest.mark.parametrize(("ranks", "p", "q"), [(2, 1, 2), (4, 2, 2), (7, 1, 7), (12, 3, 4), (96, 8, 12)])
def test_the_default_grid_is_all_ranks_and_as_square_as_they_allow(ranks: int, p: int, q: int) -> None:
    assert squarest(ranks) == Grid(p=p, q=q)
    assert not list(misfits(asked(), ranks))


def test_the_grid_of_the_study_is_refused_because_the_first_node_has_it_alone() -> None:
    ((place, message),) = misfits(asked(grid={"p": 2, "q": 2}, ranks_per_node=8), 12)
    assert place == ("grid",)
    assert "2 x 2 is not the number of ranks, 96" in message
    assert "write {p: 8, q: 12}" in message


def test_blocks_that_leave_ranks_without_work_are_refused() -> None:
    ((place, message),) = misfits(asked(n=100, nb=80), 4 * 4)
    assert place == ("nb",)
    assert "into 2 blocks a side" in message
    assert "write at most 25" in message


def test_the_ranks_have_to_be_numbered_without_a_gap() -> None:
    assert Hpcc.roles_missing(["rank0"]) == ["rank1"]
    assert Hpcc.roles_missing(["rank0", "rank1", "rank3", "client"]) == ["rank2"]
    assert Hpcc.roles_missing(["rank1", "rank0"]) == []


def test_a_matrix_takes_eight_bytes_an_element() -> None:
    assert Hpcc(asked(n=1000)).demand(()).memory_bytes == 8_000_000


def test_hpl_finds_its_parameters_by_the_number_of_the_line() -> None:
    lines = input_file(1234, 64, Grid(p=3, q=5)).splitlines()
    first_words = [line.split()[0] for line in lines]
    # Counted in the file that Debian's package ships: Ns, NBs, Ps and Qs on lines 6, 8, 11 and 12.
    assert [first_words[line - 1] for line in (6, 8, 11, 12)] == ["1234", "64", "3", "5"]
    assert "no. 32" in lines[31]


def test_both_sizes_are_parameters() -> None:
    sizes = sizes_of(Hpcc)
    small, study = (HpccParameters.model_validate(sizes[name]) for name in ("small", "study"))
    assert not list(misfits(small, 2))
    assert not list(misfits(study, 12))
    assert study.ranks(12) == 96
