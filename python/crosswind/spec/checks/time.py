"""Rules of slower time."""

from __future__ import annotations

from collections.abc import Iterator

from pydantic import JsonValue

from crosswind.spec.backend import CROSSWIND
from crosswind.spec.checks.document import named_conditions, problem_at, sound_topology
from crosswind.spec.dilation import Slowed, lacks_room
from crosswind.spec.document import Document
from crosswind.spec.draft import items, only_key, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.problems import Problem
from crosswind.spec.testbed import LOCAL


def time_problems(document: Document) -> Iterator[Problem]:
    """Yield why time cannot be slowed down in this network."""
    time, topology = sound_field(Experiment, "time", document.data), sound_topology(document)
    if time is None:
        return
    backend = value_at(document.data, "backend")
    nodes = {} if topology is None else topology.nodes
    network = Slowed(
        limits_ppm={name: placed.limits.as_request().get("cpus_ppm") for name, placed in nodes.items()},
        is_elsewhere=value_at(document.data, "testbed") not in (None, LOCAL),
        backend=None if backend in (None, CROSSWIND) else only_key(backend) or str(backend),
        real_traffic=[name for name, condition in named_conditions(document) if _is_real(condition)],
    )
    for factor in time.dilation:
        for message in network.hindrances(factor):
            yield problem_at(document, ("time", "dilation"), f"{factor}: {message}")
    if len(time.dilation) < 2:
        return
    for name, _ in named_conditions(document):
        if lacks_room(name):
            text = f"condition {name} would be run at each, and its name has no room for that; shorten it"
            yield problem_at(document, ("time", "dilation"), text)
    if value_at(document.data, "design", "adaptive") is not None:
        text = "with several, design: adaptive has no one condition to choose; write one, or remove adaptive"
        yield problem_at(document, ("time", "dilation"), text)


def _is_real(condition: JsonValue) -> bool:
    """Return whether processes make some of the interference of a condition."""
    many = isinstance(value_at(condition, "interference"), list)
    entries = items(condition, "interference") if many else [((), value_at(condition, "interference"))]
    return any(value_at(entry, "by") == "iperf3" for _, entry in entries)
