"""Conditions of verbs that bring a network up without an experiment's runner."""

from __future__ import annotations

from typing import Any

from crosswind.errors import CrosswindError


def carried_out(condition: dict[str, Any]) -> dict[str, Any]:
    """Return a condition, if the agent alone can carry it out."""
    if any(entry["by"] == "iperf3" for entry in condition["interference"]):
        raise CrosswindError(
            f"condition {condition['name']}: `by: iperf3` is interference that only `crosswind run` starts; "
            "write `by: ghost`, or start iperf3 yourself with `crosswind exec`"
        )
    return condition
