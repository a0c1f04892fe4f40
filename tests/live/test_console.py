"""The console: what a user moves in the browser is felt by packets at once, and is saved as a condition."""

from __future__ import annotations

import json
import re
import signal
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit
from urllib.request import Request, urlopen

import pytest
from axe import AXE, findings
from chromium import Chromium, needs_chromium
from consoles import CHOOSE_FAR, console, opened_console, url_of

if TYPE_CHECKING:
    from conftest import Live

MOVE = """(() => {{
  const found = document.getElementById('{}');
  found.value = {};
  found.dispatchEvent(new Event('input'));
}})()"""
# The values beside the titles of the two charts of an application.
OPERATIONS = """[...document.querySelectorAll('#charts figcaption .value')].slice(0, 2)
  .map((value) => [...value.children].map((each) => each.textContent).join(', '))"""
LATENCIES = re.compile(r"(\S+ (µs|ms)(, )?){3}")
SAVED = """fetch('/api/saved', {headers: {Authorization: `Bearer ${location.hash.slice(1)}`}})
  .then((answer) => answer.text())"""
LABELS = """JSON.stringify([...document.querySelectorAll('#sliders input')]
  .map((input) => [input.labels[0].textContent, input.getAttribute('aria-valuetext')]))"""


@pytest.fixture
def opened(live: Live) -> Iterator[tuple[Live, str, Chromium]]:
    with opened_console(live) as (url, page):
        yield live, url, page


@needs_chromium
def test_what_was_moved_is_saved_and_validates(opened: tuple[Live, str, Chromium]) -> None:
    live, url, page = opened
    for slider, position in (
        ("delay_us", 100),
        ("jitter_us", 60),
        ("loss_ppm", 80),
        ("rate_bps", 120),
        ("buffer_bytes", 90),
    ):
        page.value(MOVE.format(slider, position))
        page.await_true(f"document.querySelector('#done li').textContent.includes('{slider.split('_')[0]}')")
    page.await_true("document.getElementById('active').textContent === 'by-hand'")
    # The stream of a page that is opened again begins before the moves.
    page.open(url)
    page.await_true("document.getElementById('active').textContent === 'by-hand'")
    page.await_true("document.getElementById('late').textContent !== ''")
    assert page.value("document.getElementById('delay_us').value") == "100"
    saved = page.value(SAVED)
    (live.folder / "by-hand.yaml").write_text(saved)
    status, said = live.run("validate", "by-hand.yaml")
    assert (status, said) == (0, "by-hand.yaml: valid file of conditions\n"), saved
    # It can be applied as any other, with its timeline, and the page shows that somebody else did.
    status, said = live.run("set", "by-hand.yaml")
    assert status == 0, said
    page.value(CHOOSE_FAR)
    page.await_true("document.getElementById('active').textContent === 'far'")
    assert live.run("set", "none")[0] == 0
    page.await_true("document.getElementById('active').textContent === 'none'")
    status, said = live.run("up", "network.yaml", "--condition", "by-hand.yaml")
    assert status == 0, said
    assert said.endswith("ready\nended: its input ended\n")


@needs_chromium
def test_the_page_shows_what_runs_and_loads_nothing_from_elsewhere(
    opened: tuple[Live, str, Chromium],
) -> None:
    _, url, page = opened
    page.await_true("document.querySelectorAll('#charts canvas').length >= 7")
    own = urlsplit(url)
    assert {urlsplit(each).netloc for each in page.requested if each.startswith("http")} == {own.netloc}
    assert not any(own.fragment in each.partition("#")[0] for each in page.requested)
    # Sliders can be reached and read without a pointer.
    labels = page.value(LABELS)
    assert json.loads(labels) == [
        ["Delay", "0"], ["Jitter", "0"], ["Loss", "0 %"], ["Rate", "100 Mbit/s"], ["Buffer", "65.5 kB"],
    ]  # fmt: skip
    for width in (1280, 390):
        page.open(url, width=width)
        page.await_true("document.getElementById('state').textContent === 'live'")
        assert page.value("document.documentElement.scrollWidth") == width
    assert page.errors == []


@needs_chromium
def test_who_is_cut_off_is_shown(opened: tuple[Live, str, Chromium]) -> None:
    live, url, page = opened
    marked = "document.querySelectorAll('#picture .cut-off').length"
    hidden = "document.getElementById('cut-off').hidden"
    assert (page.value(hidden), page.value(marked)) == (True, 0)
    assert live.run("fault", "partition", "a | b")[0] == 0
    page.await_true("document.getElementById('cuts').textContent === 'a | b'")
    assert (page.value(hidden), page.value(marked)) == (False, 2)
    # It is no condition, and stays where the page is opened again.
    assert page.value("document.getElementById('active').textContent") == "far"
    page.open(url)
    page.await_true("document.getElementById('cuts').textContent === 'a | b'")
    assert live.run("fault", "heal")[0] == 0
    page.await_true(hidden)
    assert page.value(marked) == 0
    assert page.errors == []


@needs_chromium
def test_a_node_that_a_hand_has_paused_or_killed_is_shown(opened: tuple[Live, str, Chromium]) -> None:
    live, url, page = opened
    hit = "document.getElementById('hit').textContent"
    badges = "[...document.querySelectorAll('#picture .badges')].map((each) => each.dataset.states)"
    assert live.run("fault", "pause", "a")[0] == 0
    page.await_true(f"{hit} === 'a paused'")
    assert page.value(badges) == ["paused"]
    named = "document.querySelector('[data-host=h0]').getAttribute('aria-label')"
    assert page.value(named) == "Show host h0: a paused"
    assert live.run("fault", "kill", "b")[0] == 0
    page.await_true(f"{hit} === 'a paused, b killed'")
    # It stays where the page is opened again, and ends with what ends it.
    page.open(url)
    page.await_true(f"{hit} === 'a paused, b killed'")
    assert live.run("fault", "resume", "a")[0] == 0
    assert live.run("exec", "b", "--", "true")[0] == 0
    page.await_true("document.getElementById('hit').parentElement.hidden")
    assert page.value(badges) == []
    assert page.errors == []


@needs_chromium
def test_the_end_of_the_network_is_shown(live: Live) -> None:
    with Chromium(live.folder / "profile") as page:
        with console(live) as url:
            page.open(url)
            page.await_true("document.getElementById('state').textContent === 'live'")
        page.await_true("document.getElementById('state').textContent !== 'live'")


@needs_chromium
def test_a_link_and_a_place_are_opened_with_the_keyboard(opened: tuple[Live, str, Chromium]) -> None:
    _, _, page = opened
    place = "document.getElementById('place').selectedOptions[0].textContent"
    for key, label in (("Enter", "Show host h1"), (" ", "Show h0 to switch and switch to h0")):
        page.await_true(f"!!document.querySelector('[aria-label=\"{label}\"]')")
        focused = page.value(
            f"(() => {{ const found = document.querySelector('[aria-label=\"{label}\"]'); found.focus();"
            f" found.dispatchEvent(new KeyboardEvent('keydown', {{key: '{key}', bubbles: true}}));"
            " return document.activeElement === found; })()"
        )
        assert focused
        assert page.value(place) == label[-2:] + " (" + {"h1": "b", "h0": "a"}[label[-2:]] + ")"


@needs_chromium
def test_a_run_is_shown_while_it_runs_and_again_when_it_has_ended(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=3, duration="1s")
    with (
        live.serving("console: ", "run", file, "--console") as (process, said),
        Chromium(live.folder / "profile") as page,
    ):
        page.open(url_of(said))
        page.await_true("document.querySelectorAll('#conditions-so-far tr').length === 2", timeout_s=60)
        # The network of a trial, while it runs.
        page.await_true("document.getElementById('active').textContent === 'slow'", timeout_s=60)
        page.await_true("document.querySelectorAll('#picture .in-use').length > 0", timeout_s=60)
        # What the application does, while it does it: operations of all kinds, and three latencies.
        page.await_true(f"/^[1-9].*s, 0$/.test(({OPERATIONS})[0])", timeout_s=60)
        assert LATENCIES.fullmatch(page.value(f"({OPERATIONS})[1]"))
        page.await_true("document.getElementById('now').textContent === 'The run has ended.'", timeout_s=120)
        assert page.value("document.getElementById('blocks').textContent") == "3 of 3 blocks"
        assert page.value("document.querySelectorAll('#ended li').length") >= 6
        assert page.errors == []
    live.check_measured(process.returncode, "".join(said))
    with (
        live.serving("console: ", "console", str(live.run_folder)) as (_, said),
        Chromium(live.folder / "profile") as page,
    ):
        page.open(url_of(said))
        page.await_true("document.querySelectorAll('#trials button').length >= 6")
        page.await_true("document.querySelectorAll('#charts canvas').length >= 8")
        page.value(MOVE.format("time", 5))
        # The same charts as live.
        throughput, latencies = page.value(OPERATIONS)
        assert re.fullmatch(r"[1-9]\S*/s, 0", throughput)
        assert LATENCIES.fullmatch(latencies)
        assert page.value("document.getElementById('clock').textContent").startswith("0.5 s of ")
        # A trial of this experiment sends all the time, in both directions.
        assert page.value("document.querySelectorAll('#picture .in-use').length") > 0
        page.value("document.getElementById('play').click()")
        page.await_true("document.getElementById('play').textContent === 'Play'")
        assert int(page.value("document.getElementById('time').value")) >= 9
        assert page.errors == []


def streamed(url: str) -> list[dict[str, Any]]:
    """Return every event that the page of a run gets, up to its end."""
    address, _, token = url.partition("#")
    request = Request(f"{address}api/stream", headers={"Authorization": f"Bearer {token}"})
    with urlopen(request) as stream:
        return [json.loads(line) for line in stream]


def check_shown(events: list[dict[str, Any]], application: str) -> None:
    """Check that a run is shown with its trials, their network and their application."""
    kinds = {event["event"] for event in events}
    assert {"run-begun", "trial-begun", "step", "trial-ended", "so-far", "run-ended"} <= kinds
    (of,) = {event["application"] for event in events if event["event"] == "operations"}
    assert of == application
    assert sum(event["ended"] for event in events if event["event"] == "operations") > 0


def test_a_run_that_goes_on_is_shown(live: Live, experiment: Callable[..., str]) -> None:
    process = live.start("run", experiment(repeat=2))
    live.await_step("prepared")
    process.send_signal(signal.SIGINT)
    process.communicate(timeout=60)
    with live.serving("console: ", "resume", str(live.run_folder), "--console") as (_, said):
        events = streamed(url_of(said))
    check_shown(events, "rpc")
    assert events[-1]["exit"] == 0


@pytest.mark.long
def test_the_demo_is_shown(live: Live) -> None:
    with live.serving("console: ", "demo", "--app", "rpc", "--console") as (_, said):
        check_shown(streamed(url_of(said)), "rpc")


@needs_chromium
@AXE
def test_axe_finds_nothing_serious_in_a_page_that_is_up(opened: tuple[Live, str, Chromium]) -> None:
    _, url, page = opened
    assert findings(page, url, "document.querySelectorAll('#charts canvas').length >= 7") == []


@pytest.mark.long
@needs_chromium
@AXE
def test_axe_finds_nothing_serious_in_a_run_and_its_replay(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=2, duration="5s")
    with (
        live.serving("console: ", "run", file, "--console") as (_, said),
        Chromium(live.folder / "profile") as page,
    ):
        ready = "document.querySelectorAll('#conditions-so-far tr').length === 2"
        page.open(url_of(said))
        page.await_true(ready, timeout_s=60)
        assert findings(page, url_of(said), ready) == []
    with (
        live.serving("console: ", "console", str(live.run_folder)) as (_, said),
        Chromium(live.folder / "profile") as page,
    ):
        assert findings(page, url_of(said), "document.querySelectorAll('#charts canvas').length >= 8") == []
