"""`import crosswind` is quick, and has what it names."""

import subprocess
import sys

import pytest

import crosswind

SLOW = ("click", "duckdb", "numpy", "scipy", "pydantic", "ruamel")


def test_nothing_slow_is_imported_before_it_is_named() -> None:
    look = f"import sys, crosswind.api.pytest_plugin; print([name for name in {SLOW} if name in sys.modules])"
    assert subprocess.check_output([sys.executable, "-c", look], text=True) == "[]\n"


@pytest.mark.parametrize("name", crosswind.__all__)
def test_every_public_name_is_there_and_says_what_it_is(name: str) -> None:
    value = getattr(crosswind, name)
    assert name in dir(crosswind)
    assert value.__doc__


def test_a_wrong_name_is_refused_as_that_of_any_module() -> None:
    with pytest.raises(AttributeError, match="has no attribute 'laod'"):
        crosswind.laod  # noqa: B018
