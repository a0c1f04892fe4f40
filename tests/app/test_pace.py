"""What applications with our load generator tell it of its pace."""

import pytest
from pydantic import ValidationError

from crosswind.app.pace import Pace


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, ()),
        ({"rate": "1500/s"}, ("--rate", "1500")),
        ({"rate": "0.5/s", "arrivals": "poisson"}, ("--rate", "0.5", "--arrivals", "poisson")),
    ],
)
def test_the_load_generator_is_told_what_was_asked(asked: dict[str, str], told: tuple[str, ...]) -> None:
    assert Pace.model_validate(asked).pace_arguments == told


def test_arrivals_without_a_rate_are_refused() -> None:
    with pytest.raises(ValidationError, match="`arrivals` has no meaning in a closed loop"):
        Pace.model_validate({"arrivals": "poisson"})
