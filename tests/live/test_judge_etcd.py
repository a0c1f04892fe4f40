"""etcd judges the network: a partition finds a fault of a released version, and none in one without it."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import pytest

from bench.judges.etcd_register import seeded_runs
from bench.judges.etcd_watch import Watched, network, start_cluster, watch_through_partition
from bench.judges.programs import ETCD_FIXED
from crosswind.app.requirements import CannotInstall, Program, Requirement
from crosswind.app.stores.etcd import ETCD

if TYPE_CHECKING:
    from conftest import Live

pytestmark = pytest.mark.long


def test_a_partition_finds_that_a_watch_forgets_where_it_began(live: Live) -> None:
    install(ETCD)
    found = watched(live, ETCD.program("etcd"))
    assert found.found_s is not None
    # All that the cluster wrote between the snapshot and the start of the watch.
    assert len(found.too_early) > 100


def test_the_same_partition_finds_nothing_where_the_fault_is_fixed(live: Live) -> None:
    install(ETCD_FIXED)
    found = watched(live, ETCD_FIXED.program())
    assert found.too_early == []
    assert found.events == list(range(found.start, found.start + len(found.events)))


def test_a_register_is_linearizable_under_partitions_and_kills_of_several_seeds(live: Live) -> None:
    install(ETCD)
    # CROSSWIND_SEEDS=20 are those of docs/lab/2026-11-judges.md, and take a quarter of an hour.
    seeds = range(1, int(os.environ.get("CROSSWIND_SEEDS", "2")) + 1)
    runs = seeded_runs(live.folder, seeds)
    assert [run.seed for run in runs] == list(seeds)
    assert [
        (run.seed, run.violations, run.undecided) for run in runs if run.violations or run.undecided
    ] == []
    # Faults were felt: some operations have no known outcome; and most have one.
    assert sum(run.unknown for run in runs) > 0
    assert all(run.confirmed > 100 for run in runs)


def watched(live: Live, etcd: Program) -> Watched:
    with network() as net:
        start_cluster(net, etcd, live.folder)
        return watch_through_partition(net, "db2")


def install(requirement: Requirement) -> None:
    try:
        requirement.install(print)
    except CannotInstall as reason:
        pytest.skip(f"SKIPPED: {reason}")
