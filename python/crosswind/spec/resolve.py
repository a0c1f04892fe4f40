"""Turn an experiment into what is run: SI integers, scaled, all defaults and conditions written out.

The result is `resolved.json` (docs/reference/contracts.md, section 5): what is recorded, compared and
resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from crosswind.spec import applications
from crosswind.spec.condition import Condition, Places
from crosswind.spec.element import Element
from crosswind.spec.experiment import Experiment
from crosswind.spec.factor import Range, unit_of
from crosswind.spec.interference_resolved import resolve_interference
from crosswind.spec.load import load_catalogue_condition
from crosswind.spec.named_file import named_files
from crosswind.spec.network import Network
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.published import resolved_published
from crosswind.spec.scale import not_preserved, preserved
from crosswind.spec.topology import AnyTopology
from crosswind.spec.trials import Trials

SCHEMA = 2


def resolve(experiment: Experiment) -> dict[str, Any]:
    """Return everything that decides what a run does, as plain values ready for JSON.

    Raises: SpecErrors: a condition is no longer in the catalogue.
    """
    return {
        "schema": SCHEMA,
        "name": experiment.name,
        "summary": experiment.summary,
        "source": experiment.source,
        "scale": experiment.scale,
        **resolve_topology(experiment.topology, experiment.scale, _own_limits(experiment)),
        "application": _application(experiment),
        "trials": _trials(experiment.trials),
        **_factors(experiment),
        **_design(experiment),
        "conditions": [
            resolve_condition(name, condition, experiment.topology, experiment.scale)
            | _levels(experiment, name)
            for name, condition in named_conditions(experiment)
        ],
        **_published(experiment),
        "warnings": [*not_preserved(experiment.scale), *_remarks(experiment)],
        "preserved": preserved(experiment.scale),
    }


def named_conditions(experiment: Experiment) -> Iterator[tuple[str, Condition]]:
    """Yield the experiment's conditions with their names, those of the catalogue included."""
    for entry in experiment.conditions:
        if isinstance(entry, str):
            yield entry, load_catalogue_condition(entry)
        else:
            yield from entry.items()


def resolve_topology(
    topology: AnyTopology, scale: float, own_limits: Mapping[str, NodeLimits] = MappingProxyType({})
) -> dict[str, Any]:
    """Return `topology` and `tcp` of the resolved experiment.

    Args:
        own_limits: what the application's own files limit nodes to.
    """
    limits = {
        name: placed.limits.filled(own_limits.get(name, NodeLimits())).as_request()
        for name, placed in topology.nodes.items()
    }
    files = {file.file: file.sha256 for file in named_files(topology)}
    return {
        "topology": {
            **topology.network().resolved(scale),
            "limits": {name: limit for name, limit in limits.items() if limit},
            "mtu_bytes": topology.mtu_bytes,
            "wait": topology.wait,
            **({"files": _hashes(files)} if files else {}),
        },
        "tcp": {
            "congestion_control": topology.tcp.congestion_control,
            "rto_min_us": topology.tcp.rto_min_ns // 1000,
            "ecn": topology.tcp.ecn,
            "socket_buffer_bytes": topology.tcp.socket_buffer_bytes,
        },
    }


def resolve_condition(name: str, condition: Condition, topology: AnyTopology, scale: float) -> dict[str, Any]:
    """Return one condition of the resolved experiment: elements and interference in SI integers."""
    timeline, network = sorted((condition.at or {}).items()), topology.network()
    resolved = {
        "name": name,
        "summary": condition.summary,
        "places": _places(condition, network, scale),
        "interference": [
            resolved
            for entry in condition.interferences()
            for resolved in resolve_interference(entry, topology, network, scale)
        ],
        "timeline": [
            {"at_ns": at_ns, "places": _places(places, network, scale)} for at_ns, places in timeline
        ],
    }
    files = _files([condition, *(places for _, places in timeline)])
    return {**resolved, "files": files} if files else resolved


def _files(parts: list[Places]) -> list[dict[str, str]]:
    """Return the files that a condition names, each once, with the hash of what it said."""
    found = [
        file
        for part in parts
        for elements in part.by_place().values()
        for element in elements
        for file in named_files(element.given)
    ]
    return _hashes({file.file: file.sha256 for file in found})


def _hashes(files: dict[str, str]) -> list[dict[str, str]]:
    return [{"file": file, "sha256": sha256} for file, sha256 in sorted(files.items())]


def _places(places: Places, network: Network, scale: float) -> dict[str, Any]:
    return {
        place: [
            sent
            for element, below in elements
            for sent in _sent(element, below or element.on, network, place, scale)
        ]
        for place, elements in places.placed().items()
    }


def _sent(
    element: Element,
    on: list[str] | None,
    network: Network,
    place: str,
    scale: float,
) -> list[dict[str, Any]]:
    """Return an element as the agent takes it.

    Several where it is another one on links of other rates, none where it does nothing.
    """
    found: list[tuple[dict[str, Any] | None, list[str]]] = []
    for link in network.wires(place, on):
        parameters = element.sent(link.rate_bps, scale)
        # A host has a name at its own places, where links have none.
        name = {"host.egress": link.source, "host.ingress": link.target}.get(place, link.name)
        same = next((names for known, names in found if known == parameters), None)
        if same is None:
            found.append((parameters, [name]))
        else:
            same.append(name)
    if len(found) < 2:
        # As it was written, which says more than a list of links.
        parameters = found[0][0] if found else element.sent(None, scale)
        if parameters is None:
            return []
        return [{element.word: parameters if on is None else {**parameters, "on": list(on)}}]
    return [{element.word: {**(parameters or {}), "on": names}} for parameters, names in found]


def _factors(experiment: Experiment) -> dict[str, Any]:
    """Return `factors`, each with the levels that conditions have; nothing without factors."""
    found = {}
    for name, factor in (experiment.factors or {}).items():
        levels = [point[name] for point in experiment.points.values() if name in point]
        found[name] = {
            "unit": unit_of(levels),
            "spacing": factor.spacing if isinstance(factor, Range) else None,
            "levels": list(dict.fromkeys(level.text for level in levels)),
        }
    return {"factors": found} if found else {}


def _published(experiment: Experiment) -> dict[str, Any]:
    """Return `published`; nothing where an experiment has none."""
    if experiment.published is None:
        return {}
    names = [name for name, _ in named_conditions(experiment)]
    return {"published": resolved_published(experiment.published, names)}


def _design(experiment: Experiment) -> dict[str, Any]:
    """Return `design` where conditions are chosen while the run goes on; nothing where all are run."""
    adaptive = None if experiment.design is None else experiment.design.adaptive
    return {} if adaptive is None else {"design": {"adaptive": adaptive.model_dump()}}


def _levels(experiment: Experiment, condition: str) -> dict[str, Any]:
    """Return `factors` of a condition: levels as written, not scaled, in their factor's unit; or as text."""
    factors = _factors(experiment).get("factors", {})
    levels = {
        name: level.text if factors[name]["unit"] is None else level.number
        for name, level in experiment.points.get(condition, {}).items()
    }
    return {"factors": levels} if levels else {}


def _application(experiment: Experiment) -> dict[str, Any]:
    (name,) = experiment.application
    resolved = {
        "name": name,
        "size": experiment.size,
        "parameters": experiment.parameters.model_dump(mode="json"),
        "figures": applications.figures(name, experiment.parameters),
    }
    files = {file.file: file.sha256 for file in named_files(experiment.parameters)}
    return {**resolved, "files": _hashes(files)} if files else resolved


def _own_limits(experiment: Experiment) -> Mapping[str, NodeLimits]:
    (name,) = experiment.application
    return applications.node_limits(name, experiment.parameters)


def _remarks(experiment: Experiment) -> list[str]:
    (name,) = experiment.application
    return applications.remarks(name, experiment.parameters)


def _trials(trials: Trials) -> dict[str, Any]:
    if isinstance(trials.repeat, int):
        repeat: dict[str, Any] = {"at_least": trials.repeat, "at_most": trials.repeat, "until": None}
    else:
        repeat = {
            "at_least": trials.repeat.at_least,
            "at_most": trials.repeat.at_most,
            "until": trials.repeat.until.model_dump(),
        }
    limit_ns = trials.limits.duration_ns
    return {
        "repeat": repeat,
        "order": trials.order,
        "rest_s": None if trials.rest_ns is None else trials.rest_ns / 1e9,
        "budgets": trials.budgets,
        "seed": trials.seed,
        "limits": {
            "duration_s": None if limit_ns is None else limit_ns / 1e9,
            "void": trials.limits.void,
            "failed": trials.limits.failed,
        },
        "record": trials.record,
        "capture": None if trials.capture is None else trials.capture.model_dump(),
    }
