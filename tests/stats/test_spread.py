import pytest

from crosswind.stats import coefficient_of_variation, quartile_dispersion, robust_variation

VALUES = [2, 4, 4, 4, 5, 5, 7, 9]


def test_three_coefficients_equal_the_worked_example():
    assert coefficient_of_variation(VALUES) == pytest.approx(0.42762, abs=5e-6)
    assert coefficient_of_variation(VALUES, ddof=0) == pytest.approx(0.4)
    assert robust_variation(VALUES) == pytest.approx(0.16473, abs=5e-6)
    assert quartile_dispersion(VALUES) == pytest.approx(0.15789, abs=5e-6)


@pytest.mark.parametrize("of", [coefficient_of_variation, robust_variation, quartile_dispersion])
def test_no_coefficient_depends_on_the_unit(of):
    assert of([value * 1e200 for value in VALUES]) == pytest.approx(of(VALUES))
