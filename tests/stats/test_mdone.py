"""The waiting time of M/D/1 against its mean, its ends, and a queue simulated step by step."""

import numpy as np
import pytest

from crosswind.curves import MD1


@pytest.mark.parametrize(("load", "service"), [(0.1, 1), (0.5, 1200), (0.8, 0.3)])
def test_the_law_has_the_mean_of_pollaczek_and_khinchine(load: float, service: float) -> None:
    # E[W] is the integral of P(W > t); beyond 25 services the tail at load 0.8 is e^-11.
    queue = MD1(load, service)
    grid = np.linspace(0, 25, 251)
    above = [1 - queue.wait_cdf(x * service) for x in grid]
    # The law jumps at 0 only, so the trapezoid rule is good to its step squared.
    mean = float(np.sum((np.array(above[1:]) + np.array(above[:-1])) / 2) * (grid[1] - grid[0])) * service
    assert mean == pytest.approx(queue.mean_wait, rel=2e-3)


def test_nobody_waits_exactly_when_the_server_is_idle() -> None:
    assert MD1(0.3, 7).wait_cdf(0) == pytest.approx(0.7)
    assert MD1(0.3, 7).wait_cdf(-1) == 0


def test_the_law_is_that_of_a_simulated_queue() -> None:
    # Lindley's recursion over 400 000 customers; correlation leaves about 0.003 at this load.
    gaps = np.random.default_rng(1).exponential(1 / 0.6, 400_000)
    wait, waits = 0.0, np.empty(gaps.size)
    for number, gap in enumerate(gaps):
        wait = max(0.0, wait + 1 - gap)
        waits[number] = wait
    for x in (0, 0.5, 1, 2.5, 6):
        assert MD1(0.6, 1).wait_cdf(x) == pytest.approx(float(np.mean(waits <= x)), abs=0.01)


@pytest.mark.parametrize(("load", "service"), [(0, 1), (1, 1), (-1, 1), (0.5, 0)])
def test_a_queue_that_never_settles_is_refused(load: float, service: float) -> None:
    with pytest.raises(ValueError, match="is not"):
        MD1(load, service)
