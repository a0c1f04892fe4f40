"""A timeline changes the condition of a live network when it is due, and says so."""

from __future__ import annotations

import time

import numpy as np
import pytest

from crosswind.probe.single_packets import probe_fabric
from crosswind.spec.resolved import ResolvedStep
from crosswind.testbed.plain import plain_fabric

pytestmark = pytest.mark.usefixtures("live")  # Skips where no agent can work.

MS = 1_000_000
DELAY_NS = 50 * MS
# From the start of the measurement, a little after which the probes begin: 800 of them, for 4 s.
STEPS_NS = (1_500 * MS, 2_500 * MS)
PROBES, PER_S = 800, 200.0


def test_a_step_holds_from_its_instant_until_the_next() -> None:
    fabric = plain_fabric()
    delayed = {"host.ingress": [{"delay": {"time_ns": DELAY_NS}}]}
    timeline = [
        ResolvedStep(at_ns=at_ns, places=places)
        for at_ns, places in zip(STEPS_NS, (delayed, {"host.ingress": []}), strict=True)
    ]
    condition = fabric.condition.model_copy(update={"timeline": timeline})
    fabric = fabric.with_changes(condition=condition)
    probes, measurement = probe_fabric(fabric, PER_S, PROBES)

    before, *steps = measurement.changes
    assert (before.by, [step.by for step in steps]) == ("up", ["timeline", "timeline"])
    started_ns = measurement.window.started_ns
    assert tuple(step.asked_ns - started_ns for step in steps) == STEPS_NS
    assert all(step.asked_ns <= step.at_ns for step in steps)
    assert [len(step.places["host.ingress"]) for step in steps] == [1, 0]

    # Packets have stamps of the wall clock, changes of the one that never steps.
    to_monotonic_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC) - time.clock_gettime_ns(time.CLOCK_REALTIME)
    sent_ns = probes.sent_ns + to_monotonic_ns
    from_ns, until_ns = (step.at_ns for step in steps)
    # What is sent just before a step may come in behind it: 20 ms are left out there, of 1 s.
    first = probes.delay_ns[sent_ns < from_ns - 20 * MS]
    within = probes.delay_ns[(sent_ns > from_ns) & (sent_ns < until_ns - 20 * MS)]
    last = probes.delay_ns[sent_ns > until_ns]
    assert min(len(first), len(within), len(last)) > 50
    assert probes.lost == 0
    # None is early, however busy the machine. Without the delay it takes what the machine takes: well below
    # half of it at the median, or the machine stalled half of the time.
    assert within.min() >= DELAY_NS
    assert max(np.median(first), np.median(last)) < DELAY_NS / 2
