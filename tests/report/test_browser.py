"""The report as a browser shows it: drawn, offline, on narrow and dark screens, on paper, and taken away."""

import json
import re
import xml.etree.ElementTree as ElementTree
from pathlib import Path

import pytest
from browser import Browser, framed, needs_chromium
from outline import Outline

from crosswind.report import write_report
from synthetic import write_folder

pytestmark = needs_chromium

DARK = "--blink-settings=preferredColorScheme=0"
LIGHT = "--blink-settings=preferredColorScheme=1"
# A figure is drawn when it comes near the screen, and every one before printing: that needs no scrolling.
PRINTING = "dispatchEvent(new Event('beforeprint'));"
# Until plotly.js is unpacked, which a page does after its tables are shown.
READY = "while (!window.Plotly) await new Promise((next) => setTimeout(next, 20));"
REFERENCE = Path(__file__).with_name("first_screens.json")


@pytest.fixture(scope="module")
def page(folder):
    return write_report(folder).read_text()


@pytest.fixture
def browser(tmp_path):
    return Browser(tmp_path / "browser")


def test_it_is_drawn_without_errors_and_without_a_network(page, browser, tmp_path):
    log = tmp_path / "net.json"
    size = "--window-size=1300,2000"
    dom = Outline(
        browser.document(page, f"--log-net-log={log}", size, script=PRINTING, fragment="#condition-3")
    )
    requested = re.findall(r'"url":"(https?://[^"]*)"', log.read_text())
    # The browser itself asks its maker now and then, whatever the page.
    assert [url for url in requested if "google" not in url] == []
    canvases = [div for div in dom.of("div") if "canvas" in div.get("class", "").split()]
    assert canvases
    assert all(canvas.get("data-drawn") == "yes" for canvas in canvases)
    assert len([svg for svg in dom.of("svg") if svg.get("class") == "main-svg"]) >= len(canvases)
    opened_folds = [fold["id"] for fold in dom.of("details") if "open" in fold and "id" in fold]
    assert opened_folds == ["condition-3"]


def test_paper_has_the_machine_and_the_method_which_a_screen_folds(page, browser):
    states = browser.told(
        page,
        """const folds = () => [...document.querySelectorAll("#provenance details")].map((fold) => fold.open);
           const states = [folds()];
           for (const kind of ["beforeprint", "afterprint"]) {
             dispatchEvent(new Event(kind));
             states.push(folds());
           }
           return states;""",
    )
    assert states == [[False] * 3, [True, False, True], [False] * 3]


def test_every_figure_can_be_taken_away_as_svg_and_as_csv(page, browser):
    saved = browser.told(
        page,
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
           return saved;""",
        DARK,
    )
    keys = set(json.loads(re.search(r'id="figure-data">(.*?)</script>', page, re.DOTALL)[1]))
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


@pytest.mark.parametrize(("width", "theme", "paper"), [(390, DARK, "#14181c"), (1300, LIGHT, "#fcfcfa")])
def test_nothing_is_wider_than_the_screen(page, browser, width, theme, paper):
    found = browser.told(
        framed(page, width),
        """const frame = document.querySelector("iframe");
           const loaded = new Promise((done) => { frame.onload = done; });
           if (!frame.contentDocument.querySelector("footer")) await loaded;
           const view = frame.contentWindow;
           const root = view.document.documentElement;
           const wide = [...root.querySelectorAll("main *")].filter((part) =>
             !part.closest(".scroll, pre, svg") && part.getBoundingClientRect().right > view.innerWidth + 1);
           return { inner: view.innerWidth, scroll: root.scrollWidth,
                    wide: wide.map((part) => part.className),
                    paper: view.getComputedStyle(root).getPropertyValue("--paper") };""",
        "--window-size=1400,900",
        theme,
    )
    assert found == {"inner": width, "scroll": width, "wide": [], "paper": paper}


@pytest.fixture(scope="module")
def page_with_intervals(tmp_path_factory):
    """Ten trials: every number has an interval below it, and columns are as wide as they come."""
    run = tmp_path_factory.mktemp("intervals") / "run"
    return write_report(write_folder(run, operations=500, blocks=10, conditions=4)).read_text()


# What a frame's document shows of its tables, with every fold open.
TABLES = """const frame = document.querySelector("iframe");
    const loaded = new Promise((done) => { frame.onload = done; });
    if (!frame.contentDocument.querySelector("footer")) await loaded;
    const page = frame.contentDocument;
    page.querySelectorAll("details").forEach((fold) => { fold.open = true; });
    const of = (part) => part.closest(".scroll").getAttribute("aria-label");
    const scrolls = [...page.querySelectorAll(".scroll")];
    const clipped = scrolls.filter((part) => part.scrollWidth > part.clientWidth);
    const beyond = (part) => {
      const box = part.closest(".scroll").getBoundingClientRect(), own = part.getBoundingClientRect();
      return own.width && (own.right > box.right + 1 || own.left < box.left - 1);
    };"""


@pytest.mark.parametrize("width", [1280, 1920])
def test_the_summary_and_its_verdicts_are_not_clipped(page_with_intervals, browser, width):
    found = browser.told(
        framed(page_with_intervals, width),
        TABLES
        + """
        // An application with more figures than ours, too: the verdicts stay in view.
        const pills = () => [...page.querySelectorAll(".summary .verdict")];
        const before = { pills: pills().length, beyond: pills().filter(beyond).length };
        const clippedBefore = clipped.map(of);
        page.querySelectorAll("input.view").forEach((box) => box.click());
        const clippedRare = scrolls.filter((part) => part.scrollWidth > part.clientWidth).map(of);
        for (const row of page.querySelector(".summary").rows) {
          for (let more = 0; more < 8; more += 1) row.cells[3].after(row.cells[3].cloneNode(true));
        }
        return { ...before, wide: pills().filter(beyond).length, clipped: clippedBefore, clippedRare };""",
        f"--window-size={width + 100},900",
    )
    assert found["pills"] > 0
    assert (found["beyond"], found["wide"]) == (0, 0)
    assert (found["clipped"], found["clippedRare"]) == ([], [])


@pytest.mark.parametrize("theme", [DARK, LIGHT])
def test_on_a_phone_every_number_is_in_sight_with_its_name(page_with_intervals, browser, theme):
    found = browser.told(
        framed(page_with_intervals, 390),
        TABLES
        + """
        const views = [...page.querySelectorAll("input.view")];
        views.slice(1).forEach((box) => box.click());
        const numbers = [...page.querySelectorAll("tbody td.num")].filter((cell) => cell.closest(".scroll"));
        const named = (cell) => frame.contentWindow.getComputedStyle(cell, "::before").content;
        const cards = numbers.filter((cell) => cell.closest(".cards"));
        return { numbers: numbers.length, beyond: numbers.filter(beyond).map(of), clipped: clipped.map(of),
                 names: [...new Set(cards.map(named))] };""",
        "--window-size=1000,900",
        theme,
    )
    assert found["numbers"] > 100
    assert (found["beyond"], found["clipped"]) == ([], [])
    assert {'"P50, us"', '"P99, ms"', '"Over 100 ms, of operations"', '"Seed"'} <= set(found["names"])
    assert '""' not in found["names"]


def test_hovering_names_condition_and_trial_and_ticks_are_whole_numbers(page, browser):
    found = browser.told(
        page,
        READY
        + PRINTING
        + """
        const pause = () => new Promise((next) => setTimeout(next, 100));
        await pause();
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
            Plotly.Fx.hover(canvas, [{ curveNumber, pointNumber: 0 }]);
            await pause();
            const labels = [...canvas.querySelectorAll(".hoverlayer .hovertext, .hoverlayer .legend")];
            const shown = labels.map((label) => label.textContent).join(" ");
            (texts[key] ??= []).push([trace.legendgroup ?? "", shown]);
          }
        }
        return { texts, ticks };""",
        "--window-size=1300,2000",
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
    found = browser.told(
        page,
        """const controls = [...document.querySelectorAll("a, button, summary")];
           const unreachable = controls.filter((control) => control.tabIndex < 0);
           const fold = document.querySelector("details.condition");
           fold.querySelector("summary").focus();
           const focused = document.activeElement === fold.querySelector("summary");
           document.getElementById("open-all").click();
           const open = [...document.querySelectorAll("details.condition")].every((details) => details.open);
           return { controls: controls.length, unreachable: unreachable.length, focused, open };""",
    )
    assert found["controls"] > 20
    assert (found["unreachable"], found["focused"], found["open"]) == (0, True, True)


@pytest.mark.parametrize(("theme", "option"), [("light", LIGHT), ("dark", DARK)])
def test_the_first_screen_looks_as_it_did(page, browser, theme, option):
    """Compared are means of cells of 40 by 40 pixels, so that a word more or less is no difference.

    The pictures are of one font; where another one is installed, lines break elsewhere. After a wanted
    change, put the cells that the message names into first_screens.json.
    """
    references = json.loads(REFERENCE.read_text())
    font = browser.told(
        "<!doctype html><body></body>",
        """const context = document.createElement("canvas").getContext("2d");
           context.font = "100px system-ui";
           return Math.round(context.measureText("Latency by condition").width);""",
    )
    if font != references["text_width"]:
        pytest.skip(f"another font: a text is {font} wide, and {references['text_width']} in the references")
    cells, wanted = browser.grey(page, 1280, 960, option), references[theme]
    assert (len(cells), len(cells[0])) == (len(wanted), len(wanted[0]))
    apart = [
        abs(a - b)
        for row, wanted_row in zip(cells, wanted, strict=True)
        for a, b in zip(row, wanted_row, strict=True)
    ]
    # A word changes a cell by some ten levels; a part that is missing or moved changes hundreds of cells.
    assert sum(difference > 12 for difference in apart) < len(apart) / 25, json.dumps(cells)
