"""A printed report is whole: nothing of it is beyond the margins of a page."""

from chromium import needs_chromium

from crosswind.report import write_report

pytestmark = needs_chromium
OPENED = "document.querySelectorAll('details.condition').forEach((fold) => { fold.open = true; })"
DRAWN = "[...document.querySelectorAll('.canvas')].every((canvas) => canvas.dataset.drawn)"
# Parts of a picture lie beyond it where they are clipped; the picture itself does not.
CUT = """[...document.querySelectorAll("header *, main *")].filter((part) => {
  const box = part.getBoundingClientRect();
  return box.width && !part.closest("svg *") && (box.left < -1 || box.right > innerWidth + 1);
}).map((part) => `${part.tagName} ${part.className} ${part.textContent.slice(0, 40)}`)"""


def test_nothing_is_cut_at_the_edge_of_a_page_with_every_trial_table_open(folder, browser):
    browser.open(f"file://{write_report(folder).resolve()}")
    browser.value(OPENED)
    browser.on_paper()
    browser.await_true(DRAWN)
    assert browser.value(CUT) == []
    assert browser.value("document.querySelector('#provenance details').open")
