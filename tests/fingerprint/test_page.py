"""The page of a fingerprint, and what the fitted bucket looks like in it."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from chromium import Chromium, needs_chromium
from documents import document, fingerprint, machines, spread, transfer

from crosswind.analysis.network.token_bucket import TokenBucket
from crosswind.analysis.network.traffic_trace import TrafficTrace
from crosswind.cli._main import run
from crosswind.fingerprint.machine_state import changes, states
from crosswind.fingerprint.page import render
from crosswind.fingerprint.pictures import fitted_steps, pictures
from crosswind.stats import Bounded


def test_the_verb_writes_the_page_beside_the_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "monday.json"
    file.write_text(json.dumps(fingerprint(1)))
    assert run(["report", str(file)]) == 0
    assert "monday.html" in capsys.readouterr().out
    page = (tmp_path / "monday.html").read_text()
    assert "default-src 'none'" in page
    assert "src=" not in page.partition("<script")[0]
    for told in ("90.0 Mbit deep", "one-way delay (median)", "10 % + 2.00 us", "A bucket: the low rate"):
        assert told in page.replace("\u00a0", " "), told
    assert run(["report", str(file), "--json"]) == 2


def test_a_name_from_the_file_cannot_become_markup() -> None:
    assert "<script>alert(1)" not in render(
        document(fingerprint(1) | {"condition": "<script>alert(1)</script>"})
    )


def test_a_network_without_a_bucket_or_a_common_clock_has_a_page_too() -> None:
    content = fingerprint(1, budget_bits=None)
    content["delay"] |= {"packets": 0, "one_way_ns": {}, "each_ns": []}
    page = render(document(content))
    # 100 Mbit/s for three seconds without a fall: a bound, and not that there is none.
    assert "Not within 300 Mbit" in page.replace("\u00a0", " ")
    assert "it held at least that, less the refill of that time" in page
    assert "no common clock" in page
    assert {picture.key for picture in pictures(document(content))} == {"trace", "goodput", "connections"}


def looked_at_twice(**after: Any) -> dict[str, Any]:
    """Return a fingerprint of two nodes on one machine, with the CPU time of its ends."""
    content = fingerprint(1)
    seen = {"before": machines(), "after": machines(load=3.25, **after)}
    rates = ((1, 50e6), (8, 90e6))
    return content | {
        "machines": seen,
        "provenance_after": content["provenance"],
        "capacity": [
            {
                "connections": connections,
                "goodput_bps": spread(goodput_bps),
                "jain": spread(1.0),
                "repetitions": [transfer(goodput_bps, cpu_s_per_gb=cost) for cost in (1.0, 2.0, 6.0)],
            }
            for connections, goodput_bps in rates
        ],
        "writes": [{"write_bytes": 1024, "message_ns": [], "stream": transfer(40e6)}],
    }


def test_what_the_machine_did_before_and_after_stands_on_the_page() -> None:
    found = document(looked_at_twice())
    assert changes(found) == []
    (one,) = states(found)
    rows = {row.what: (row.before, row.after) for row in one.rows}
    assert rows["load average of 1, 5 and 15 min on 2 cores"] == ("0.250, 0.200, 0.100", "3.25, 0.200, 0.100")
    assert rows["memory in use"][0].replace("\u00a0", " ") == "2.00 GB (25 %)"
    assert rows["through eth0, received and sent"][1].replace("\u00a0", " ") == "2.00 Mbit/s and 1.00 Mbit/s"
    # 0.3 s of 3 s on two cores.
    assert rows["CPU time taken by the hypervisor meanwhile"][1].replace("\u00a0", " ") == "5.0 %"
    assert not any("lo" in what.split() for what in rows)
    page = render(found)
    assert "No setting, device or tool changed" in page


def test_what_somebody_changed_meanwhile_is_named() -> None:
    found = document(looked_at_twice(sysctl="8192"))
    named = "the near end, sysctls.tcp_rmem: 4096 before, 8192 after"
    assert named in (changes(found) or [])
    assert named in render(found)
    assert "3 things changed" in render(found)


def test_where_nobody_looked_afterwards_nothing_is_called_unchanged() -> None:
    content = looked_at_twice() | {"machines": {"before": machines()}, "provenance_after": None}
    found = document(content)
    assert changes(found) is None
    assert "were not inspected afterwards" in render(found)
    assert "Did the machines change?" not in render(found)


def test_cpu_time_of_both_ends_is_drawn_for_each_number_of_connections() -> None:
    drawn = {picture.key: picture for picture in pictures(document(looked_at_twice()))}
    lines = {line["name"]: line for line in drawn["cpu"].spec["data"] if line["mode"] == "lines"}
    assert list(lines["sender"]["y"]) == [2.0, 2.0]
    assert list(lines["receiver"]["y"]) == [4.0, 4.0]
    assert "cpu_writes" in drawn


@needs_chromium
@pytest.mark.parametrize(("width", "dark"), [(390, True), (1300, False)])
def test_a_browser_draws_all_of_it_on_every_screen(
    tmp_path: Path, browser: Chromium, width: int, dark: bool
) -> None:
    page = tmp_path / "page.html"
    page.write_text(render(document(looked_at_twice(sysctl="8192"))))
    browser.open(f"file://{page}", width=width, dark=dark)
    browser.await_true("window.Plotly")
    found = browser.run(
        """dispatchEvent(new Event("beforeprint"));
           dispatchEvent(new Event("afterprint"));
           const wide = [...document.querySelectorAll("main *")].filter((part) =>
             !part.closest(".scroll, pre, svg") && part.getBoundingClientRect().right > innerWidth + 1);
           const drawn = [...document.querySelectorAll(".canvas")].every((canvas) =>
             canvas.querySelector("svg.main-svg"));
           return { inner: innerWidth, wide: wide.map((part) => part.className), drawn };"""
    )
    assert found == {"inner": width, "wide": [], "drawn": True}


def test_the_fitted_bucket_refills_in_a_rest() -> None:
    # 100 Mbit/s for 1 s, then 10; a rest of 3 s gives back 30 Mbit, a third of a second of the high rate.
    trace = TrafficTrace.of([0.0, 5.0], [2.0, 6.0], [110e6, 40e6])
    high, low = (Bounded(rate, rate, rate) for rate in (100e6, 10e6))
    bucket = TokenBucket(kind="bucket", high_bps=high, low_bps=low, refill_bps=low, emptied_s=1.0)
    corners = [corner for corner in fitted_steps(trace, bucket) if corner[0] is not None]
    assert corners == [
        *((0.0, 100e6), (1.0, 100e6), (1.0, 10e6), (2.0, 10e6)),
        *((5.0, 100e6), (pytest.approx(5 + 1 / 3), 100e6), (pytest.approx(5 + 1 / 3), 10e6), (6.0, 10e6)),
    ]
