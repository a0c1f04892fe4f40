"""What the console costs the emulator. What it costs besides is in `bench/console.py`."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

from chromium import needs_chromium
from consoles import CHOOSE_FAR, opened_console, pings

if TYPE_CHECKING:
    from conftest import Live


@needs_chromium
def test_what_the_page_needs_costs_the_packet_thread_at_most_a_hundredth_of_a_core(live: Live) -> None:
    with opened_console(live) as (_, page), pings(live):
        page.value(CHOOSE_FAR)
        page.await_true("document.querySelectorAll('#picture .in-use').length > 0")
        time.sleep(5)
        spent = page.value("document.getElementById('spent').textContent")
    assert spent.endswith(" of a core")
    share = float(spent.removeprefix("less than ").split()[0]) / 100
    assert share <= 0.01, spent
