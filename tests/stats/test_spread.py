import pytest

from crosswind.stats import coefficient_of_variation

VALUES = [2, 4, 4, 4, 5, 5, 7, 9]


def test_the_coefficient_of_variation_equals_the_worked_example():
    # Squared deviations from 5 add up to 32: sqrt(32 / 7) / 5.
    assert coefficient_of_variation(VALUES) == pytest.approx(0.42762, abs=5e-6)


def test_the_coefficient_does_not_depend_on_the_unit():
    large = [value * 1e200 for value in VALUES]
    assert coefficient_of_variation(large) == pytest.approx(coefficient_of_variation(VALUES))
