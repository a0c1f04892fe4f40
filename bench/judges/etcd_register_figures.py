"""What clients of etcd saw under faults, as lines of a page."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path

from bench.judges.etcd_register import seeded_runs
from crosswind.app.stores.etcd import ETCD


def lines(folder: Path) -> Iterator[str]:
    """Yield the title, and the lines below it."""
    ETCD.install(print)
    runs = seeded_runs(folder)
    wrong = sum(run.violations > 0 for run in runs)
    undecided = sum(run.undecided > 0 for run in runs)
    yield "etcd: linearizable under partitions and kills"
    yield (
        "Six clients of three members of etcd 3.4.23 read, write and compare-and-set five registers for "
        "16 s. Faults of 2 s are drawn by the seed. The application `history` checks each register."
    )
    yield ""
    yield f"Of {len(runs)} runs, {wrong} had a violation, and {undecided} could not be checked to the end."
    yield ""
    yield "| seed | faults | confirmed | refused | unknown | violations |"
    yield "|---|---|---|---|---|---|"
    for run in runs:
        faults = ", ".join(run.faults).replace("|", "\\|")
        counts = f"{run.confirmed} | {run.refused} | {run.unknown} | {run.violations}"
        yield f"| {run.seed} | {faults} | {counts} |"
    yield ""
    yield f"The load average was {os.getloadavg()[2]:.1f}."
