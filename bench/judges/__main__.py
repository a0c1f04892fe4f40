"""Let a judge measure: `python -m bench.judges cometbft` writes its section of docs/lab/2026-11-judges.md.

Needs Go and its module proxy, if the judge's program is not installed yet.
"""

from __future__ import annotations

import argparse
import tempfile
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from pathlib import Path

from bench.judges import cometbft_figures, etcd_figures, etcd_register_figures
from bench.sections import with_section

PAGE = Path(__file__).parents[2] / "docs" / "lab" / "2026-11-judges.md"
# By name: what installs the programs, measures in an empty folder, and yields the lines of the section.
JUDGES: dict[str, Callable[[Path], Iterator[str]]] = {
    "cometbft": cometbft_figures.lines,
    "etcd": etcd_figures.lines,
    "etcd-register": etcd_register_figures.lines,
}


def main() -> None:
    """Measure, and write."""
    parser = argparse.ArgumentParser(prog="python -m bench.judges", description=__doc__)
    parser.add_argument("judge", choices=JUDGES)
    name = parser.parse_args().judge
    # Validators lock files that are removed while they end.
    with tempfile.TemporaryDirectory(dir="/var/tmp", ignore_cleanup_errors=True) as folder:
        title, *lines = JUDGES[name](Path(folder))
    date = datetime.now(UTC).date().isoformat()
    head = f"`python -m bench.judges {name}`, {date}."
    PAGE.write_text(with_section(PAGE.read_text(), title, [head, "", *lines]))


if __name__ == "__main__":
    main()
