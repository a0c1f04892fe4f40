"""Turn an experiment into what is run: SI integers, scaled, all defaults and conditions written out.

The result is `resolved.json` (docs/reference/contracts.md, section 5): what is recorded, compared and
resumed.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from types import MappingProxyType
from typing import Any

from crosswind.spec import applications
from crosswind.spec.buffer import resolved_buffer
from crosswind.spec.capacity import Capacity
from crosswind.spec.condition import Condition, Places
from crosswind.spec.credit import Credit
from crosswind.spec.delay import Delay
from crosswind.spec.element import AnyElement, Element, Mark, Police, Schedule, Shape
from crosswind.spec.experiment import Experiment
from crosswind.spec.factor import Range, unit_of
from crosswind.spec.impairment import Corrupt, Duplicate, Reorder
from crosswind.spec.interference_resolved import resolve_interference
from crosswind.spec.load import load_catalogue_condition
from crosswind.spec.loss import Lose
from crosswind.spec.meter import Srtcm, Trtcm
from crosswind.spec.monitor import PROTOCOL_NUMBERS, Match, Monitor
from crosswind.spec.named_file import named_files
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.pace import Pace
from crosswind.spec.process import process_of
from crosswind.spec.queue import Queue, ScheduledQueue, resolved_queue
from crosswind.spec.scale import not_preserved, preserved, scaled
from crosswind.spec.topology import Topology
from crosswind.spec.trials import Trials

SCHEMA = 1


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
    topology: Topology, scale: float, own_limits: Mapping[str, NodeLimits] = MappingProxyType({})
) -> dict[str, Any]:
    """Return `topology` and `tcp` of the resolved experiment.

    Args:
        own_limits: what the application's own files limit nodes to.
    """
    uplink = topology.uplink
    limits = {
        name: placed.limits.filled(own_limits.get(name, NodeLimits())).as_request()
        for name, placed in topology.nodes.items()
    }
    return {
        "topology": {
            "hosts": list(topology.hosts),
            "nodes": {name: placed.host for name, placed in topology.nodes.items()},
            "limits": {name: limit for name, limit in limits.items() if limit},
            "uplink": {
                "rate_bps": scaled(uplink.rate_bps, scale),
                "delay_ns": uplink.delay_ns,
                **resolved_buffer(uplink.buffer, uplink.rate_bps, scale),
            },
            "mtu_bytes": topology.mtu_bytes,
            "wait": topology.wait,
        },
        "tcp": {
            "congestion_control": topology.tcp.congestion_control,
            "rto_min_us": topology.tcp.rto_min_ns // 1000,
            "ecn": topology.tcp.ecn,
            "socket_buffer_bytes": topology.tcp.socket_buffer_bytes,
        },
    }


def resolve_condition(name: str, condition: Condition, topology: Topology, scale: float) -> dict[str, Any]:
    """Return one condition of the resolved experiment: elements and interference in SI integers."""
    timeline = sorted((condition.at or {}).items())
    resolved = {
        "name": name,
        "summary": condition.summary,
        "places": _places(condition, topology.uplink.rate_bps, scale),
        "interference": [
            resolved
            for entry in condition.interferences()
            for resolved in resolve_interference(entry, topology, scale)
        ],
        "timeline": [
            {"at_ns": at_ns, "places": _places(places, topology.uplink.rate_bps, scale)}
            for at_ns, places in timeline
        ],
    }
    files = _files([condition, *(places for _, places in timeline)])
    return {**resolved, "files": files} if files else resolved


def _files(parts: list[Places]) -> list[dict[str, str]]:
    """Return the files that a condition names, each once, with the hash of what it said."""
    naming = [
        element.given
        for part in parts
        for elements in part.by_place().values()
        for element in elements
        if isinstance(element.given, Capacity | Delay | Lose)
    ]
    return _hashes({file.file: file.sha256 for given in naming for file in given.files})


def _hashes(files: dict[str, str]) -> list[dict[str, str]]:
    return [{"file": file, "sha256": sha256} for file, sha256 in sorted(files.items())]


def _places(places: Places, uplink_bps: int | None, scale: float) -> dict[str, Any]:
    return {
        place: [_element(element, uplink_bps, scale) for element in elements if not _does_nothing(element)]
        for place, elements in places.by_place().items()
    }


def _does_nothing(element: Element) -> bool:
    return isinstance(element.given, Delay) and element.given.does_nothing


def _element(element: Element, uplink_bps: int | None, scale: float) -> dict[str, Any]:
    given = element.given
    parameters = _parameters_of(given, uplink_bps, scale)
    if given.on is not None:
        parameters["on"] = list(given.on)
    return {element.word: parameters}


def _parameters_of(given: AnyElement, uplink_bps: int | None, scale: float) -> dict[str, Any]:
    match given:
        case Police():
            return {
                "rate_bps": scaled(given.rate_bps, scale),
                "burst_bytes": scaled(given.burst_bytes, scale),
            }
        case Shape():
            return {
                "rate_bps": scaled(given.rate_bps, scale),
                "burst_bytes": scaled(given.burst_bytes, scale),
                **resolved_queue(given, given.rate_bps, scale),
            }
        case Credit() | Pace() | Srtcm() | Trtcm():
            return given.resolved(scale)
        case Mark():
            return {"dscp": given.dscp}
        case Delay():
            return given.parameters()
        case Lose():
            return {"law": given.law()}
        case Reorder():
            return {"share_ppb": given.share_ppb, "time_ns": given.time_ns}
        case Duplicate() | Corrupt():
            return {"share_ppb": given.share_ppb}
        case Monitor():
            return {
                "what": list(given.what),
                "window_ns": given.window_ns,
                "burst_gap_ns": given.burst_gap_ns,
                "match": _match(given.match),
                "start": _start(given.start),
            }
        case Queue():
            return resolved_queue(given, uplink_bps, scale)
        case Schedule():
            queues = [_scheduled_queue(queue, uplink_bps, scale) for queue in given.queues]
            memory = {} if given.memory_bytes is None else {"memory_bytes": scaled(given.memory_bytes, scale)}
            return {"by": given.by, "queues": queues} | memory
        case Capacity():
            process = {"process": process_of(given, scale)}
            return process if given.direction is None else {**process, "direction": given.direction}


def _match(match: Match) -> dict[str, Any]:
    written = match.model_dump(by_alias=True, exclude_none=True)
    if match.protocol is not None:
        written["protocol"] = PROTOCOL_NUMBERS[match.protocol]
    return {key.replace(" ", "_"): value for key, value in written.items()}


def _start(start: int | Match | None) -> dict[str, Any]:
    return {"packet": _match(start)} if isinstance(start, Match) else {"after_ns": start or 0}


def _scheduled_queue(queue: ScheduledQueue, uplink_bps: int | None, scale: float) -> dict[str, Any]:
    resolved: dict[str, Any] = {"dscp": None if queue.dscp == "default" else list(queue.dscp)}
    if queue.weight is not None:
        resolved["weight"] = queue.weight
    return resolved | resolved_queue(queue, uplink_bps, scale)


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
