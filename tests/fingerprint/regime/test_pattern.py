"""When a regime sends."""

from __future__ import annotations

import pytest

from crosswind.fingerprint.regime.pattern import Pattern


@pytest.mark.parametrize(
    ("text", "on_s", "off_s", "point_s"),
    [("full-speed", None, 0, 10), ("10-30", 10, 30, 1), ("5-30", 5, 30, 0.5), ("600-0.5", 600, 0.5, 10)],
)
def test_a_regime_is_read_and_written(text: str, on_s: float | None, off_s: float, point_s: float) -> None:
    pattern = Pattern.read(text)
    assert (pattern.on_s, pattern.off_s, pattern.usual_point_s) == (on_s, off_s, point_s)
    assert str(pattern) == text


@pytest.mark.parametrize("text", ["", "10", "10-", "a-b", "1-2-3", "-5-30", "0-30", "10-0", "nan-1", "1-inf"])
def test_what_is_no_regime_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match="seconds on and off"):
        Pattern.read(text)


def test_phases_follow_their_period_however_late_one_ended() -> None:
    pattern = Pattern.read("10-30")
    assert pattern.phase(0.0, 100.0) == (0.0, 10.0)
    assert pattern.phase(10.0, 90.0) == (40.0, 10.0)
    assert pattern.phase(10.2, 89.8) == (40.0, 10.0)
    # The whole ends at 100 s; and then there is nothing left.
    assert pattern.phase(50.0, 45.0) == (80.0, 10.0)
    assert pattern.phase(50.0, 34.0) == (80.0, 4.0)
    assert pattern.phase(84.0, 0.0)[1] < 0


def test_full_speed_is_one_phase() -> None:
    assert Pattern.read("full-speed").phase(0.0, 3600.0) == (0.0, 3600.0)
    assert Pattern.read("full-speed").phase(3600.0, 0.0)[1] == 0
