"""iperf3, nuttcp and sockperf between nodes, with and without a token bucket; skipped where they are "
"missing."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import duckdb
import pytest

from crosswind.app import find
from crosswind.testbed.folders import cache_folder

if TYPE_CHECKING:
    from conftest import Live

EXPERIMENT = """
name: live
topology:
  hosts: 2
  uplink: {{rate: 1Gbit/s, delay: 100us, buffer: 256KiB}}
  nodes: {{server: h0, client: h1}}
conditions:
  - none
  - bucket: {{host.egress: [{{shape: {{rate: 20Mbit/s, burst: 16kB, buffer: 100ms}}}}]}}
application: {{{application}}}
trials: {{repeat: 3, rest: 0s, seed: 7}}
"""


def measure(live: Live, application: str, metric: str, statistic: str) -> dict[str, list[float]]:
    """Run three trials of each condition; return the values of a metric by condition."""
    name = application.partition(":")[0]
    for missing in find(name).missing():
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    (live.folder / "live.yaml").write_text(EXPERIMENT.format(application=application))
    status, said = live.run("run", "live.yaml", timeout_s=180)
    assert status == 0, said
    return values(live, metric, statistic)


def values(live: Live, metric: str, statistic: str) -> dict[str, list[float]]:
    folder = live.run_folder
    rows: list[tuple[Any, ...]] = duckdb.execute(
        f"SELECT condition, list(value) FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' "
        "USING (trial) WHERE metric = ? AND statistic = ? GROUP BY 1",
        [metric, statistic],
    ).fetchall()
    found = dict(rows)
    assert {condition: len(each) for condition, each in found.items()} == {"none": 3, "bucket": 3}
    return found


# A link of 1 Gbit/s against a bucket of 20 Mbit/s: on a busy machine the former may fall to a tenth, and the
# latter cannot be exceeded but by its burst (16 kB in 1 s are 0.13 Mbit/s) and by what nuttcp's staggered
# windows add up to.
BUCKET_BPS = 20e6


@pytest.mark.parametrize(
    "application",
    [
        "iperf3: {streams: 4, duration: 1s}",
        "iperf3: {streams: 2, duration: 1s, warm_up: 0s, protocol: udp, rate: 50Mbit/s}",
        "nuttcp: {streams: 3, duration: 2s}",
        "traffic: {connections: 4, duration: 1s}",
    ],
)
def test_a_bucket_takes_goodput_away(live: Live, application: str) -> None:
    goodput = measure(live, application, "goodput", "mean")
    assert max(goodput["bucket"]) < 1.2 * BUCKET_BPS
    assert min(goodput["none"]) > 1.5 * max(goodput["bucket"])
    assert min(goodput["bucket"]) > 0
    assert all(1 / 4 <= value <= 1 for each in values(live, "fairness", "jain").values() for value in each)


def test_a_bucket_makes_a_shuffle_last(live: Live) -> None:
    # 8 x 500 kB each way are 32 Mbit: 1.6 s through the bucket, less its burst, and 0.04 s through the link.
    shuffle = "traffic: {pattern: many-to-many, connections: 4, message: 500kB, count: 2, warm_up: 0s}"
    completion = measure(live, shuffle, "completion", "max")
    assert min(completion["bucket"]) > 1.55e9
    assert max(completion["none"]) < min(completion["bucket"])
    assert {value for each in values(live, "operations", "count").values() for value in each} == {16}


def test_a_bucket_makes_messages_wait(live: Live) -> None:
    # 3000 messages of 1000 bytes a second are 25 Mbit/s with their headers: more than the bucket, whose queue
    # fills to its 100 ms on the way there.
    latency = measure(live, "sockperf: {message: 1000B, rate: 3000/s, duration: 1s}", "latency", "p50")
    assert min(latency["bucket"]) > 50e6
    assert max(latency["none"]) < min(latency["bucket"])
    operations = values(live, "operations", "count")
    assert min(operations["none"]) > 1000
