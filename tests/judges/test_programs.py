"""The programs of the judges, and the matrix that comes with one of them."""

from __future__ import annotations

from pathlib import Path

import pytest

from bench.judges.cometbft import RoundTrip, Zones
from bench.judges.programs import COMETBFT


def test_the_matrix_is_stored_beside_the_program(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    assert COMETBFT.stored.name == "aws-latencies.csv"
    assert COMETBFT.installed.is_relative_to(COMETBFT.stored.parent)
    # It is there before the record that marks the folder as complete.
    *_, copied, declared = COMETBFT.commands()
    assert str(COMETBFT.stored) in copied
    assert "installed.json" in declared


def test_a_round_trip_is_wrong_beyond_a_hundredth_and_a_tenth_of_a_millisecond() -> None:
    zones = Zones(Path("x.csv"), ("a", "b"), [[0, 40], [60, 0]])
    assert zones.validators == {"v0": "a", "v1": "b"}
    assert zones.round_trip_ms("v0", "v1") == 100
    right = {("v0", "v1"): RoundTrip(101.09, 120), ("v1", "v0"): RoundTrip(98.91, 99)}
    assert zones.wrong(right) == {}
    for least in (101.11, 98.89):
        assert list(zones.wrong({("v0", "v1"): RoundTrip(least, least)})) == [("v0", "v1")]
