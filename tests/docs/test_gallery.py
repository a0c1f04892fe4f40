"""The still reports of docs/gallery say where they come from, and name no path of that machine."""

import re
from pathlib import Path

import pytest

GALLERY = Path(__file__).parents[2] / "docs" / "gallery"
PAGES = sorted(GALLERY.glob("*.html"))


def test_every_study_has_a_page_and_every_page_is_listed():
    assert {page.name.partition("-")[0] for page in PAGES} == {"icpe23", "nrg", "nsdi20", "osmef"}
    index = (GALLERY / "README.md").read_text()
    assert set(re.findall(r"\(([a-z0-9-]+\.html)\)", index)) == {page.name for page in PAGES}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_is_still_small_and_says_where_it_comes_from(page):
    text = page.read_text()
    assert len(text) < 1_200_000  # 400 trials are a line each in two pictures
    assert "<script" not in text
    assert text.count("<svg") >= text.count('class="canvas') > 0
    command = rf"(?:crosswind run {page.stem}</code>|crosswind demo</code> \(which runs this experiment\))"
    assert re.search(
        rf"Made with <code>{command} on 20\d\d-\d\d-\d\d: .+ (?:cores|processors), Linux \d", text
    )
    assert re.findall(r"(?<![\w./])/(?:home|root|tmp|var|work|usr)/[\w.]+", text) == []
    assert [
        link
        for link in re.findall(r'(?:href|src)="([^"]*)"', text)
        if not link.startswith(("#", "data:image/"))
    ] == []
