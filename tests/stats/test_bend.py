"""Bent coordinates keep their order and their ends, and are straight where nothing asks for more."""

import numpy as np
import pytest

from crosswind.stats.bend import bent, bent_slopes

POINTS = np.linspace(0, 1, 11)[:, np.newaxis]
ONE = np.ones(1)


def test_with_both_one_nothing_is_bent() -> None:
    assert bent(POINTS, ONE, ONE) == pytest.approx(POINTS, abs=1e-8)


@pytest.mark.parametrize(("a", "b", "half"), [(2.0, 1.0, 0.25), (1.0, 2.0, 0.75), (2.0, 2.0, 0.4375)])
def test_a_bend_keeps_order_and_ends(a: float, b: float, half: float) -> None:
    # 1 - (1 - 0.5^a)^b
    found = bent(POINTS, a * ONE, b * ONE)[:, 0]
    assert found[[0, 5, 10]] == pytest.approx([0, half, 1], abs=1e-8)
    assert (np.diff(found) > 0).all()


def test_slopes_are_those_of_small_steps() -> None:
    a, b, step = 1.7 * ONE, 0.6 * ONE, np.exp(1e-6)
    of_a, of_b = bent_slopes(POINTS, a, b)
    assert of_a == pytest.approx((bent(POINTS, a * step, b) - bent(POINTS, a, b)) / 1e-6, abs=1e-5)
    assert of_b == pytest.approx((bent(POINTS, a, b * step) - bent(POINTS, a, b)) / 1e-6, abs=1e-5)
