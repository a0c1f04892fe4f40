"""The search of RFC 2544 and RFC 9971 finds the rate of a link, modelled and in virtual time."""

import math

import numpy as np
import pytest

from crosswind.certify.conformance.rfc2544 import LOADS, LOSS_ERROR_MAX
from crosswind.certify.conformance.trials import (
    BUFFER_BYTES,
    ERROR_MAX,
    ETHERNET_BYTES,
    GAP_BYTES,
    Goal,
    Trial,
    device,
    frames_per_s,
    search,
)
from crosswind.certify.table import Packets, play
from crosswind.testbed import NotHere, find_binary
from crosswind.testbed.binaries import SIMULATE

NO_LOSS = Goal(loss_ratio=0)
PARTIAL = Goal(loss_ratio=0.005, trials=2, exceed_ratio=0.5)


class Link:
    """A link that carries a share of the medium's rate, and loses what is more."""

    def __init__(self, carries: float, noisy: int = 0, disturbed: str = "") -> None:
        self.carries, self.noisy, self.disturbed = carries, noisy, disturbed
        self.loads: list[float] = []

    def trial(self, load: float) -> Trial:
        self.loads.append(load)
        sent = round(load * 10_000)
        lost = max(0, round((load - self.carries) * 10_000))
        # The first trials lose more, whatever their load.
        return Trial(sent, sent if len(self.loads) <= self.noisy else lost, self.disturbed)


def test_a_link_with_the_mediums_rate_takes_two_trials() -> None:
    link = Link(1.0)
    assert search(link.trial, NO_LOSS, 1.0).error(1.0) <= ERROR_MAX
    assert link.loads == [0.99, 1.01]


@pytest.mark.parametrize("carries", [0.3, 0.62, 0.95])
def test_a_slower_link_is_searched_and_has_an_error(carries: float) -> None:
    bounds = search(Link(carries).trial, NO_LOSS, 1.0)
    assert bounds.lower <= carries < bounds.upper
    assert bounds.upper - bounds.lower <= 0.02 + 1e-6
    assert bounds.error(1.0) > ERROR_MAX


def test_a_link_without_a_limit_has_no_upper_bound() -> None:
    bounds = search(Link(2.0).trial, NO_LOSS, 1.0)
    assert bounds.upper == math.inf
    assert not bounds.error(1.0) <= ERROR_MAX


def test_a_goal_of_some_loss_is_met_above_the_mediums_rate() -> None:
    expected = 1 / 0.995
    assert search(Link(1.0).trial, PARTIAL, expected).error(expected) <= ERROR_MAX


def test_one_lossy_trial_of_two_does_not_exceed_a_half() -> None:
    link = Link(1.0, noisy=1)
    assert search(link.trial, PARTIAL, 1.0).lower == 0.99
    # Two at the lower load, and two at the upper one, where both lose more.
    assert link.loads == [0.99, 0.99, 1.01, 1.01]


def test_nothing_follows_from_a_disturbed_trial() -> None:
    link = Link(1.0, disturbed="other programs")
    bounds = search(link.trial, NO_LOSS, 1.0)
    assert (bounds.disturbed, len(link.loads)) == ("other programs", 1)
    assert math.isnan(bounds.error(1.0))


def _played(frame_bytes: int, load: float, train: int = 1) -> Trial:
    """Return a trial of the device in virtual time, with frames that come `train` at once."""
    try:
        find_binary(SIMULATE)
    except NotHere as reason:
        pytest.skip(str(reason))
    sent = round(load * frames_per_s(frame_bytes))
    at_ns = np.arange(sent) // train * train * 1e9 / (load * frames_per_s(frame_bytes))
    fates = play(device(), Packets.of(at_ns.astype(np.int64), frame_bytes - ETHERNET_BYTES))
    return Trial(sent, int(np.sum(~np.isfinite(fates.departed_ns))), "")


@pytest.mark.parametrize("goal", [NO_LOSS, PARTIAL])
@pytest.mark.parametrize("frame_bytes", [512, 1518])
def test_the_device_has_the_mediums_throughput_in_virtual_time(frame_bytes: int, goal: Goal) -> None:
    expected = 1 / (1 - goal.loss_ratio)
    bounds = search(lambda load: _played(frame_bytes, load), goal, expected)
    assert bounds.error(expected) <= ERROR_MAX


@pytest.mark.parametrize("load", LOADS)
def test_the_device_loses_what_an_overload_is_more_in_virtual_time(load: float) -> None:
    assert abs(_played(1518, load).loss_ratio - max(0.0, 1 - 1 / load)) <= LOSS_ERROR_MAX


def test_the_device_takes_its_buffer_and_a_frame_back_to_back_in_virtual_time() -> None:
    longest = BUFFER_BYTES // (1518 + GAP_BYTES) + 1
    lost = [_played(1518, burst * 50 / frames_per_s(1518), burst).lost for burst in (longest, longest + 1)]
    assert lost == [0, 50]
