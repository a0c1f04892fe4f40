"""memcached, web and dns between nodes, with and without a token bucket; skipped where they are missing."""

from __future__ import annotations

from typing import TYPE_CHECKING

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
  uplink: {{rate: 1Gbit/s, delay: 10us, buffer: 256KiB}}
  wait: sleep
  nodes: {{server: h0, client: h1}}
conditions:
  - none
  - bucket: {{host.egress: [{{police: {{rate: 20Mbit/s, burst: 30kB, on: [server]}}}}]}}
application: {{{application}}}
trials: {{repeat: 1, rest: 0s, seed: 7}}
"""


def measure(live: Live, application: str, variant: str | None = None) -> None:
    """Run a trial of each condition: what the bucket does is many times what a busy machine does."""
    name = application.partition(":")[0]
    for missing in find(name).missing(variant):
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    (live.folder / "live.yaml").write_text(EXPERIMENT.format(application=application))
    live.measured("live.yaml", timeout_s=240)


def values(live: Live, metric: str, statistic: str) -> tuple[float, float]:
    """Return a metric without and with the bucket."""
    folder = live.run_folder
    found = dict(
        duckdb.execute(
            f"SELECT condition, value FROM '{folder}/metrics.parquet' JOIN '{folder}/trials.parquet' "
            "USING (trial) WHERE metric = ? AND statistic = ? AND fidelity <> 'void'",
            [metric, statistic],
        ).fetchall()
    )
    assert found.keys() == {"none", "bucket"}
    return found["none"], found["bucket"]


def test_memcached_waits_for_retransmissions_behind_a_bucket(live: Live) -> None:
    # 64 answers of 200 bytes at once fill the bucket every few milliseconds. A lost answer that nothing
    # follows on its connection is sent again after the retransmission timeout, 200 ms.
    measure(live, "memcached: {keys: 5000, connections: 64, duration: 1500ms, warm_up: 500ms}")
    without, behind = values(live, "latency", "p99")
    assert behind > without
    assert behind > 200e6
    assert min(values(live, "latency.get", "p50") + values(live, "latency.set", "p50")) > 0


@pytest.mark.parametrize(
    ("server", "client"),
    [
        pytest.param("nginx", "crosswind", marks=pytest.mark.long),
        pytest.param("apache", "crosswind", marks=pytest.mark.long),
        pytest.param("nginx", "vegeta", marks=pytest.mark.long),
    ],
)
def test_objects_come_no_faster_than_a_bucket_fills(live: Live, server: str, client: str) -> None:
    # 300 objects of 20 kB a second are 48 Mbit/s.
    measure(
        live,
        f"web: {{server: {server}, client: {client}, objects: [20kB], rate: 300/s, connections: 16, "
        "duration: 1500ms, warm_up: 300ms}",
        server if client == "crosswind" else f"{server}-{client}",
    )
    without, behind = values(live, "transfer", "mean")
    # What is left of the warm-up's burst, 30 kB, adds 0.16 Mbit/s at most.
    assert behind * 8 < 20.2e6 < without * 8
    response_without, response_behind = values(live, "response", "p50")
    assert response_behind > 2 * response_without


def test_a_bucket_loses_answers_over_udp(live: Live) -> None:
    # 4000 answers of 1.1 kB a second are 35 Mbit/s: four of ten do not pass. On a machine too busy for the
    # rate dnsperf sends fewer.
    measure(live, "dns: {names: 500, text: 1000B, rate: 4000/s, duration: 1500ms, warm_up: 500ms}")
    without, behind = values(live, "lost", "share")
    assert behind > without + 0.1
    answered_without, answered_behind = values(live, "throughput", "mean")
    assert answered_behind < answered_without


@pytest.mark.long
def test_answers_over_tcp_wait_for_retransmissions_behind_a_bucket(live: Live) -> None:
    # 700 answers of 4.1 kB a second are 23 Mbit/s.
    measure(
        live, "dns: {names: 500, text: 4kB, protocol: tcp, rate: 700/s, duration: 1500ms, warm_up: 500ms}"
    )
    without, behind = values(live, "latency", "p99")
    assert behind > without


@pytest.mark.long
def test_a_server_without_the_keys_is_a_failed_trial_with_its_reason(live: Live) -> None:
    # 300,000 keys of ETC are 80 MB. The most popular keys are stored first, so they are evicted first.
    for missing in find("memcached").missing():
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    text = EXPERIMENT.format(
        application="memcached: {keys: 300000, memory: 8MiB, protocol: binary, duration: 500ms}"
    )
    (live.folder / "live.yaml").write_text(text)
    status, said = live.run("run", "live.yaml", timeout_s=240)
    assert status == 4, said
    found = duckdb.execute(f"SELECT DISTINCT reason FROM '{live.run_folder}/trials.parquet'").fetchall()
    assert all("never stored, or evicted" in reason for (reason,) in found)
    assert found


@pytest.mark.parametrize(
    ("application", "said"),
    [
        (
            "dns: {names: 100, rate: 100/s, timeout: 500ms, duration: 1s, warm_up: 0s}",
            "no answer in the measured",
        ),
        ("sockperf: {rate: 100/s, duration: 1s}", "No messages were received from the server"),
    ],
)
def test_a_tool_that_ends_well_without_one_answer_is_a_failed_trial(
    live: Live, application: str, said: str
) -> None:
    for missing in find(application.partition(":")[0]).missing():
        pytest.skip(f"{missing.what}; {missing.remedy}")
    live.env["CROSSWIND_CACHE_DIR"] = str(cache_folder())
    start, _, rest = EXPERIMENT.partition("conditions:")
    cut = "conditions: [{{cut: {{link: [{{lose: {{bernoulli: 100%}}}}]}}}}]\n"
    text = start + cut + rest[rest.index("application:") :]
    (live.folder / "live.yaml").write_text(text.format(application=application))
    status, printed = live.run("run", "live.yaml")
    assert status == 4, printed
    query = f"SELECT status, reason FROM '{live.run_folder}/trials.parquet'"
    ((outcome, reason),) = duckdb.sql(query).fetchall()
    assert outcome == "failed"
    assert said in reason, reason
