"""The live suite leaves out nothing that a condition can name."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import pytest

from crosswind.certify import Decision
from crosswind.certify.elements import ELEMENTS, INTERFERENCE
from crosswind.certify.live import replayed
from crosswind.simulation.replayed import Agreement

# What the engine's own tests replay, fuzz and watch; one of them fails while a word of conditions is missing.
TABLE = json.loads((Path(__file__).parents[2] / "crates/fabric/every_element.json").read_text())
# Where an entry of a condition chooses what it is, by a word or by a mapping of one.
CHOICES = ("law", "process", "drop", "by", "arrivals")
SWITCHES = ("loop", "memory_bytes", "tcp")


def _choices(entry: Mapping[str, Any]) -> Iterator[str]:
    """Yield what an entry chooses, its parameters left out."""
    for key, value in entry.items():
        if key in SWITCHES:
            yield key
        elif key in CHOICES:
            yield f"{key} {value if isinstance(value, str) else next(iter(value))}"
        elif isinstance(value, Mapping):
            yield from (key, *_choices(value))


def test_every_element_of_the_engine_is_replayed_live() -> None:
    asked = {choice for line in TABLE["elements"] for choice in _choices(line["element"])}
    certified = [element for line in ELEMENTS.values() for element in line.elements]
    assert asked <= {choice for element in certified for choice in _choices(element)}


def test_every_source_of_the_engine_is_replayed_live() -> None:
    asked = {choice for source in TABLE["interference"] for choice in _choices(source)}
    assert asked <= {choice for source in INTERFERENCE.values() for choice in _choices(source.as_json())}


@pytest.mark.parametrize(
    ("decisions", "different", "decision"),
    [
        (406, 0, Decision.HELD),
        (406, 1, Decision.FAILED),
        (0, 0, Decision.UNDECIDED),
        (3, 1, Decision.FAILED),
    ],
)
def test_a_replay_without_decisions_shows_nothing(decisions: int, different: int, decision: Decision) -> None:
    compared = Agreement(
        identical=not different, decisions=decisions, different=different, first_difference=None
    )
    assert replayed.agreement("link", compared).decision is decision
