"""What holds for every test."""

import os
import sys
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from hypothesis import settings

# `chromium` is shared by tests of several folders, whatever the import mode.
sys.path.insert(0, str(Path(__file__).parent / "live"))

from chromium import Chromium

# How long an example takes is the machine's business; `make bench` measures speed.
settings.register_profile("untimed", deadline=None)
settings.load_profile("untimed")


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    """On a slow machine, let no long test begin so late that `.ci/run` would take more than an hour."""
    until = os.environ.get("CROSSWIND_LONG_TESTS_UNTIL")
    # One that failed is run once more, or its failure would pass for a skip.
    again = getattr(item, "execution_count", 1) > 1
    if until and time.time() > float(until) and item.get_closest_marker("long") and not again:
        pytest.skip("SKIPPED: this machine is slow, and .ci/run begins no long test after 50 minutes")


@pytest.fixture(scope="session")
def chromium(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Chromium]:
    """One browser for all tests of a worker: a start takes more than most pages."""
    with Chromium(tmp_path_factory.mktemp("profile")) as chromium:
        yield chromium


@pytest.fixture
def browser(chromium: Chromium) -> Iterator[Chromium]:
    """The browser for one test, whose pages may write nothing to the console."""
    chromium.forget()
    yield chromium
    # Its answer comes after what was written before.
    chromium.value("0")
    assert chromium.logged == []
