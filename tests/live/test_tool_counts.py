"""What iperf3 and nuttcp say of their ends, beside what the kernel counted in the same nodes."""

from __future__ import annotations

import os
import re
import shutil
from typing import TYPE_CHECKING

import pytest

from crosswind.app import Stage, find
from crosswind.results import store_monitors
from crosswind.testbed import Agent, Ended, RunningFabric
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from conftest import Live

DURATION_S = 2
# A round trip crosses four uplinks: 4 ms.
DELAY_NS = 1_000_000
# One packet of 5000, five in a row on average, which TCP sends again as super-packets: connections still
# carry hundreds of Mbit/s over such a round trip, in writes so small that both ends need CPU time.
BURSTS = {"p_ppb": 40_000, "r_ppb": 200_000_000, "h_ppb": 0, "k_ppb": 1_000_000_000}
LOSSES = {"host.egress": [{"lose": {"law": {"gilbert_elliott": BURSTS}, "on": ["client"]}}]}


@pytest.mark.parametrize(("name", "asked"), [("iperf3", {"warm_up": "0s"}), ("nuttcp", {})])
def test_what_a_tool_says_of_its_ends_is_what_the_kernel_counted(
    live: Live, name: str, asked: dict[str, str]
) -> None:
    for missing in find(name).missing():
        pytest.skip(f"{missing.what}; {missing.remedy}")
    if shutil.which("ss") is None:
        pytest.skip("ss, which prints what the kernel knows of sockets, is missing: apt-get install iproute2")
    asked = {"streams": 2, "write": "1KiB", "duration": f"{DURATION_S}s", **asked}
    application = find(name)(find(name).Parameters.model_validate(asked))
    folder, monitors = live.folder / "work", live.folder / "monitors"
    folder.mkdir()
    monitors.mkdir()
    spec = plain_fabric(("server", "client"), delay_ns=DELAY_NS, places=LOSSES)
    with Agent() as agent, RunningFabric(agent, spec, live.folder / "logs") as fabric:
        os.chown(folder, *fabric.application_account)
        stage = Stage(fabric, folder, seed=1)
        application.start(stage)
        before = segments_sent_again(stage, "before")
        fabric.measure()
        load = application.load(stage)
        load.process.wait(DURATION_S / 2)
        smoothed_ms = [float(ms) for ms in re.findall(r"\brtt:([\d.]+)/", printed(stage, "ss", "-tinH"))]
        assert load.process.wait(load.longest_s) == Ended(0, None), load.first_error()
        measurement = fabric.read()
        again = segments_sent_again(stage, "after") - before
        outcome = load.outcome()
        application.stop(stage)
    of_run = store_monitors(measurement, outcome.facts, "trial", monitors)
    found = {
        (each.node, each.metric): each.value
        for each in (*outcome.metrics, *of_run)
        if each.statistic not in ("min", "max")
    }
    for node in ("client", "server"):
        said_s, used_s = found[node, "cpu"] * DURATION_S, found[node, "cpu.time"] / 1e9
        # The kernel counts in steps of 10 ms, and what programs use before and after they measure; nuttcp
        # cuts off what is less than a whole percent, of each of its two processes.
        assert said_s < used_s + 0.03
        assert used_s < 1.5 * said_s + 0.06
    assert again > 0
    assert found[None, "retransmissions"] == again
    if name == "iperf3":
        # It looks for the last time when its time is up, the kernel when everything has arrived: a burst or
        # two of a dozen packets may lie between.
        assert again / 2 - 3 <= found["client", "retransmits"] <= again + 3
    # nuttcp tells the handshake's, iperf3 the mean of two looks, and `ss` has one of its own: they differ by
    # what a busy machine adds to the path's 4 ms, and not by the thousand of a mistaken unit.
    assert smoothed_ms
    assert 4 * DELAY_NS < found["client", "rtt"] < 10 * max(smoothed_ms) * 1e6


def printed(stage: Stage, program: str, *arguments: str, name: str = "") -> str:
    """Return what a program prints in the sender's node."""
    process = stage.fabric.start("client", name or program, [program, *arguments], cwd=stage.folder)
    assert process.wait(5) == Ended(0, None), process.last_words()
    return process.stdout.read_text()


def segments_sent_again(stage: Stage, name: str) -> int:
    """Return how many segments the kernel has sent again in the sender's node."""
    text = printed(stage, "cat", "/proc/self/net/snmp", name=name)
    names, values = (line.split() for line in text.splitlines() if line.startswith("Tcp:"))
    return int(values[names.index("RetransSegs")])
