"""Take report.png of this folder: `python docs/images/report.py RESULTS_FOLDER`.

The results are those of `crosswind run docs/images/report.yaml`: six trials of each condition, so that the
picture has intervals.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from crosswind.report import write_report

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER.parents[1] / "tests" / "live"))

from chromium import Chromium  # noqa: E402


def main(folder: Path) -> None:
    """Take the picture: the first screen, with the answer, the table and the warnings."""
    page = write_report(folder).resolve()
    with tempfile.TemporaryDirectory() as profile, Chromium(Path(profile)) as browser:
        browser.open(f"file://{page}", width=1280, height=1130)
        browser.picture(FOLDER / "report.png")


if __name__ == "__main__":
    main(Path(sys.argv[1]))
