"""A condition named on the command line, resolved for a topology."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from crosswind.cli._experiment import NamedExperiment
from crosswind.errors import CrosswindError
from crosswind.spec import condition_for_agent, load_catalogue_condition, load_condition_file
from crosswind.spec.resolve import resolve_condition


def condition_named(text: str, named: NamedExperiment, folder: Path | None = None) -> dict[str, Any]:
    """Return the condition that `text` means, as the agent takes it.

    Args:
        text: a condition of the experiment, one of the catalogue, or a file that holds one.
        named: the experiment whose topology and scale it is resolved for.
        folder: where a relative path starts; the current folder when absent.

    Raises:
        CrosswindError: a file holds several conditions, or the condition needs real processes.
        SpecErrors: there is no such condition, or what is wrong with it.
    """
    for condition in named.resolved["conditions"]:
        if condition["name"] == text:
            return _for_agent(dict(condition))
    name, found = text, None
    path = (folder or Path.cwd()) / text
    if path.is_file():
        conditions = load_condition_file(path)
        if len(conditions) > 1:
            raise CrosswindError(
                f"{text}: holds {len(conditions)} conditions ({', '.join(conditions)}); put the one that is meant "
                "into a file of its own"
            )
        ((name, found),) = conditions.items()
    else:
        found = load_catalogue_condition(text)
    return _for_agent(resolve_condition(name, found, named.experiment.topology, named.experiment.scale))


def _for_agent(condition: dict[str, Any]) -> dict[str, Any]:
    if any(entry["by"] == "iperf3" for entry in condition["interference"]):
        raise CrosswindError(
            f"condition {condition['name']}: its interference is `by: iperf3`, which only `crosswind run` carries out; "
            "write `by: ghost`, or start iperf3 yourself with `crosswind exec`"
        )
    return condition_for_agent(condition)
