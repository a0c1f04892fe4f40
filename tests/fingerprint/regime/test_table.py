"""Several regimes side by side."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from crosswind.cli._main import run
from crosswind.fingerprint.regime.record import Header
from crosswind.testbed.plain import plain_fabric

S = 1_000_000_000
PAYLOAD_BYTES = 10_000_000


def write(path: Path, regime: str, seconds: list[int]) -> str:
    """Write a regime of points of 1 s that carry the same, at these seconds."""
    header = Header.of(plain_fabric(), regime, 1.0, 4, {})
    same = {"retransmits": 0, "rtt_us": 300.0, "sender_cpu_s": 0.01, "receiver_cpu_s": 0.03}
    same |= {"payload_bytes": PAYLOAD_BYTES, "steal_s": 0.0, "clock_set_s": 0.0}
    points = [{"begin_ns": at * S, "end_ns": (at + 1) * S, **same} for at in seconds]
    sitting = {"began": "", "boot": "x", "monotonic_ns": 0, "at_ns": 0, "gap_s": None}
    lines = [header.model_dump(by_alias=True), {"sitting": sitting}, *points]
    path.write_text("".join(json.dumps(line) + "\n" for line in lines))
    return str(path)


def test_each_regime_has_a_row(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files = [
        write(tmp_path / "full.jsonl", "full-speed", list(range(5))),
        write(tmp_path / "on-off.jsonl", "2-8", [0, 1, 10, 11]),
    ]
    assert run(["report", *files]) == 0
    said = capsys.readouterr().out
    assert "full-speed" in said
    assert "2-8" in said
    assert run(["report", "--json", *files]) == 0
    full, on_off = json.loads(capsys.readouterr().out)
    assert (full["values"], on_off["values"]) == (5, 2)
    # 80 Mbit/s of payload, 1448 bytes of each packet of 1500.
    assert full["mean_bps"] == pytest.approx(on_off["mean_bps"])
    assert full["mean_bps"] == pytest.approx(80e6 * 1500 / 1448, rel=1e-6)


def test_what_is_no_regime_or_has_no_point_is_named(
    tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    good = write(tmp_path / "full.jsonl", "full-speed", [0])
    empty = write(tmp_path / "empty.jsonl", "full-speed", [])
    assert run(["report", good, empty]) == 2
    assert "nothing was measured yet" in capsys.readouterr().err
    assert run(["report", good, str(tmp_path / "absent.jsonl")]) == 2
    assert "absent.jsonl: cannot be read" in capsys.readouterr().err
    (tmp_path / "other.json").write_text("{}")
    assert run(["report", str(tmp_path / "other.json"), good]) == 2
    assert "is not a regime" in capsys.readouterr().err
