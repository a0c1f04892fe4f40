"""Conditions with one element, as files write them and as the agent reads them."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from crosswind.spec import SpecErrors
from crosswind.spec.load import load_condition_file
from crosswind.spec.resolve import resolve_condition
from crosswind.spec.topology import Star

TOPOLOGY = Star.model_validate(
    {
        "hosts": 2,
        "uplink": {"rate": "1Gbit/s", "delay": "2us", "buffer": "512KiB"},
        "nodes": {"a": "h0", "b": "h1"},
    }
)


@pytest.fixture
def agent_reads(tmp_path: Path) -> Callable[..., Any]:
    """Return what makes of an element's text (and a scale) what the agent reads."""

    def read(element: str, scale: float = 1.0) -> Any:
        file = tmp_path / "condition.yaml"
        file.write_text(f"mine:\n  link:\n    - {element}\n")
        (condition,) = load_condition_file(file).values()
        return resolve_condition("mine", condition, TOPOLOGY, scale).places["link"][0]

    return read


@pytest.fixture
def refusal(agent_reads: Callable[..., Any]) -> Callable[[str], str]:
    """Return what makes of an element's text the one message with which it is refused."""

    def refused(element: str) -> str:
        with pytest.raises(SpecErrors) as caught:
            agent_reads(element)
        (problem,) = caught.value.problems
        return problem.message

    return refused
