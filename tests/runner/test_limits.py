"""Limits of nodes: what a measurement says of them, and when it makes a trial fail."""

from typing import Any

import pytest

from crosswind.results import Measurement
from crosswind.runner.limits import broken_limits, check_limits
from crosswind.testbed import TestbedError

MIB = 1 << 20


def measurement(**node: Any) -> Measurement:
    """Return one second of a node that used 1 MiB and 10 ms, changed by `node`."""
    sound = {"node": "db0", "memory_peak_bytes": MIB, "cpu_time_ns": 10_000_000} | {
        "memory_limit": None,
        "cpus_limit": None,
    }
    return Measurement.model_validate(
        {
            "window": {"started_ns": 0, "ended_ns": 10**9},
            "ledger": {"packets": 0, "early": 0, "missed": 0, "bound_ns": 0},
            "conservation": {"holds": True},
            "host": {},
            "nodes": [sound | node],
        }
    )


def memory(kept_by: str, kills: int = 0) -> dict[str, Any]:
    return {"bytes": 10 * MIB, "kept_by": kept_by, "kills": kills}


def cpus(kept_by: str) -> dict[str, Any]:
    return {"ppm": 500_000, "kept_by": kept_by, "throttled_ns": 0}


def test_a_node_within_its_limits_is_sound() -> None:
    check_limits(measurement())
    check_limits(measurement(memory_limit=memory("checks"), cpus_limit=cpus("checks")))
    # The kernel enforces these: what was seen beyond is how it is counted.
    above = {"memory_peak_bytes": 20 * MIB, "cpu_time_ns": 510_000_000}
    check_limits(measurement(memory_limit=memory("cgroup-v1"), cpus_limit=cpus("cgroup-v2"), **above))


def test_a_process_that_the_kernel_killed_fails_the_trial() -> None:
    with pytest.raises(TestbedError, match=r"db0: reached its memory limit of 10\.0 MiB, .* killed 2"):
        check_limits(measurement(memory_limit=memory("cgroup-v2", kills=2)))


def test_a_limit_that_nobody_keeps_is_checked() -> None:
    with pytest.raises(TestbedError, match=r"used 11\.0 MiB of memory, its limit is 10\.0 MiB; this machine"):
        check_limits(measurement(memory_limit=memory("checks"), memory_peak_bytes=11 * MIB))
    with pytest.raises(TestbedError, match=r"used 0\.90 CPUs, its limit is 0\.5"):
        check_limits(measurement(cpus_limit=cpus("checks"), cpu_time_ns=900_000_000))


def test_the_counting_of_processor_time_is_allowed_for() -> None:
    # Half a CPU for one second, two ticks of 10 ms, and 2 % for the end of the window: 530 ms.
    assert not list(broken_limits(measurement(cpus_limit=cpus("checks"), cpu_time_ns=530_000_000)))
    assert list(broken_limits(measurement(cpus_limit=cpus("checks"), cpu_time_ns=531_000_000)))


def test_a_node_that_is_gone_has_broken_nothing() -> None:
    gone = {"memory_peak_bytes": None, "cpu_time_ns": None}
    check_limits(measurement(memory_limit=memory("checks"), cpus_limit=cpus("checks"), **gone))
