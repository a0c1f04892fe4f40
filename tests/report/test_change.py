import math

import pytest

from crosswind.text.change import change, change_interval, speed_change, speed_interval


def plain(text: str) -> str:
    return text.replace("\u00a0", " ").replace("\u00d7", "x")


@pytest.mark.parametrize(
    ("ratio", "said"),
    [
        # 1 / 0.0346 = 28.9; 0.5 is where a factor begins, on both sides.
        (0.0346, "28.9 x lower"),
        (0.5, "2.00 x lower"),
        (0.82, "18 % lower"),
        (0.99996, "the same"),
        (1.0, "the same"),
        (1.0012, "0.12 % higher"),
        (1.18, "18 % higher"),
        (2.0, "2.00 x higher"),
        (490.0, "490 x higher"),
        (0.0, "unboundedly lower"),
        (math.inf, "unboundedly higher"),
        (None, "-"),
    ],
)
def test_a_ratio_is_said_as_a_percentage_or_as_a_factor_and_never_below_one(ratio, said):
    assert plain(change(ratio)) == said


@pytest.mark.parametrize(
    ("low", "high", "said"),
    [
        (274.0, 534.0, "274 - 534 x"),
        (1.04, 1.09, "4.0 - 9.0 %"),
        (1.4, 3.1, "40 % - 3.10 x"),
        # The nearer bound comes first on either side: 0.05 is 20 times lower, 0.025 is 40 times.
        (0.025, 0.05, "20.0 - 40.0 x"),
        (0.91, 0.96, "4.0 - 9.0 %"),
        (0.958, 1.06, "-4.2 % to +6.0 %"),
        (0.46, 1.64, "2.17 x lower to 64 % higher"),
        (1.2, math.inf, "at least 20 %"),
        (0.0, 0.8, "at least 20 %"),
    ],
)
def test_an_interval_is_said_from_the_nearer_bound_to_the_farther_one(low, high, said):
    assert plain(change_interval(low, high)) == said


def test_faster_is_of_the_speed():
    # What takes 0.8 times as long is done 1.25 times as often.
    assert [plain(speed_change(slowdown)) for slowdown in (0.8, 0.25, 1.25)] == [
        "25 % faster",
        "4.00 x faster",
        "25 % slower",
    ]
    assert plain(speed_interval(0.5, 0.8)) == "25 % - 2.00 x"
    assert plain(speed_interval(0.8, 1.05)) == "25 % faster to 5.0 % slower"
