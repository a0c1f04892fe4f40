"""Check the histories of a store: `python -m bench.histories redis` writes its section of the page.

The page is docs/lab/2026-11-histories.md. The live tests of `history` have the same cases.
"""

from __future__ import annotations

import argparse
import os
import tempfile
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path

import crosswind
from bench.histories.cases import CASES
from bench.histories.found import find, row
from bench.sections import with_section

PAGE = Path(__file__).parents[2] / "docs" / "lab" / "2026-11-histories.md"
STORES = tuple(dict.fromkeys(case.store for case in CASES))


def lines(store: str) -> Iterator[str]:
    """Run every case of a store, and yield the lines of its section."""
    yield (
        "| workload | servers | configuration | faults | expected | verdict | wrong keys of 5 | lost | "
        "confirmed / refused / unknown |"
    )
    yield "|---|---|---|---|---|---|---|---|---|"
    for case in (case for case in CASES if case.store == store):
        with tempfile.TemporaryDirectory(prefix="histories-", ignore_cleanup_errors=True) as folder:
            try:
                found = find(case, Path(folder))
            except crosswind.RunNotWhole as error:
                print(f"{case.words}: {error}", flush=True)
                yield row(case, None)
                continue
        print(f"{case.words}: {found.verdict}, expected {case.expected}", flush=True)
        yield row(case, found)
    yield ""
    kernel = os.uname().release.partition("-")[0]
    idle = " All ran with `SCHED_IDLE`." if os.sched_getscheduler(0) == os.SCHED_IDLE else ""
    yield f"{os.cpu_count()} CPUs, Linux {kernel}, at a load average of {os.getloadavg()[2]:.1f}.{idle}"


def main() -> None:
    """Run, and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.histories", description=__doc__)
    parser.add_argument("store", choices=STORES)
    store = parser.parse_args().store
    head = f"`python -m bench.histories {store}`, {datetime.now(UTC):%Y-%m-%d}."
    measured = [head, ""]
    for line in lines(store):
        # After each case: a run that is cut short leaves what it found.
        measured.append(line)
        PAGE.write_text(with_section(PAGE.read_text(), store, measured))


if __name__ == "__main__":
    main()
