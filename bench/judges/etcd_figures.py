"""What etcd found, as lines of a page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bench.judges.etcd_watch import MEMBERS, network, start_cluster, watch_through_partition
from bench.judges.programs import ETCD_FIXED
from crosswind.app.requirements import Program
from crosswind.app.stores.etcd import ETCD


def lines(folder: Path) -> Iterator[str]:
    """Yield the title, and the lines below it."""
    for requirement in (ETCD, ETCD_FIXED):
        requirement.install(print)
    yield "etcd: a known fault, found by a partition"
    yield (
        "Issue 20221: a watch from a revision yet to come gets older events, once its member was cut off "
        "for so long that it needs a snapshot. Its changelog says that it is fixed in 3.4.38, 3.5.22 "
        "and 3.6.2; of these releases only a later one, 3.6.16, was tried here."
    )
    yield ""
    yield "| etcd | cut off | watch from | events before that | from the cut to the first of them |"
    yield "|---|---|---|---|---|"
    for version, etcd in (("3.4.23", ETCD.program("etcd")), ("3.6.16", ETCD_FIXED.program())):
        for member in MEMBERS:
            yield _row(version, etcd, member, folder / f"{version}-{member}")
    yield ""
    yield f"The load average was {os.getloadavg()[2]:.1f}."


def _row(version: str, etcd: Program, member: str, folder: Path) -> str:
    folder.mkdir()
    with network() as net:
        start_cluster(net, etcd, folder)
        found = watch_through_partition(net, member)
    after = "" if found.found_s is None else f"{found.found_s:.1f} s"
    return f"| {version} | {member} | {found.start} | {len(found.too_early)} | {after} |"
