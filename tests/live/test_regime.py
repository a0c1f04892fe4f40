"""A regime over an emulated credit bucket: killed in the middle, continued, and the bucket is in it."""

from __future__ import annotations

import shlex
import subprocess
import time
from typing import TYPE_CHECKING

import pytest

from crosswind.fingerprint.measure.own_ends import own_fabric
from crosswind.fingerprint.regime.record import read_record
from crosswind.testbed.plain import plain_fabric

if TYPE_CHECKING:
    from conftest import Live

BUDGET_BITS, REFILL_BPS = 20e6, 10e6
NETWORK = """
topology:
  hosts: 2
  uplink: {rate: 1Gbit/s, delay: 1ms, buffer: 1MiB}
  wait: sleep
  nodes: {a: h0, b: h1}
condition:
  metered:
    host.egress:
      - credit: {budget: 20Mbit, high: 50Mbit/s, low: 10Mbit/s, refill: 10Mbit/s, buffer: 64KiB}
"""
WANTED_S = 4.6


def test_a_regime_that_is_killed_goes_on_and_tells_its_gap(live: Live) -> None:
    (live.folder / "network.yaml").write_text(NETWORK)
    command = ["fingerprint", "network.yaml", "--regime", "1-0.8", "--for", f"{WANTED_S}s", "--point", "50ms"]
    out = live.folder / "regime.jsonl"
    first = live.start(*command, stdin=subprocess.DEVNULL)
    # Seven points are behind the header and the line of the sitting.
    deadline = time.monotonic() + 30
    while first.poll() is None and time.monotonic() < deadline:
        if out.exists() and out.read_bytes().count(b"\n") >= 9:
            break
        time.sleep(0.01)
    first.kill()
    first.communicate()
    left = out.read_bytes()
    status, said = live.run(*command)
    assert status == 0, said
    content = out.read_bytes()
    # Nothing of what had been measured is gone or changed but half a line.
    assert content.startswith(left[: left.rindex(b"\n") + 1])
    record = read_record(content)
    before, after = record.sittings
    assert len(before.points) >= 7
    assert before.ended is None
    assert after.ended == "all measured"
    assert after.begin.gap_s is not None
    assert after.begin.gap_s > 0
    assert "1 gaps without measurement" in said
    # A rest at the end is not waited for; a point of the first sitting may be lost.
    assert record.measured_s == pytest.approx(WANTED_S, abs=0.9)
    # A bucket gives no more than it holds and what comes back, whatever the machine does; TCP on a busy one
    # leaves some of it.
    trace = record.longest_trace()
    given_bits = BUDGET_BITS + REFILL_BPS * float(trace.end_s[-1] - trace.begin_s[0])
    assert 0.4 * given_bits < float(trace.bits.sum()) < 1.02 * given_bits
    assert all(point.retransmits is not None and point.rtt_us for point in after.points)


@pytest.mark.long
def test_a_regime_between_ends_that_are_there_goes_on_within_what_may_be_sent(live: Live) -> None:
    with own_fabric(plain_fabric(("a", "b"), rate_bps=20_000_000)) as ends:
        near, far = (shlex.join(end.prefix) for end in (ends.near, ends.far))
        command = ["fingerprint", "--near", near, "--far", far, "--to", ends.far.address]
        command += ["--regime", "0.5-0.3", "--point", "100ms"]
        # 20 Mbit/s for half a second are 1.2 MB of payload.
        status, said = live.run(*command, "--for", "500ms", "--send-at-most", "600kB")
        assert status != 0
        assert "exceeds the limit of 600kB" in said
        status, said = live.run(*command, "--for", "1s")
        assert status == 0, said
    record = read_record((live.folder / "regime.jsonl").read_bytes())
    assert (record.header.between, record.header.condition) == (("a", "b"), None)
    stopped, last = record.sittings
    assert "exceeds the limit" in (stopped.ended or "")
    assert last.ended == "all measured"
    # Payload of 20 Mbit/s, 1448 bytes of a frame of 1538, and what TCP on a busy machine leaves of it.
    rates_bps = [8e9 * one.payload_bytes / (one.end_ns - one.begin_ns) for one in record.points]
    assert 8e6 < sum(rates_bps) / len(rates_bps) < 18.9e6
    assert "the network was up all the time" in said
