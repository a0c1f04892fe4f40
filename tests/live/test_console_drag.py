"""The console: a slider that is dragged is felt by pings at once, and the page shows what they measure."""

from __future__ import annotations

import contextlib
import json
import math
import statistics
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

import pytest
from chromium import Chromium, needs_chromium
from consoles import BULK, opened_console, pings, read_pings

if TYPE_CHECKING:
    from conftest import Live

DELAY_SHOWN = "document.querySelector('#sliders output').textContent"
# The value beside the title of the round trip's chart, and each that it has had since, with its instant.
TRIP = "[...document.querySelectorAll('#charts figcaption')].at(-1).querySelector('.value')"
TRIP_SHOWN = f"{TRIP}.textContent"
# Charts are made anew when a line joins them, so all of them are watched.
NOTE_SHOWN = f"""(() => {{
  window.shown = [];
  const now = () => performance.timeOrigin + performance.now();
  new MutationObserver(() => window.shown.push([now(), {TRIP_SHOWN}]))
    .observe(document.getElementById('charts'), {{characterData: true, childList: true, subtree: true}});
}})()"""
SHOWN = "JSON.stringify(window.shown)"


@dataclass(frozen=True)
class Dragged:
    """A slider at its new position, and from when a ping and the page had the round trip that belongs to it.

    Attributes:
        trip_ns: of four wires, each with the delay of the slider.
        felt_ns: when the first ping was sent that took this long.
        shown_ns: when the page showed it.
        ping_ns, page_ns: the round trip a second after the move: median of pings, and on the page.
    """

    at_ns: int
    trip_ns: int
    felt_ns: float
    shown_ns: float
    ping_ns: float
    page_ns: int


def dragged(live: Live, page: Chromium, positions: list[int]) -> list[Dragged]:
    """Drag the delay slider to each position, while a program of the user's pings through the network."""
    page.value(NOTE_SHOWN)
    moves = []
    with pings(live) as file:
        for position in positions:
            at_ns = page.slide("delay_us", position)
            time.sleep(1.0)
            moves.append((at_ns, 4 * ns_of(page.value(DELAY_SHOWN)), ns_of(page.value(TRIP_SHOWN))))
    trips = read_pings(file)
    # The page's clock is that of the day.
    ahead_ns = time.time_ns() - time.monotonic_ns()
    shown = [(at_ms * 1e6 - ahead_ns, ns_of(words)) for at_ms, words in json.loads(page.value(SHOWN))]
    return [
        Dragged(
            at_ns, trip_ns,
            felt_ns=next((sent for sent, trip in trips if sent >= at_ns and near(trip, trip_ns)), math.inf),
            shown_ns=next((at for at, trip in shown if at >= at_ns and near(trip, trip_ns)), math.inf),
            ping_ns=statistics.median(trip for sent, trip in trips if 5e8 < sent - at_ns < 9e8),
            page_ns=page_ns,
        )
        for at_ns, trip_ns, page_ns in moves
    ]  # fmt: skip


def near(trip_ns: int, expected_ns: int) -> bool:
    """Return whether a round trip is the expected one, and what waits in queues."""
    return 0.98 * expected_ns <= trip_ns <= expected_ns + 30_000_000


def ns_of(text: str) -> int:
    """Return a time that the page shows; 0 where it shows none, such as after steps that were lost."""
    number, _, unit = text.partition(" ")
    return round(float(number) * {"µs": 1e3, "ms": 1e6, "s": 1e9}[unit]) if unit else 0


@needs_chromium
@pytest.mark.parametrize("beside", ["nothing", pytest.param("bulk", marks=pytest.mark.long)])
def test_a_slider_that_is_dragged_is_felt_by_a_ping_and_shown_at_once(live: Live, beside: str) -> None:
    with (
        opened_console(live) as (_, page),
        bulk(live) if beside == "bulk" else contextlib.nullcontext(),
    ):
        # About 20 ms and 60 ms, again and again.
        moves = dragged(live, page, [117, 141, 117, 141, 117])
        assert page.errors == []
    felt_ms = [(move.felt_ns - move.at_ns) / 1e6 for move in moves]
    shown_ms = [(move.shown_ns - move.at_ns) / 1e6 for move in moves]
    agree = [(round(move.ping_ns / 1e6, 1), round(move.page_ns / 1e6, 1)) for move in moves]
    print(f"beside {beside}: felt after {felt_ms} ms, shown after {shown_ms} ms; ping and page: {agree} ms")
    assert all(60e6 < move.trip_ns < 320e6 for move in moves), moves
    # 200 ms are wanted, and kept on a quiet machine (docs/lab/2026-11-console.md). Here the cores do other
    # things, too; a move that waited for anything but a core would take longer.
    assert statistics.median(felt_ms) < 1000, felt_ms
    assert statistics.median(shown_ms) < 1000, shown_ms
    # What waits in the queue differs from step to step: 64 KiB of it last 5 ms.
    assert statistics.median(abs(ping - shown) for ping, shown in agree) < 7, agree


@contextmanager
def bulk(live: Live) -> Iterator[None]:
    """Let bytes flow from a to b while the block runs."""
    (live.folder / "bulk.py").write_text(BULK)
    takes = live.start("exec", "b", "--", sys.executable, "bulk.py", "take")
    assert takes.stdout is not None
    assert takes.stdout.readline() == "takes\n"
    sends = live.start("exec", "a", "--", sys.executable, "bulk.py", "send", "60")
    try:
        yield
    finally:
        for process in (sends, takes):
            process.terminate()
            process.communicate()
