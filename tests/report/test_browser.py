"""The report as a browser shows it: drawn, offline, on narrow and dark screens, on paper, and taken away."""

import base64
import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from chromium import needs_chromium
from outline import Outline

from crosswind.report import write_report
from synthetic import write_folder

pytestmark = needs_chromium

# A figure is drawn when it comes near the screen, and every one before printing: that needs no scrolling.
PRINTING = "dispatchEvent(new Event('beforeprint'));"
REFERENCE = Path(__file__).with_name("first_screens.json")


@pytest.fixture(scope="module")
def page(folder):
    return write_report(folder)


def test_it_is_drawn_without_errors_and_without_a_network(page, browser, tmp_path):
    # Printed before plotly.js is unpacked: figures are drawn as soon as it is.
    printed = tmp_path / "printed.html"
    printed.write_text(page.read_text().replace("</body>", f"<script>{PRINTING}</script></body>"))
    browser.open(f"file://{printed}#condition-3", width=1300, height=2000)
    browser.await_true("[...document.querySelectorAll('.canvas')].every((canvas) => canvas.dataset.drawn)")
    dom = Outline(browser.value("document.documentElement.outerHTML"))
    assert browser.requested == [f"file://{printed}"]
    # A connection that is only made beforehand is no request.
    assert dom.of("link") == []
    canvases = [div for div in dom.of("div") if "canvas" in div.get("class", "").split()]
    assert canvases
    assert all(canvas.get("data-drawn") == "yes" for canvas in canvases)
    assert len([svg for svg in dom.of("svg") if svg.get("class") == "main-svg"]) >= len(canvases)
    opened_folds = [fold["id"] for fold in dom.of("details") if "open" in fold and "id" in fold]
    assert opened_folds == ["condition-3"]


def test_paper_has_the_machine_and_the_method_which_a_screen_folds(page, browser):
    browser.open(f"file://{page}")
    states = browser.run(
        """const folds = () => [...document.querySelectorAll("#provenance details")].map((fold) => fold.open);
           const states = [folds()];
           for (const kind of ["beforeprint", "afterprint"]) {
             dispatchEvent(new Event(kind));
             states.push(folds());
           }
           return states;"""
    )
    assert states == [[False] * 3, [True, False, True], [False] * 3]


def test_every_figure_can_be_taken_away_as_svg_and_as_csv(page, browser):
    browser.open(f"file://{page}", dark=True)
    saved = browser.run(
        """const blobs = new Map(), saved = {};
           const made = URL.createObjectURL;
           URL.createObjectURL = (blob) => { const url = made(blob); blobs.set(url, blob); return url; };
           HTMLAnchorElement.prototype.click = function () {
             saved[this.download] = blobs.get(this.href).text();
           };
           for (const button of document.querySelectorAll("button.svg, button.csv")) button.click();
           const wanted = document.querySelectorAll("button.svg, button.csv").length;
           while (Object.keys(saved).length < wanted) await new Promise((next) => setTimeout(next, 20));
           for (const name in saved) saved[name] = await saved[name];
           return saved;"""
    )
    keys = set(json.loads(re.search(r'id="figure-data">(.*?)</script>', page.read_text(), re.DOTALL)[1]))
    keys |= {"over-time", "compare-latency", "compare-time"}
    assert set(saved) == {f"{key}.{kind}" for key in keys for kind in ("svg", "csv")}
    for key in keys:
        head, *rows = saved[f"{key}.csv"].splitlines()
        assert head == "series,x,y"
        assert rows
        picture = ElementTree.fromstring(saved[f"{key}.svg"])
        assert picture.tag.endswith("svg")
        # As on paper, though the screen is dark: a white ground and the text of the light theme.
        styles = {part.get("style") or "" for part in picture.iter()}
        assert any("fill: rgb(255, 255, 255)" in style for style in styles)
        assert any("fill: rgb(90, 101, 112)" in style for style in styles)
        drawn = [part for part in picture.iter() if part.tag.rpartition("}")[2] == "path" and part.get("d")]
        assert len(drawn) > 3


@pytest.mark.parametrize(("width", "dark", "paper"), [(390, True, "#14181c"), (1300, False, "#fcfcfa")])
def test_nothing_is_wider_than_the_screen(page, browser, width, dark, paper):
    browser.open(f"file://{page}", width=width, dark=dark)
    found = browser.run(
        """const root = document.documentElement;
           const wide = [...root.querySelectorAll("main *")].filter((part) =>
             !part.closest(".scroll, pre, svg") && part.getBoundingClientRect().right > innerWidth + 1);
           return { inner: innerWidth, scroll: root.scrollWidth,
                    wide: wide.map((part) => part.className),
                    paper: getComputedStyle(root).getPropertyValue("--paper") };"""
    )
    assert found == {"inner": width, "scroll": width, "wide": [], "paper": paper}


@pytest.fixture(scope="module")
def page_with_intervals(tmp_path_factory):
    """Ten trials: every number has an interval below it, and columns are as wide as they come."""
    run = tmp_path_factory.mktemp("intervals") / "run"
    return write_report(write_folder(run, operations=500, blocks=10, conditions=4))


# What a page shows of its tables, with every fold open.
TABLES = """document.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    const of = (part) => part.closest(".scroll").getAttribute("aria-label");
    const scrolls = [...document.querySelectorAll(".scroll")];
    const clipped = scrolls.filter((part) => part.scrollWidth > part.clientWidth);
    const beyond = (part) => {
      const box = part.closest(".scroll").getBoundingClientRect(), own = part.getBoundingClientRect();
      return own.width && (own.right > box.right + 1 || own.left < box.left - 1);
    };"""


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_summary_and_its_verdicts_are_not_clipped(page_with_intervals, browser, width):
    browser.open(f"file://{page_with_intervals}", width=width)
    found = browser.run(
        TABLES
        + """
        // An application with more figures than ours, too: the verdicts stay in view.
        const pills = () => [...document.querySelectorAll(".summary .verdict")];
        const before = { pills: pills().length, beyond: pills().filter(beyond).length };
        const clippedBefore = clipped.map(of);
        document.querySelectorAll("input.view").forEach((box) => box.click());
        const clippedRare = scrolls.filter((part) => part.scrollWidth > part.clientWidth).map(of);
        for (const row of document.querySelector(".summary").rows) {
          for (let more = 0; more < 8; more += 1) row.cells[3].after(row.cells[3].cloneNode(true));
        }
        return { ...before, wide: pills().filter(beyond).length, clipped: clippedBefore, clippedRare };"""
    )
    assert found["pills"] > 0
    assert (found["beyond"], found["wide"]) == (0, 0)
    assert (found["clipped"], found["clippedRare"]) == ([], [])


@pytest.mark.parametrize("dark", [False, True])
def test_on_a_phone_every_number_is_in_sight_with_its_name(page_with_intervals, browser, dark):
    browser.open(f"file://{page_with_intervals}", width=390, dark=dark)
    found = browser.run(
        TABLES
        + """
        const views = [...document.querySelectorAll("input.view")];
        views.slice(1).forEach((box) => box.click());
        const numbers = [...document.querySelectorAll(".scroll tbody td.num")];
        const named = (cell) => getComputedStyle(cell, "::before").content;
        const cards = numbers.filter((cell) => cell.closest(".cards"));
        return { numbers: numbers.length, beyond: numbers.filter(beyond).map(of), clipped: clipped.map(of),
                 names: [...new Set(cards.map(named))] };"""
    )
    assert found["numbers"] > 100
    assert (found["beyond"], found["clipped"]) == ([], [])
    assert {'"P50, us"', '"P99, ms"', '"Over 100 ms, of operations"', '"Seed"'} <= set(found["names"])
    assert '""' not in found["names"]


def test_hovering_names_condition_and_trial_and_ticks_are_whole_numbers(page, browser):
    browser.open(f"file://{page}", width=1300, height=2000)
    browser.await_true("window.Plotly")
    found = browser.run(
        PRINTING
        + """
        const texts = {}, ticks = {};
        for (const canvas of document.querySelectorAll(".canvas")) {
          const key = canvas.dataset.figure, drawn = canvas._fullLayout;
          for (const name of ["xaxis", "yaxis"]) {
            const axis = drawn[name];
            if (!axis || axis.type !== "log") continue;
            const labelled = axis._vals.filter((tick) => tick.text);
            ticks[`${key} ${name}`] = labelled.map((tick) => [10 ** tick.x, tick.text]);
          }
          for (const [curveNumber, trace] of canvas.data.entries()) {
            if (trace.type !== "scatter" || curveNumber > 20) continue;
            // Without, a second label within a moment would come later.
            Plotly.Fx.unhover(canvas);
            Plotly.Fx.hover(canvas, [{ curveNumber, pointNumber: 0 }]);
            const labels = [...canvas.querySelectorAll(".hoverlayer .hovertext, .hoverlayer .legend")];
            const shown = labels.map((label) => label.textContent).join(" ");
            (texts[key] ??= []).push([trace.legendgroup ?? "", shown]);
          }
        }
        return { texts, ticks };"""
    )
    for key in ("ccdf", "ecdf"):
        assert len(found["texts"][key]) > 20
        for group, shown in found["texts"][key]:
            condition = group.rpartition("/")[2]
            assert re.match(rf"{condition}b\d\d-p\d\d-{condition}\d", shown), shown
    for key, texts in found["texts"].items():
        for _, shown in texts:
            assert shown, key
            assert not re.search(r"%\{|undefined|NaN|^-", shown), (key, shown)
    assert {"boxes xaxis", "ccdf xaxis", "ccdf yaxis", "ecdf xaxis"} <= set(found["ticks"])
    for axis, ticks in found["ticks"].items():
        assert len(ticks) > 1, axis
        for value, text in ticks:
            shown = float(text.replace("\u202f", "").rstrip("%")) / (100 if "%" in text else 1)
            assert shown == pytest.approx(value, rel=1e-3), axis


def test_what_only_a_page_with_scripts_can_do_is_left_out_of_paper_and_still_copies(page):
    page = page.read_text()
    hints = re.findall(r'<span class="live">(.*?)</span>', page)
    assert any("Click a name" in hint for hint in hints)
    mouse = r"\b([Cc]lick|[Dd]rag|[Hh]over|[Dd]ouble-click|[Pp]oint at)\b"
    rest = re.sub(
        r'<span class="live">.*?</span>|<(script|style).*?</(script|style)>', "", page, flags=re.DOTALL
    )
    assert not re.search(mouse, rest)
    gallery = sorted(Path(__file__).parents[2].glob("docs/gallery/*.html"))
    assert gallery
    for still in gallery:
        words = re.sub(r"<style.*?</style>", "", still.read_text(), flags=re.DOTALL)
        assert not re.search(mouse, words), still.name


def test_every_control_can_be_reached_by_the_keyboard(page, browser):
    browser.open(f"file://{page}")
    found = browser.run(
        """const controls = [...document.querySelectorAll("a, button, summary")];
           const unreachable = controls.filter((control) => control.tabIndex < 0);
           const fold = document.querySelector("details.condition");
           fold.querySelector("summary").focus();
           const focused = document.activeElement === fold.querySelector("summary");
           document.getElementById("open-all").click();
           const open = [...document.querySelectorAll("details.condition")].every((details) => details.open);
           return { controls: controls.length, unreachable: unreachable.length, focused, open };"""
    )
    assert found["controls"] > 20
    assert (found["unreachable"], found["focused"], found["open"]) == (0, True, True)


# Near the screen a figure is drawn, too, but is not in the picture.
DRAWN_ON_SCREEN = """[...document.querySelectorAll(".canvas")].every((canvas) =>
  canvas.dataset.drawn || !canvas.clientWidth || canvas.getBoundingClientRect().top > innerHeight)"""


def grey(browser, file):
    """Return a coarse picture of the open page in a window of 1280 by 960: 0 is black, 255 white."""
    browser.picture(file)
    encoded = base64.b64encode(file.read_bytes()).decode()
    # The browser averages pixels itself: no library for pictures is needed.
    cells = browser.run(
        f"""const image = new Image();
            image.src = "data:image/png;base64,{encoded}";
            await image.decode();
            const canvas = document.createElement("canvas"); canvas.width = 32; canvas.height = 24;
            const context = canvas.getContext("2d"); context.imageSmoothingQuality = "high";
            context.drawImage(image, 0, 0, 32, 24);
            const pixels = context.getImageData(0, 0, 32, 24).data;
            return [...Array(32 * 24).keys()].map((i) =>
              Math.round((pixels[4 * i] + pixels[4 * i + 1] + pixels[4 * i + 2]) / 3));"""
    )
    return [cells[row * 32 : (row + 1) * 32] for row in range(24)]


@pytest.mark.parametrize("theme", ["light", "dark"])
def test_the_first_screen_looks_as_it_did(page, browser, theme, tmp_path):
    """Compared are means of cells of 40 by 40 pixels, so that a word more or less is no difference.

    The pictures are of one font; where another one is installed, lines break elsewhere. After a wanted
    change, put the cells that the message names into first_screens.json.
    """
    references = json.loads(REFERENCE.read_text())
    browser.open(f"file://{page}", width=1280, height=960, dark=theme == "dark")
    font = browser.run(
        """const context = document.createElement("canvas").getContext("2d");
           context.font = "100px system-ui";
           return Math.round(context.measureText("Latency by condition").width);"""
    )
    if font != references["text_width"]:
        pytest.skip(f"another font: a text is {font} wide, and {references['text_width']} in the references")
    browser.await_true(DRAWN_ON_SCREEN)
    cells, wanted = grey(browser, tmp_path / "screen.png"), references[theme]
    assert (len(cells), len(cells[0])) == (len(wanted), len(wanted[0]))
    apart = [
        abs(a - b)
        for row, wanted_row in zip(cells, wanted, strict=True)
        for a, b in zip(row, wanted_row, strict=True)
    ]
    # A word changes a cell by some ten levels; a part that is missing or moved changes hundreds of cells.
    assert sum(difference > 12 for difference in apart) < len(apart) / 25, json.dumps(cells)
