"""iperf3, nuttcp, sockperf and Crosswind's own `traffic` and `rpc` between nodes, with and without a token
bucket; skipped where they are missing."""

from __future__ import annotations

import os
import signal
import time
from pathlib import Path
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
  wait: sleep
  nodes: {{server: h0, client: h1}}
conditions:
  - none
  - bucket: {{host.egress: [{{shape: {{rate: 20Mbit/s, burst: 16kB, buffer: 100ms}}}}]}}
application: {{{application}}}
trials: {{repeat: 1, rest: 0s, seed: 7}}
"""


def measure(live: Live, application: str, metric: str, statistic: str) -> dict[str, float]:
    """Run a trial of each condition; return a metric by condition."""
    name = application.partition(":")[0]
    for missing in find(name).missing():
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    (live.folder / "live.yaml").write_text(EXPERIMENT.format(application=application))
    live.measured("live.yaml", timeout_s=180)
    return values(live, metric, statistic)


def values(live: Live, metric: str, statistic: str) -> dict[str, float]:
    folder = live.run_folder
    rows: list[tuple[Any, ...]] = duckdb.execute(
        f"SELECT condition, value FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' "
        "USING (trial) WHERE metric = ? AND statistic = ? AND fidelity <> 'void'",
        [metric, statistic],
    ).fetchall()
    found = dict(rows)
    assert found.keys() == {"none", "bucket"}
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
        pytest.param("nuttcp: {streams: 3, duration: 1s}", marks=pytest.mark.long),
        "traffic: {connections: 4, duration: 1s}",
    ],
)
def test_a_bucket_takes_goodput_away(live: Live, application: str) -> None:
    goodput = measure(live, application, "goodput", "mean")
    assert goodput["bucket"] < 1.2 * BUCKET_BPS
    assert goodput["none"] > 1.5 * goodput["bucket"]
    assert goodput["bucket"] > 0
    assert all(1 / 4 <= value <= 1 for value in values(live, "fairness", "jain").values())
    if application.startswith("traffic"):
        round_trip = values(live, "rtt", "mean")
        # The links alone are 400 us there and back, and the buffer of the bucket is 100 ms.
        assert round_trip["none"] > 400e3
        assert 20e6 < round_trip["bucket"] < 200e6


def test_a_bucket_makes_a_shuffle_last(live: Live) -> None:
    # 8 x 500 kB each way are 32 Mbit: 1.6 s through the bucket, less its burst, and 0.04 s through the link.
    shuffle = "traffic: {pattern: many-to-many, connections: 4, message: 500kB, count: 2, warm_up: 0s}"
    completion = measure(live, shuffle, "completion", "max")
    assert completion["bucket"] > 1.55e9
    assert completion["none"] < completion["bucket"]
    assert values(live, "operations", "count") == {"none": 16, "bucket": 16}


def test_a_bucket_makes_answers_wait(live: Live) -> None:
    answers = "rpc: {response: 100kB, connections: 2, duration: 300ms, warm_up: 100ms}"
    latency = measure(live, answers, "latency", "p50")
    # What the burst leaves of an answer, at the rate of the bucket.
    assert latency["bucket"] > (100_000 - 16_000) * 8 / BUCKET_BPS * 1e9
    assert latency["none"] < latency["bucket"]


@pytest.mark.long
def test_a_bucket_makes_messages_wait(live: Live) -> None:
    # 3000 messages of 1000 bytes a second are 25 Mbit/s with their headers: more than the bucket, whose queue
    # fills to its 100 ms on the way there.
    latency = measure(live, "sockperf: {message: 1000B, rate: 3000/s, duration: 1s}", "latency", "p50")
    assert latency["bucket"] > 50e6
    assert latency["none"] < latency["bucket"]
    operations = values(live, "operations", "count")
    assert operations["none"] > 1000


@pytest.mark.parametrize(
    "application",
    ["iperf3: {duration: 3s, warm_up: 0s}", pytest.param("nuttcp: {duration: 3s}", marks=pytest.mark.long)],
)
def test_a_tool_that_loses_its_server_fails_the_trial_by_the_name_of_that_server(
    live: Live, application: str
) -> None:
    # Both may end with 0 then, and only what they printed is no result.
    name = application.partition(":")[0]
    for missing in find(name).missing():
        pytest.skip(f"{missing.what} is missing; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    text = EXPERIMENT.format(application=application)
    (live.folder / "live.yaml").write_text(text)
    run = live.start("run", "live.yaml")
    live.await_step("prepared")
    time.sleep(1)  # They are connected by then.
    os.kill(server_of(live, name), signal.SIGKILL)
    said, _ = run.communicate(timeout=60)
    assert run.returncode == 4, said
    folder = live.run_folder
    query = f"SELECT reason FROM '{folder}/trials.parquet' WHERE status = 'failed'"
    ((reason,),) = duckdb.sql(query).fetchall()
    assert "on server: ended during the load (killed by signal 9)" in reason
    assert name in reason.partition("; then ")[2]


def server_of(live: Live, name: str) -> int:
    """Return the process id of the tool's server in this test's run."""
    for entry in Path("/proc").iterdir():
        try:
            words = (entry / "cmdline").read_text().split("\0") if entry.name.isdecimal() else []
            ours = str((entry / "cwd").readlink()).startswith(str(live.folder)) if words else False
        except OSError:
            continue
        if ours and words[0].endswith(f"/{name}") and {"-s", "-S"} & set(words):
            return int(entry.name)
    raise AssertionError(f"no server of {name}")
