"""From a file to a condition that can be emulated, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from crosswind.cli._main import run
from crosswind.fingerprint.trace.trace_file import TraceFileError, read_trace
from crosswind.spec.document import read_document


def csv(rates_mbps: list[float]) -> str:
    rows = [f"{second},{rate}" for second, rate in enumerate(rates_mbps)]
    return "\n".join(["time_s,rate_mbps", *rows, f"{len(rates_mbps)},end"]) + "\n"


def iperf3(rates_mbps: list[float], **more: object) -> bytes:
    sums = [
        {"start": second, "end": second + 1.0, "bytes": round(rate * 125_000)}
        for second, rate in enumerate(rates_mbps)
    ]
    return json.dumps({"intervals": [{"streams": [], "sum": each} for each in sums], **more}).encode()


def test_a_trace_becomes_a_condition_with_its_rates_and_budget(tmp_path: Path, capsys) -> None:
    file = tmp_path / "Run 1.csv"
    # 20 s at 100 Mbit/s, half a second more inside a sample, then 10 Mbit/s.
    file.write_text(csv([100] * 20 + [55] + [10] * 30))
    assert run(["conditions", "from", str(file)]) == 0
    text = capsys.readouterr().out
    (tmp_path / "made.yaml").write_text(text)
    credit = read_document(tmp_path / "made.yaml").data["run-1"]["host.egress"][0]["credit"]
    # (100 - 10) Mbit/s for 20.5 s.
    assert credit["budget"] == "1.845000Gbit"
    assert (credit["high"], credit["low"]) == ("100.000000Mbit/s", "10.000000Mbit/s")
    assert run(["validate", str(tmp_path / "made.yaml")]) == 0


def test_iperf3_is_read_as_far_as_it_went(tmp_path: Path, capsys) -> None:
    file = tmp_path / "run.json"
    start = {"tcp_mss_default": 1448, "test_start": {"protocol": "TCP"}}
    file.write_bytes(
        iperf3([100] * 20 + [10] * 30, error="control socket has closed unexpectedly", start=start)
    )
    assert run(["conditions", "from", str(file)]) == 0
    out, err = capsys.readouterr()
    assert f"budget: {1.8 * 1500 / 1448:.6f}Gbit" in out
    assert "control socket has closed" in err


def test_rates_that_never_fall_are_refused_as_a_bucket_with_a_bound(tmp_path: Path, capsys) -> None:
    file = tmp_path / "run.csv"
    file.write_text(csv([100] * 50))
    assert run(["conditions", "from", str(file), "--refill", "10Mbit/s", "--as", "bucket"]) == 2
    assert "at least 4.5 Gbit" in capsys.readouterr().err


@pytest.mark.parametrize(
    ("content", "words"),
    [
        (b"", "is empty"),
        (b"time_s,rate_mbps\n0,1\n", "single row has no duration"),
        (b"time_s,rate_mbps\n0,1\n1,unlimited\n2,end\n", "is no measured rate"),
        (b"time_s,rate_mbps\n0,0\n1,end\n", "no rate above 0"),
        (b'{"intervals": [', "cut off"),
        (b'{"error": "unable to connect to server"}', "unable to connect"),
        (b'{"intervals": [{"streams": []}]}', "interval 0"),
        (b'{"trace": [[0, 1]]}', "no list of"),
    ],
)
def test_what_is_no_trace_is_refused_by_its_name(content: bytes, words: str) -> None:
    with pytest.raises(TraceFileError, match=words) as refused:
        read_trace("run.csv", content)
    assert str(refused.value).startswith("run.csv: ")


LEAVES = st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5)
KEYS = st.sampled_from(
    ["intervals", "sum", "start", "end", "bytes", "error", "test_start", "protocol", "trace"]
)
JSON = st.recursive(
    LEAVES,
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
    max_leaves=15,
)
RUNS = st.dictionaries(KEYS, JSON, max_size=4).map(lambda run: json.dumps(run).encode())


@settings(suppress_health_check=[HealthCheck.too_slow])
@given(RUNS | st.binary(max_size=60))
def test_whatever_a_file_holds_it_is_read_or_refused(content: bytes) -> None:
    try:
        trace, _ = read_trace("any", content)
    except TraceFileError:
        return
    assert trace.bits.size > 0
