"""Whole runs in which time passes four times slower: what the application perceives is what was declared."""

from __future__ import annotations

import json
import time
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import duckdb
import pytest

if TYPE_CHECKING:
    from conftest import Live

FACTOR = 4


def of(live: Live, select: str) -> list[tuple[Any, ...]]:
    folder = live.run_folder
    return duckdb.sql(
        select.replace("TRIALS", f"'{folder}/trials.parquet'")
        .replace("METRICS", f"'{folder}/metrics.parquet'")
        .replace("SAMPLES", f"'{folder}/samples/*.parquet'")
    ).fetchall()


def test_a_declared_delay_is_the_perceived_one_and_load_and_packets_share_a_clock(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=1, duration="1s")
    with (live.folder / file).open("a") as more:
        more.write(f"time: {{dilation: {FACTOR}}}\n")
    began_s = time.monotonic()
    status, said = live.run("run", file)
    took_s = time.monotonic() - began_s
    assert status == 0, said
    assert f"time: {FACTOR} times slower; perceived time is shown" in said
    # Two loads of 1.1 s each.
    assert took_s > FACTOR * 2 * 1.1
    medians = dict(
        of(
            live,
            "SELECT condition, value FROM METRICS JOIN TRIALS USING (trial) "
            "WHERE metric = 'latency' AND statistic = 'p50'",
        )
    )
    # As in real time: 4 ms of propagation, and 20 ms more. Of a network in real time a fourth would be
    # perceived, and of one that is slowed down twice four times as much.
    assert 4e6 <= medians["none"] < 14e6
    assert 24e6 <= medians["slow"] < 60e6
    spans = {
        trial: (begin_ns, end_ns)
        for trial, begin_ns, end_ns in of(
            live, "SELECT trial, min(started_ns), max(finished_ns) FROM SAMPLES WHERE measured GROUP BY 1"
        )
    }
    assert len(spans) >= 2, "void attempts are repeated"
    for trial, (begin_ns, end_ns) in spans.items():
        measured = json.loads((live.run_folder / "monitors" / f"{trial}.json").read_text())
        window = measured["window"]
        assert measured["time"]["factor"] == FACTOR
        # The network's window opens 0.1 s before the measured phase and closes after it. In real time it
        # would be seconds away, and four times as long.
        assert 0 < begin_ns - window["started_ns"] < 500_000_000
        assert 0 < window["ended_ns"] - end_ns < 500_000_000
        assert 900_000_000 < end_ns - begin_ns < 1_300_000_000
        for node in measured["nodes"]:
            assert not node["dilation"]["undilated"]


@pytest.mark.long
def test_a_lost_packet_is_sent_again_after_the_perceived_timeout(
    live: Live, experiment: Callable[..., str]
) -> None:
    file = experiment(repeat=1, duration="4s")
    text = (live.folder / file).read_text()
    text = text.replace("  - none\n", "").replace("{delay: {time: 5ms}}", "{lose: 2%}")
    (live.folder / file).write_text(text)
    status, said = live.run("run", file, "--dilation", str(FACTOR))
    assert status == 0, said
    folder = live.run_folder
    (found,) = duckdb.sql(
        f"SELECT median(since_first_ns) FROM '{folder}/monitors/*.retransmissions.parquet' "
        "WHERE payload_bytes > 0"
    ).fetchall()
    # One packet is under way, so a timeout or a probe comes after 200 ms and up to two round trips of 4 ms.
    # The kernel's own 200 ms would be perceived as 50.
    assert 190e6 < found[0] < 260e6
