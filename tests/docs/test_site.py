"""The site: every page is in the navigation, every link leads somewhere, nothing is fetched."""

import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# What a browser would load by itself; a link that a reader follows may lead anywhere.
LOADED = re.compile(
    r"<(?:script|img|iframe|source)\b[^>]*\ssrc=\"?([^\s\">]+)|<link\b[^>]*\shref=\"?([^\s\">]+)"
)


def build(site: Path, config: Path = ROOT / "mkdocs.yml") -> str:
    """Build the site and return what mkdocs printed; its last line is the reason where it failed."""
    done = subprocess.run(
        [sys.executable, "-m", "mkdocs", "build", "--config-file", config, "--site-dir", site],
        env={**os.environ, "NO_MKDOCS_2_WARNING": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    return done.stderr if done.returncode else ""


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("site")
    failed = build(folder)
    assert not failed, failed
    return folder


def test_a_browser_fetches_nothing(site: Path) -> None:
    pages = list(site.rglob("*.html"))
    assert len(pages) > 50
    loaded = {
        target
        for page in pages
        for groups in LOADED.findall(page.read_text(encoding="utf-8"))
        for target in groups
        if target and not target.startswith("data:")
    }
    assert loaded
    assert [target for target in loaded if re.match(r"(?:[a-z]+:)?//", target)] == []


def test_reports_of_the_gallery_are_pages_of_the_site(site: Path) -> None:
    index = (site / "gallery" / "index.html").read_text(encoding="utf-8")
    for report in (ROOT / "docs" / "gallery").glob("*.html"):
        assert (site / "gallery" / report.name).is_file()
        assert f'href="{report.name}"' in index


@pytest.mark.skipif(shutil.which("chromium") is None, reason="SKIPPED: no chromium here: site not searched")
def test_search_finds_pages_without_a_server(site: Path, tmp_path: Path) -> None:
    options = ["--headless", "--no-sandbox", "--disable-gpu", f"--user-data-dir={tmp_path}"]
    found = subprocess.run(
        [
            "chromium",
            *options,
            "--virtual-time-budget=15000",
            "--dump-dom",
            f"{site.as_uri()}/index.html?q=policer",
        ],
        capture_output=True,
        text=True,
        check=True,
        timeout=120,
    ).stdout
    assert re.search(r"\d+ matching documents", found)
    assert "reference/conditions.html?h=policer" in found


@pytest.mark.parametrize(
    ("page", "reason"),
    [
        ("[a](nowhere.md)", "nowhere.md"),
        ("[a](README.md#nowhere)", "does not contain an anchor '#nowhere'"),
        ("[a](../LICENSE)", "repository/LICENSE.md"),
    ],
)
def test_a_broken_link_fails_the_build(page: str, reason: str, tmp_path: Path) -> None:
    assert reason in build(tmp_path / "site", written(tmp_path, page, nav=["README.md", "page.md"]))


def test_a_page_that_the_navigation_leaves_out_fails_the_build(tmp_path: Path) -> None:
    assert "page.md" in build(tmp_path / "site", written(tmp_path, "text", nav=["README.md"]))


def written(folder: Path, page: str, nav: list[str]) -> Path:
    """Write a site of two pages with the settings of this one, and return its configuration."""
    docs = folder / "docs"
    (docs / "assets").mkdir(parents=True)
    (docs / "README.md").write_text("# Index\n")
    (docs / "page.md").write_text(f"# Page\n\n{page}\n")
    for name in ("assets/site.css", "assets/iframe-worker.js"):
        (docs / name).write_bytes((ROOT / "docs" / name).read_bytes())
    config = folder / "mkdocs.yml"
    hooks = ROOT / "docs" / "site_hooks.py"
    config.write_text(f"INHERIT: {ROOT / 'mkdocs.yml'}\ndocs_dir: {docs}\nhooks: [{hooks}]\nnav: {nav}\n")
    return config
