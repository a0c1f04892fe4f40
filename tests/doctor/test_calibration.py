"""What is concluded from the measurements, and that a stored calibration comes back as it was."""

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from test_against import MACHINE, NOW, calibration

from crosswind.doctor.calibration import (
    Calibration,
    CalibrationUnreadableError,
    DelayCheck,
    RateCheck,
    calibration_file,
    keep_better,
    store_calibration,
    stored_calibration,
)


def delay(declared_ns: int, error_ns_p99: int) -> DelayCheck:
    rest: dict[str, int] = dict.fromkeys(
        ("packets", "error_ns_p50", "ledger_ns_p50", "ledger_ns_p99", "ledger_ns_max", "early"), 0
    )
    return DelayCheck(declared_ns=declared_ns, error_ns_p99=error_ns_p99, **rest)


def rate(asked_per_s: int, *, lost: int = 0, offered_per_s: int | None = None) -> RateCheck:
    return RateCheck(
        asked_per_s=asked_per_s, offered_per_s=offered_per_s or asked_per_s, packets=1000, lost=lost
    )


@pytest.mark.parametrize(
    ("checks", "smallest_ns"),
    [
        # 1 us of error is a tenth of 10 us, but 20 us is the shortest that was tried.
        ([delay(20_000, 1_000)], 20_000),
        # 5 us is a quarter of 20 us; a tenth of 50 us.
        ([delay(20_000, 5_000)], 50_000),
        # Longer delays were more exact: 1000 us at 0.2 % says more than 20 us with 400 us of error.
        ([delay(20_000, 400_000), delay(1_000_000, 2_000)], 1_000_000),
        ([], None),
    ],
)
def test_the_smallest_delay_has_an_error_of_a_tenth(
    checks: list[DelayCheck], smallest_ns: int | None
) -> None:
    assert calibration(delays=tuple(checks)).honours.delay_ns_min == smallest_ns


@pytest.mark.parametrize(
    ("checks", "highest_per_s"),
    [
        ([rate(20_000), rate(50_000)], 50_000),
        ([rate(20_000), rate(50_000, lost=1)], 20_000),
        ([rate(20_000), rate(50_000, offered_per_s=44_000)], 20_000),
        ([rate(20_000, lost=1)], None),
    ],
)
def test_a_packet_rate_counts_when_it_was_offered_and_nothing_was_lost(
    checks: list[RateCheck], highest_per_s: int | None
) -> None:
    assert calibration(rates=tuple(checks)).honours.packets_per_s_max == highest_per_s


@pytest.fixture
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("CROSSWIND_CACHE_DIR", str(tmp_path))
    return tmp_path


@pytest.mark.usefixtures("cache")
def test_a_calibration_comes_back_as_it_was_stored() -> None:
    kept = calibration()
    assert stored_calibration() is None
    store_calibration(kept)
    assert stored_calibration() == kept


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize("text", ["", "{}", "not JSON"])
def test_a_damaged_calibration_is_refused_with_its_file(text: str) -> None:
    calibration_file().write_text(text)
    with pytest.raises(CalibrationUnreadableError, match=r"calibration\.json: .* run `crosswind doctor`"):
        stored_calibration()


@pytest.mark.usefixtures("cache")
def test_a_calibration_of_another_schema_is_refused() -> None:
    file = store_calibration(calibration())
    file.write_text(file.read_text().replace('"schema": 2', '"schema": 1'))
    with pytest.raises(CalibrationUnreadableError):
        stored_calibration()


BUSY_DELAYS = (delay(20_000, 3_700_000),)  # honours delays from 37 ms
QUIET_DELAYS = (delay(20_000, 780_000),)  # from 7.8 ms


@pytest.mark.usefixtures("cache")
def test_a_busy_hour_does_not_replace_the_better_calibration() -> None:
    quiet = calibration(delays=QUIET_DELAYS, measured_at=NOW - timedelta(days=1))
    assert keep_better(quiet) == quiet
    busy = calibration(delays=BUSY_DELAYS, measured_at=NOW, load_average=7.0)
    assert keep_better(busy) == quiet
    assert stored_calibration() == quiet


@pytest.mark.usefixtures("cache")
@pytest.mark.parametrize(
    "changes",
    [
        {"measured_at": NOW - timedelta(days=7, minutes=1)},
        {"measured_at": NOW + timedelta(minutes=1)},  # The clock was set back: its age is unknown.
        {"machine": MACHINE.model_copy(update={"kernel": "6.19.0"})},
        {"version": "0.0.9"},
        {"rootless": True},
    ],
)
def test_a_better_calibration_that_is_old_or_of_something_else_is_replaced(changes: dict[str, Any]) -> None:
    store_calibration(calibration(delays=QUIET_DELAYS, **changes))
    busy = calibration(delays=BUSY_DELAYS, measured_at=NOW)
    assert keep_better(busy) == busy
    assert stored_calibration() == busy


@pytest.mark.usefixtures("cache")
def test_a_calibration_that_is_as_good_or_better_replaces_the_one_before() -> None:
    store_calibration(calibration(delays=BUSY_DELAYS))
    for found in (
        calibration(delays=QUIET_DELAYS),
        calibration(delays=QUIET_DELAYS, measured_at=NOW),
        calibration(delays=QUIET_DELAYS, measured_at=NOW, goodput_bps=6_000_000_000),
    ):
        assert keep_better(found) == found


@pytest.mark.usefixtures("cache")
def test_packets_that_left_early_are_never_better() -> None:
    quiet = calibration(delays=QUIET_DELAYS)
    store_calibration(quiet)
    early = delay(20_000, 1_000).model_copy(update={"early": 1})
    assert keep_better(calibration(delays=(early,), measured_at=NOW)) == quiet


@pytest.mark.usefixtures("cache")
def test_a_damaged_calibration_is_replaced() -> None:
    calibration_file().write_text("not JSON")
    assert keep_better(calibration()) == stored_calibration()


def test_the_json_says_what_is_honoured() -> None:
    written: dict[str, Any] = calibration().model_dump(mode="json", by_alias=True)
    assert written["schema"] == 2
    assert written["honours"] == {
        "delay_ns_min": 20_000,
        "packets_per_s_max": 100_000,
        "goodput_bps_max": 5_000_000_000,
    }
    assert Calibration.model_validate(written) == calibration()
