import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from crosswind.stats import quantile, tail_probability

finite = st.floats(-1e12, 1e12)


@given(st.lists(finite, min_size=1, max_size=40), st.floats(0, 1))
def test_quantile_equals_numpys_default(values, p):
    assert quantile(values, p) == pytest.approx(float(np.quantile(values, p)), rel=1e-9, abs=1e-3)


def test_quantile_between_infinities_is_infinite():
    assert quantile([1.0, math.inf, math.inf, math.inf], 0.5) == math.inf
    assert quantile([1.0, 2.0, 3.0, math.inf], 0.5) == 2.5


def test_quantile_of_nothing_or_of_nan_is_refused():
    with pytest.raises(ValueError, match="at least one"):
        quantile([], 0.5)
    with pytest.raises(ValueError, match="NaN"):
        quantile([1.0, math.nan], 0.5)
    with pytest.raises(ValueError, match=r"99 is not in \[0, 1\]"):
        quantile([1.0], 99)


def test_tail_probability_counts_strictly_larger_values():
    assert tail_probability([1, 2, 3, math.inf], 2) == 0.5
    with pytest.raises(ValueError, match="NaN"):
        tail_probability([math.nan], 2)
