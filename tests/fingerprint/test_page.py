"""The page of a fingerprint, and what the fitted bucket looks like in it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from documents import fingerprint

from crosswind.cli._main import run
from crosswind.fingerprint.page import render
from crosswind.fingerprint.pictures import fitted_steps, pictures
from crosswind.fingerprint.trace.traffic_trace import TrafficTrace


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
    assert "<script>alert(1)" not in render(fingerprint(1) | {"condition": "<script>alert(1)</script>"})


def test_a_network_without_a_bucket_or_a_common_clock_has_a_page_too() -> None:
    document = fingerprint(1, budget_bits=None)
    document["delay"] |= {"packets": 0, "one_way_ns": {}, "each_ns": []}
    page = render(document)
    # 100 Mbit/s for three seconds without a fall: a bound, and not that there is none.
    assert "Not within 300 Mbit" in page.replace("\u00a0", " ")
    assert "it held at least that, less what came back" in page
    assert "no common clock" in page
    assert {picture.key for picture in pictures(document)} == {"trace", "goodput", "connections"}


def test_the_fitted_bucket_refills_in_a_rest() -> None:
    # 100 Mbit/s for 1 s, then 10; a rest of 3 s gives back 30 Mbit, a third of a second of the high rate.
    trace = TrafficTrace.of([0.0, 5.0], [2.0, 6.0], [110e6, 40e6])
    levels = {"high_bps": 100e6, "low_bps": 10e6, "refill_bps": 10e6}
    bucket = {name: {"value": value} for name, value in levels.items()} | {"emptied_s": 1.0}
    corners = [corner for corner in fitted_steps(trace, bucket) if corner[0] is not None]
    assert corners == [
        *((0.0, 100e6), (1.0, 100e6), (1.0, 10e6), (2.0, 10e6)),
        *((5.0, 100e6), (pytest.approx(5 + 1 / 3), 100e6), (pytest.approx(5 + 1 / 3), 10e6), (6.0, 10e6)),
    ]
