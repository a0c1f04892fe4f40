"""A bucket that outlives trials: it drains, the guard says so, and a rest brings it back."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import duckdb
import pytest

from crosswind.analysis.cautions.of_run import cautions
from crosswind.analysis.summarise import summarise

if TYPE_CHECKING:
    from conftest import Live

# 16 Mbit a trial from a bucket of 60.
DRAINING = """
name: live
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 50us, buffer: 512KiB}
  nodes: {client: h0, server: h1}
conditions:
  - bucket:
      host.egress: [{credit: {budget: 60Mbit, high: 100Mbit/s, low: 10Mbit/s, refill: REFILL, buffer: 64KiB, on: [client]}}]
application: {traffic: {message: 2MB, count: 1, warm_up: 0s}}
trials: {repeat: 3, budgets: kept, rest: REST}
"""  # noqa: E501


@pytest.mark.parametrize(("rest", "refill"), [("0s", "1Mbit/s"), ("auto", "10Mbit/s")])
def test_trials_find_what_the_last_one_left_and_a_rest_brings_it_back(
    live: Live, rest: str, refill: str
) -> None:
    (live.folder / "live.yaml").write_text(DRAINING.replace("REST", rest).replace("REFILL", refill))
    said = live.measured("live.yaml")
    summary = summarise(live.run_folder)
    (bucket,) = summary.conditions[0].buckets
    levels = [round(8 * level / 1e6) for level in bucket.level_bytes]
    left = [8 * level / 1e6 for level in bucket.left_bytes]
    assert levels[0] == 60
    assert left[0] < levels[0]
    titles = {caution.title for caution in cautions(summary)}
    if rest == "auto":
        assert levels == [60, 60, 60]
        assert "rest of" in said
        assert "Interval refused under bucket" not in titles
    else:
        assert levels[2] < levels[1] < 60, "starting a trial takes less than the 16 s that would refill it"
        assert "the credit bucket client/host.egress/0:credit held 60 Mbit when the first trial" in said
        assert "Interval refused under bucket" in titles
    trial = sorted((live.run_folder / "monitors").glob("*.credit.parquet"))[0]
    rows = duckdb.sql(f"SELECT element, left_bits FROM '{trial}' ORDER BY at_ns").fetchall()
    assert {element for element, _ in rows} == {"client/host.egress/0:credit"}
    # The trial ends within a second step of 100 ms. In it the bucket drains on, or refills once all is sent.
    refilled_bits = 0.1 * float(refill.removesuffix("Mbit/s")) * 1e6
    assert 8 * bucket.left_bytes[0] - refilled_bits <= min(bits for _, bits in rows) < 60e6
    kept = json.loads((live.run_folder / "budgets.json").read_text())
    assert set(kept["bucket"]) == {"client/host.egress/0:credit"}
