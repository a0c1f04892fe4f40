"""A part of an experiment: some of its conditions, or one trial of each."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from crosswind.errors import CrosswindError
from crosswind.spec.nearest import did_you_mean


def selected(resolved: Mapping[str, Any], only: Sequence[str] = (), once: bool = False) -> dict[str, Any]:
    """Return a resolved experiment that runs only a part of its trials.

    What was left out is kept under `selection`, so that a run of it is continued with the same part.

    Args:
        resolved: as `crosswind.spec.resolve` returns it.
        only: the conditions to run, by name; all when empty. An adaptive design chooses none beside them.
        once: one trial of each condition; of an adaptive design, of each of its first points.
    Raises: CrosswindError: `only` names a condition that the experiment does not have.
    """
    part = dict(resolved)
    if not only and not once:
        return part
    part["selection"] = {"only": list(only), "once": once}
    if only:
        known = [condition["name"] for condition in resolved["conditions"]]
        for name in only:
            if name not in known:
                remedy = did_you_mean(name, known) or f"it has {', '.join(known)}"
                raise CrosswindError(f'--only: the experiment has no condition "{name}"; {remedy}')
        part["conditions"] = [entry for entry in resolved["conditions"] if entry["name"] in only]
        part.pop("design", None)
    if once:
        repeat = {"at_least": 1, "at_most": 1, "until": None}
        part["trials"] = {**resolved["trials"], "repeat": repeat}
        if "design" in part:
            adaptive = part["design"]["adaptive"]
            part["design"] = {"adaptive": {**adaptive, "at_most": adaptive["start"]}}
    return part
