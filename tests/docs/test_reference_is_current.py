"""What is generated and committed, elements.json and the pages of the reference, is what the code says."""

import subprocess
import sys
from pathlib import Path

import pytest

from crosswind.testbed import NotHere, find_binary

ROOT = Path(__file__).parents[2]


def test_the_committed_reference_is_what_the_code_says() -> None:
    try:
        find_binary("crosswind-simulate")
    except NotHere:
        pytest.skip("SKIPPED: crosswind-simulate, which describes the elements, is not installed")
    checked = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--check"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert checked.returncode == 0, checked.stderr


def test_an_unknown_option_of_the_generator_is_refused() -> None:
    refused = subprocess.run(
        [sys.executable, ROOT / "docs" / "generate.py", "--chekc"],
        capture_output=True,
        text=True,
        check=False,
    )
    assert refused.returncode == 2
    assert "usage" in refused.stderr
