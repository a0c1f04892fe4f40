"""The folder of all pairs: matrices that a topology reads, and fingerprints that other verbs read."""

from __future__ import annotations

from pathlib import Path

import pytest
from pair_parts import US, direction, write

from crosswind.analysis.network.document import NotAFingerprint, read_fingerprint
from crosswind.errors import CrosswindError
from crosswind.fingerprint.between.direction import Direction
from crosswind.fingerprint.between.document import BetweenMachine, PairFigures, complete_names, read_between
from crosswind.fingerprint.between.folder import make_folder
from crosswind.spec import load_setup
from crosswind.spec.network import Network
from crosswind.spec.problems import SpecErrors

NAMES = ["m0", "m1.example.org", "m2"]
MACHINES = [BetweenMachine(name=name, address="10.0.0.1") for name in NAMES]
# Delay in us and rate in Gbit/s of each ordered pair; no two are the same.
TRUE = {
    (source, target): (100.0 + 10 * row + column, 1 + row + column / 10)
    for row, source in enumerate(NAMES)
    for column, target in enumerate(NAMES)
    if source != target
}


def directions() -> list[Direction]:
    return [direction(*pair, delay_us, gbps * 1e9) for pair, (delay_us, gbps) in TRUE.items()]


def test_the_topology_has_each_pair_as_it_was_measured(tmp_path: Path) -> None:
    write(tmp_path / "between", MACHINES, directions())
    network = Network.of(load_setup(tmp_path / "between" / "topology.yaml").resolved(1).topology)
    found = {(link.source, link.target): link for link in network.trunks}
    assert set(found) == set(TRUE)
    for pair, (delay_us, gbps) in TRUE.items():
        # Half of the packets are 2 us later, so the median is 1 us later; so is half of what lies between.
        assert found[pair].delay_ns == pytest.approx((delay_us + 1) * US, abs=2)
        assert found[pair].jitter_ns == pytest.approx(US, abs=2)
        assert found[pair].loss_ppb == 10_000_000
        # A segment of 1448 bytes takes 1538 on the wire.
        assert found[pair].rate_bps == pytest.approx(gbps * 1e9 * 1538 / 1448, rel=1e-4)


def test_each_pair_is_a_fingerprint_with_its_bound(tmp_path: Path) -> None:
    written = write(tmp_path / "between", MACHINES, directions())
    pair = written.pair("m2", "m1.example.org")
    assert pair is not None
    assert pair.file == "pairs/m2-to-m1.example.org.json"
    found = read_fingerprint(tmp_path / "between" / pair.file)
    assert found.between == ("m2", "m1.example.org")
    assert found.delay is not None
    assert (found.delay.bound_ns, found.delay.lost, len(found.delay.each_ns)) == (50 * US, 4, 396)
    assert found.capacity[0].connections == 4


def test_what_is_written_is_read_again(tmp_path: Path) -> None:
    written = write(tmp_path / "between", MACHINES, directions())
    assert read_between(tmp_path / "between") == written


def test_a_machine_that_failed_is_left_out_of_the_matrices_alone(tmp_path: Path) -> None:
    found = directions()
    for one in found:
        if "m2" in (one.source, one.target):
            one.delays, one.transfers, one.ended = None, [], "agent on m2: the connection was lost"
    written = write(tmp_path / "between", MACHINES, found)
    assert written.left_out == ["m2"]
    assert [pair.ended is None for pair in written.pairs] == ["m2" not in pair for pair in TRUE]
    network = Network.of(load_setup(tmp_path / "between" / "topology.yaml").resolved(1).topology)
    assert network.switches == ("m0", "m1.example.org")


def test_with_one_machine_left_there_are_no_matrices(tmp_path: Path) -> None:
    found = directions()
    for one in found:
        one.ended = "nothing passes"
    assert write(tmp_path / "between", MACHINES, found).left_out == NAMES
    assert not (tmp_path / "between" / "delay.csv").exists()


def test_the_machine_that_lacks_most_is_left_out_first() -> None:
    pairs = [
        PairFigures(source=source, target=target, delay_ns=None if "b" in (source, target) else 1.0)
        for source in "abcd"
        for target in "abcd"
        if source != target
    ]
    pairs = [pair.model_copy(update={"jitter_ns": 1.0, "loss": 0.0}) for pair in pairs]
    assert complete_names("abcd", pairs) == ["a", "c", "d"]


def test_a_folder_with_something_else_is_refused(tmp_path: Path) -> None:
    (tmp_path / "mine").write_text("x")
    with pytest.raises(CrosswindError, match="is not empty; name a new folder"):
        make_folder(tmp_path, NAMES)
    with pytest.raises(CrosswindError, match="both would be the zone a-b"):
        make_folder(tmp_path / "new", ["a/b", "a:b"])


@pytest.mark.parametrize("content", ["", "[]", "{", '{"schema": 9}', '{"schema": 1, "machines": 3}'])
def test_a_damaged_document_is_one_clear_error(tmp_path: Path, content: str) -> None:
    (tmp_path / "between.json").write_text(content)
    with pytest.raises(NotAFingerprint, match=r"between\.json"):
        read_between(tmp_path)


def test_a_topology_with_a_wrong_cell_names_it(tmp_path: Path) -> None:
    folder = tmp_path / "between"
    write(folder, MACHINES, directions())
    (folder / "delay.csv").write_text((folder / "delay.csv").read_text().replace("102", "-102"))
    with pytest.raises(SpecErrors, match="negative"):
        load_setup(folder / "topology.yaml")
