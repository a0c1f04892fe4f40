"""A machine that is too small is refused before a run starts, with what would do."""

from pathlib import Path

import pytest

from crosswind.app import Demand, find
from crosswind.runner.room import Disk, Room, lacking
from crosswind.spec.sizes_file import sizes_of

GIB = 1 << 30
WORK, KEPT = Disk(Path("/work"), 10 * GIB), Disk(Path("/kept"), 5 * GIB)
ROOM = Room(8 * GIB, WORK, KEPT)


def test_what_fits_exactly_is_not_refused() -> None:
    assert list(lacking(Demand(8 * GIB, 10 * GIB, 5 * GIB), "thing", ROOM)) == []


@pytest.mark.parametrize(
    ("demand", "said"),
    [
        (
            Demand(memory_bytes=9 * GIB, remedy="write fewer `records`"),
            "memory: thing takes 9 GiB at least, and this machine has 8 GiB; write fewer `records`, or use",
        ),
        (
            Demand(work_bytes=11 * GIB),
            "disk: thing writes 11 GiB at least below /work, and 10 GiB are free there",
        ),
        (
            Demand(kept_bytes=6 * GIB),
            "disk: thing writes 6 GiB at least below /kept, and 5 GiB are free there",
        ),
    ],
)
def test_what_does_not_fit_is_one_sentence_with_the_remedy(demand: Demand, said: str) -> None:
    (sentence,) = lacking(demand, "thing", ROOM)
    assert sentence.startswith(said)


def test_two_folders_on_one_disk_share_what_is_free() -> None:
    one = Room(8 * GIB, WORK, WORK)
    assert list(lacking(Demand(work_bytes=5 * GIB, kept_bytes=5 * GIB), "thing", one)) == []
    (sentence,) = lacking(Demand(work_bytes=6 * GIB, kept_bytes=5 * GIB), "thing", one)
    assert "writes 11 GiB at least" in sentence


@pytest.mark.parametrize(
    ("name", "given", "size", "nodes", "demand_gb"),
    [
        # Memory, files of a trial, and what is kept; in units of 10^9 bytes, rounded.
        ("ycsb", {"workload": "a"}, "study", ("db0", "db1", "db2", "client"), (0, 3, 3)),
        ("ycsb", {"workload": "a", "store": "redis"}, "study", ("db0", "db1", "db2", "client"), (3, 3, 3)),
        ("spark", {}, "study", ("master", "worker0", "worker1", "client"), (103, 97, 0)),
        ("spark", {}, "study-tpcds", ("master", "worker0", "worker1", "client"), (103, 0, 600)),
        ("hpcc", {}, "study", ("rank0", "rank1"), (54, 0, 0)),
        ("memcached", {}, "study", ("server", "client"), (1, 0, 0)),
    ],
)
def test_the_published_sizes_say_what_they_take(
    name: str, given: dict[str, str], size: str, nodes: tuple[str, ...], demand_gb: tuple[int, int, int]
) -> None:
    kind = find(name)
    demand = kind(kind.Parameters.model_validate(sizes_of(kind)[size] | given)).demand(nodes)
    found = (demand.memory_bytes, demand.work_bytes, demand.kept_bytes)
    assert tuple(round(each / 1e9) for each in found) == demand_gb
