"""A browser draws the bands of faults in both themes."""

from pathlib import Path

import pytest
from chromium import Chromium, needs_chromium
from faulty import write_faulty

from crosswind.report import write_report

pytestmark = needs_chromium

SCRIPT = """
dispatchEvent(new Event("beforeprint")); dispatchEvent(new Event("afterprint"));
const shapes = (key) => {
  const canvas = document.querySelector(`.canvas[data-figure="${key}"]`);
  return [...canvas.querySelectorAll(".shapelayer path")].filter((path) => path.style.fillOpacity !== "")
    .map((path) => [path.style.fill, path.getBoundingClientRect().width / canvas.clientWidth]);
};
return { isolated: shapes("faults-1"), killed: shapes("faults-2") };
"""


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return write_report(write_faulty(tmp_path_factory.mktemp("faulty") / "run", blocks=2))


@pytest.mark.parametrize(
    ("dark", "cut", "hit"),
    [(False, "rgb(164, 38, 44)", "rgb(138, 90, 0)"), (True, "rgb(255, 143, 138)", "rgb(232, 189, 91)")],
)
def test_bands_are_as_long_as_faults_in_the_colours_of_the_theme(
    page: Path, browser: Chromium, dark: bool, cut: str, hit: str
) -> None:
    browser.open(f"file://{page}", width=1300, height=2000, dark=dark)
    browser.await_true("window.Plotly")
    found = browser.run(SCRIPT)
    # Of 20 s a cut lasts 5, a kill 3 and a pause 2; the axes leave nine tenths of the width.
    assert [colour for colour, _ in found["isolated"]] == [cut]
    assert [colour for colour, _ in found["killed"]] == [hit, hit]
    widths = [width for _, width in (*found["isolated"], *found["killed"])]
    assert widths == pytest.approx([0.23, 0.14, 0.09], abs=0.02)
