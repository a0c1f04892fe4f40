"""Compose files of other people: how many of them can be tested as they are."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))
from examples import outcomes, table

CHECKOUT = "CROSSWIND_COMPOSE_EXAMPLES"


@pytest.mark.skipif(
    CHECKOUT not in os.environ, reason=f"{CHECKOUT} names no checkout of docker/awesome-compose"
)
def test_most_public_examples_validate() -> None:
    found = list(outcomes(Path(os.environ[CHECKOUT])))
    examples = [outcome for outcome in found if outcome.name.endswith("compose.yaml")]
    assert len(examples) >= 37
    assert sum(not outcome.problems for outcome in examples) >= 30, table(found)
    # What stands in the way is said in a line, with its place.
    for outcome in found:
        assert all("compose.y" in problem and ": " in problem for problem in outcome.problems)


def test_the_table_has_a_line_for_each_file(tmp_path: Path) -> None:
    for name, text in {
        "good": "services: {web: {image: w, restart: always}}",
        "bad": "services: {web: {image: w, privileged: true}}",
    }.items():
        (tmp_path / name).mkdir()
        (tmp_path / name / "compose.yaml").write_text(text)
    lines = table(list(outcomes(tmp_path))).splitlines()
    assert lines[0] == "1 of 2 files validate."
    assert lines[4].startswith("| bad | line 1: services.web: privileged needs all privileges")
    assert lines[5] == "| good | valid | 2 | 2 |"
