"""What disturbs a measurement, and which tries are repeated."""

import subprocess
import sys
from collections.abc import Iterator

import pytest

from crosswind.certify.quiet import TRIES_MAX, Tries, Watch
from crosswind.results import Measurement


@pytest.fixture
def hog() -> Iterator["subprocess.Popen[bytes]"]:
    """Yield a program that computes; until it has ended, what it uses is not counted as ours."""
    program = subprocess.Popen([sys.executable, "-c", "while True: pass"])
    yield program
    program.kill()
    program.wait()


def _rest(program: "subprocess.Popen[bytes]") -> None:
    with pytest.raises(subprocess.TimeoutExpired):
        program.wait(0.4)


def _measurement(*, late: int = 0, stolen_ms: int = 0, overruns: int = 0) -> Measurement:
    measured = {
        "ledger": {"packets": 1000, "early": 0, "missed": late, "bound_ns": 120_000},
        "conservation": {"holds": True},
        "host": {"ring_overruns": overruns, "steal_ns": stolen_ms * 1_000_000, "canary_gap_ns_max": 0},
        "window": {"started_ns": 0, "ended_ns": 500_000_000},
    }
    return Measurement.model_validate(measured)


def test_a_program_that_computes_disturbs_a_measurement(hog: "subprocess.Popen[bytes]") -> None:
    with Watch() as watch:
        _rest(hog)
    assert "other programs used" in watch.disturbed


def test_a_disturbed_try_is_repeated_and_all_are_kept(hog: "subprocess.Popen[bytes]") -> None:
    tries, numbers = Tries(), iter(range(100))

    def once(_: Watch) -> int:
        _rest(hog)
        return next(numbers)

    tried = tries.measure("nothing", once)
    assert list(tried.results) == list(range(TRIES_MAX))
    assert tried.result == TRIES_MAX - 1
    assert "other programs used" in tried.disturbed
    assert [one.repeated for one in tries.all] == [True] * (TRIES_MAX - 1) + [False]
    assert min(one.foreign_cores for one in tries.all) > 0.25


def test_patience_ends_for_the_whole_certificate(hog: "subprocess.Popen[bytes]") -> None:
    tries = Tries(repeated_s_max=0.5)
    for _ in range(3):
        tries.measure("nothing", lambda _: _rest(hog))
    # Two repeated tries of 0.4 s use it up; from then on each measurement has one try.
    assert [one.repeated for one in tries.all] == [True, True, False, False, False]


def test_what_was_stolen_calls_for_another_try_and_what_was_late_does_not() -> None:
    late, robbed = Watch(), Watch()
    late.judge(_measurement(late=500))
    robbed.judge(_measurement(stolen_ms=10))
    assert late.machine == ""
    assert "50.0% of packets later" in late.disturbed
    assert "stole" in robbed.machine
    assert robbed.disturbed == robbed.machine


def test_of_a_void_measurement_nothing_is_concluded() -> None:
    watch = Watch()
    watch.judge(_measurement(overruns=3))
    assert "3 packets lost in the capture ring" in watch.disturbed
    # It is the emulator's own account, so it calls for no other try.
    assert watch.machine == ""


def test_a_faithful_measurement_is_concluded_from() -> None:
    watch = Watch()
    watch.judge(_measurement())
    assert watch.disturbed == ""
