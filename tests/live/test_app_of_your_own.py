"""The package of docs/contribute/application.md, as it is written there: found, planned and run."""

from __future__ import annotations

import re
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from conftest import Live

PAGE = Path(__file__).parents[2] / "docs/contribute/application.md"


def block(first: str) -> str:
    """Return the page's block of code that begins with these words."""
    found = re.search(rf"^```\w*\n({re.escape(first)}.*?)^```$", PAGE.read_text(), re.MULTILINE | re.DOTALL)
    assert found is not None
    return found[1]


def test_the_example_of_the_page_runs(live: Live) -> None:
    if not shutil.which("curl"):
        pytest.skip("SKIPPED: curl is not installed")
    package = live.folder / "package"
    # As `pip install` would leave it.
    metadata = package / "crosswind_fetch-1.0.dist-info"
    metadata.mkdir(parents=True)
    (metadata / "METADATA").write_text("Metadata-Version: 2.1\nName: crosswind-fetch\nVersion: 1.0\n")
    (metadata / "entry_points.txt").write_text("[crosswind.applications]\nfetch = crosswind_fetch:Fetch\n")
    (package / "crosswind_fetch.py").write_text(block('"""One page'))
    (live.folder / "fetch.yaml").write_text(block("# fetch.yaml"))
    live.env["PYTHONPATH"] += f":{package}"
    assert re.search(r"^fetch +ready +one page from a web server$", live.run("apps")[1], re.MULTILINE)
    assert "far" in live.measured("fetch.yaml")
