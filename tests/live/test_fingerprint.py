"""The closed loop: an emulated bucket is measured with real traffic and comes back as a condition."""

from __future__ import annotations

from pathlib import Path

import pytest

from crosswind.app.requirements.iperf3 import IPERF3
from crosswind.certify.pairs import Task, over_fabric
from crosswind.fingerprint.token_bucket import identify
from crosswind.fingerprint.trace_file import read_trace
from crosswind.testbed.plain import plain_fabric

BUDGET_BITS = 270_000_000
HIGH_BPS, LOW_BPS = 100_000_000, 10_000_000


@pytest.mark.skipif(bool(IPERF3.missing()), reason="iperf3 is missing; run `crosswind apps install iperf3`")
def test_an_emulated_bucket_comes_back_from_iperf3s_report(tmp_path: Path) -> None:
    credit = {
        "budget_bits": BUDGET_BITS,
        "initial_bits": BUDGET_BITS,
        "high_bps": HIGH_BPS,
        "low_bps": LOW_BPS,
        "refill_bps": LOW_BPS,
        "buffer_bytes": 256 * 1024,
    }
    program = IPERF3.program("iperf3")
    iperf3 = ["env", *(f"{name}={value}" for name, value in program.env.items()), str(program.path)]
    task = Task(
        receive=lambda _: [*iperf3, "-s", "-1", "--forceflush"],
        send=lambda folder: [
            *(*iperf3, "-c", "10.77.0.2", "-R", "-P", "4", "-t", "8", "-i", "0.1", "-l", "8K", "-J"),
            *("--logfile", str(folder / "run.json")),
        ],
    )
    spec = plain_fabric(places={"host.egress": [{"credit": credit}]})
    content, _ = over_fabric(task, lambda folder: (folder / "run.json").read_bytes(), spec)
    trace, complaint = read_trace("run.json", content)
    assert complaint is None
    found = identify(trace)
    assert found.low_bps is not None
    assert found.budget_bits is not None
    # On a quiet machine the line is never idle and the rate exact to 0.003 %; 0.7 % too low was seen on a
    # busy one.
    assert found.high_bps.value == pytest.approx(HIGH_BPS, rel=0.01)
    assert found.low_bps.value == pytest.approx(LOW_BPS, rel=0.005)
    assert found.budget_bits.value == pytest.approx(BUDGET_BITS, rel=0.02)
