"""Trials on an emulated link as a tester has them with a device: a load for a second, and what was lost.

The device is a link of 100 Mbit/s with a delay and a buffer of 5 ms. Its largest frame rates are therefore
those of Ethernet at that rate. RFC 2544 has trials of 60 s; here they are one second (`SHORTER`), so a search
that takes an hour takes a minute. A buffer of 5 ms hides 0.5 % of such a trial, and 0.008 % of a whole one.

Source: RFC 2544, sections 9.1, 24 and appendix B; RFC 9971, sections on goals and bounds.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

from crosswind.certify.quiet import Tries, Watch
from crosswind.probe.flood import flood_task, read_flood
from crosswind.probe.pairs import over_fabric
from crosswind.spec import FabricSpec
from crosswind.testbed.plain import plain_fabric

RATE_BPS = 100_000_000
DELAY_NS = 1_000_000
BUFFER_BYTES = 62_500
TRIAL_S = 1.0
SHORTER = "trials of 1 s, a 60th of section 24"
# Preamble and gap on the wire; Ethernet's header and check sum in a frame.
GAP_BYTES, ETHERNET_BYTES = 20, 18
# The first two loads of a search are this far from the expected bound, the smaller first (RFC 9971).
STEP = 0.01
# A search ends at this width, with room for the rounding of these two loads.
WIDTH = 2 * STEP + 1e-9
ERROR_MAX = STEP + 1e-9


def frames_per_s(frame_bytes: int) -> float:
    """Return the largest frame rate of the medium."""
    return RATE_BPS / 8 / (frame_bytes + GAP_BYTES)


def device() -> FabricSpec:
    """Return the device under test: half of the delay is on each of its two links, the buffer at both."""
    # Without merging, each frame has a receive time stamp of its own.
    return plain_fabric(rate_bps=RATE_BPS, delay_ns=DELAY_NS // 2, buffer_bytes=BUFFER_BYTES).with_changes(
        merge_window_ns=0
    )


@dataclass(frozen=True)
class Trial:
    """Frames that were sent and lost; `disturbed` as in `quiet`."""

    sent: int
    lost: int
    disturbed: str

    @property
    def loss_ratio(self) -> float:
        """The share of the frames that was lost; 1 where none was sent."""
        return self.lost / self.sent if self.sent else 1.0


@dataclass(frozen=True)
class Goal:
    """What makes a load a lower bound: at most `exceed_ratio` of `trials` trials lose more."""

    loss_ratio: float
    trials: int = 1
    exceed_ratio: float = 0.0


@dataclass(frozen=True)
class Bounds:
    """The relevant bounds of a search, as shares of the medium's rate; `upper` is inf where there is none."""

    lower: float
    upper: float
    disturbed: str

    def error(self, expected: float) -> float:
        """Return how far the farther bound is from the expected load, as a share; NaN where disturbed."""
        if self.disturbed:
            return math.nan
        return max(abs(self.lower / expected - 1), abs(self.upper / expected - 1))

    @property
    def details(self) -> dict[str, float | None]:
        """The bounds by name."""
        upper = self.upper if math.isfinite(self.upper) else None
        return {"lower_bound": self.lower, "upper_bound": upper}


def offered(tries: Tries, frame_bytes: int, load: float, train: int | None = None) -> Trial:
    """Return what a second of frames at a load leaves behind.

    Args:
        load: as a share of the medium's largest frame rate.
        train: frames that are sent back to back; chosen by the rate when absent.
    """
    ip_bytes = frame_bytes - ETHERNET_BYTES
    task = flood_task(load * frames_per_s(frame_bytes) * ip_bytes * 8, TRIAL_S, train, ip_bytes=ip_bytes)

    def once(watch: Watch) -> tuple[int, int]:
        _, measurement = over_fabric(task, lambda folder: read_flood(folder, TRIAL_S), device())
        watch.judge(measurement)
        counted = measurement.conservation
        return counted.entered.real, counted.dropped.real

    tried = tries.measure(f"{frame_bytes} byte frames at a load of {load:.3g}", once)
    return Trial(*tried.result, tried.disturbed)


def search(trial: Callable[[float], Trial], goal: Goal, expected: float) -> Bounds:
    """Return the bounds of the loads that meet a goal; the first two loads are beside the expected one.

    A disturbed trial ends the search, because nothing follows from it.
    """
    lower, upper = 0.0, math.inf
    candidates = [expected * (1 - STEP), expected * (1 + STEP)]
    while candidates or upper - lower > WIDTH * expected:
        load = candidates.pop(0) if candidates else (lower + upper) / 2
        met, disturbed = _meets(trial, load, goal)
        if disturbed:
            return Bounds(lower, upper, disturbed)
        if met:
            lower = load
        else:
            upper = load
            candidates.clear()
        if lower > expected:
            break  # More than the medium carries: a fault, and there may be no upper bound at all.
    return Bounds(lower, upper, "")


def _meets(trial: Callable[[float], Trial], load: float, goal: Goal) -> tuple[bool, str]:
    """Return whether a load is a lower bound for a goal, and why there is no conclusion."""
    exceeding_max = int(goal.exceed_ratio * goal.trials)
    exceeding = 0
    for done in range(1, goal.trials + 1):
        one = trial(load)
        if one.disturbed:
            return False, one.disturbed
        exceeding += one.loss_ratio > goal.loss_ratio
        if exceeding > exceeding_max:
            return False, ""
        if exceeding + goal.trials - done <= exceeding_max:
            return True, ""  # The rest cannot change it.
    return True, ""
