"""Turn an experiment into what is run: SI integers, scaled, all defaults and conditions written out.

The result is `resolved.json` (docs/reference/contracts.md, section 5): what is recorded, compared and
resumed.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from crosswind.spec import applications
from crosswind.spec.condition import Condition, Interference, NormalLaw, Places
from crosswind.spec.element import Delay, Element, Mark, Police, Schedule, Shape
from crosswind.spec.experiment import Experiment
from crosswind.spec.load import load_catalogue_condition
from crosswind.spec.quantities import Intensity
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
        **resolve_topology(experiment.topology, experiment.scale),
        "application": _application(experiment),
        "trials": _trials(experiment.trials),
        "conditions": [
            resolve_condition(name, condition, experiment.topology, experiment.scale)
            for name, condition in named_conditions(experiment)
        ],
        "warnings": not_preserved(experiment.scale),
        "preserved": preserved(experiment.scale),
    }


def named_conditions(experiment: Experiment) -> Iterator[tuple[str, Condition]]:
    """Yield the experiment's conditions with their names, those of the catalogue included."""
    for entry in experiment.conditions:
        if isinstance(entry, str):
            yield entry, load_catalogue_condition(entry)
        else:
            yield from entry.items()


def resolve_topology(topology: Topology, scale: float) -> dict[str, Any]:
    """Return `topology` and `tcp` of the resolved experiment."""
    uplink = topology.uplink
    return {
        "topology": {
            "hosts": list(topology.hosts),
            "nodes": dict(topology.nodes),
            "uplink": {
                "rate_bps": scaled(uplink.rate_bps, scale),
                "delay_ns": uplink.delay_ns,
                "buffer_bytes": scaled(uplink.buffer_bytes, scale),
            },
            "mtu_bytes": topology.mtu_bytes,
        },
        "tcp": {
            "congestion_control": topology.tcp.congestion_control,
            "rto_min_us": topology.tcp.rto_min_ns // 1000,
        },
    }


def resolve_condition(name: str, condition: Condition, topology: Topology, scale: float) -> dict[str, Any]:
    """Return one condition of the resolved experiment: elements and interference in SI integers."""
    timeline = sorted((condition.at or {}).items())
    return {
        "name": name,
        "summary": condition.summary,
        "places": _places(condition, scale),
        "interference": [
            resolved
            for entry in condition.interferences()
            for resolved in _interference(entry, topology, scale)
        ],
        "timeline": [{"at_ns": at_ns, "places": _places(places, scale)} for at_ns, places in timeline],
    }


def _places(places: Places, scale: float) -> dict[str, Any]:
    return {
        place: [_element(element, scale) for element in elements]
        for place, elements in places.by_place().items()
    }


def _element(element: Element, scale: float) -> dict[str, Any]:
    given = element.given
    parameters = _parameters_of(given, scale)
    if given.on is not None:
        parameters["on"] = list(given.on)
    return {element.word: parameters}


def _parameters_of(given: Police | Shape | Mark | Delay | Schedule, scale: float) -> dict[str, Any]:
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
                "buffer_bytes": scaled(given.buffer_bytes, scale),
            }
        case Mark():
            return {"dscp": given.dscp}
        case Delay():
            return {"time_ns": given.time_ns}
        case Schedule():
            return {"by": given.by, "queues": [_queue(queue, scale) for queue in given.queues]}


def _queue(queue: Any, scale: float) -> dict[str, Any]:
    resolved: dict[str, Any] = {"dscp": None if queue.dscp == "default" else list(queue.dscp)}
    if queue.weight is not None:
        resolved["weight"] = queue.weight
    if queue.buffer_bytes is not None:
        resolved["buffer_bytes"] = scaled(queue.buffer_bytes, scale)
    return resolved


def _interference(entry: Interference, topology: Topology, scale: float) -> Iterator[dict[str, Any]]:
    # Shares of an unlimited uplink were refused when the file was read, except for the default bounds of a
    # law.
    uplink_bps = topology.uplink.rate_bps

    def bps(intensity: Intensity) -> int:
        if intensity.rate_bps is not None:
            return scaled(intensity.rate_bps, scale)
        return 0 if uplink_bps is None else intensity.of(scaled(uplink_bps, scale))

    rate: dict[str, Any]
    if isinstance(entry.rate, NormalLaw):
        law = entry.rate.normal
        rate = {
            "normal": {
                "mean_bps": bps(law.mean),
                "sd_bps": bps(law.sd),
                "low_bps": bps(law.low),
                "high_bps": bps(law.high),
            }
        }
    else:
        rate = {"constant_bps": bps(entry.rate)}
    for first, second in entry.between:
        yield {
            "between": [first, second],
            "by": entry.by,
            "rate": rate,
            "hold_ns": entry.hold_ns,
            "pacing_ns": entry.pacing_ns,
            "packet_ip_bytes": topology.mtu_bytes,
            "zero": entry.zero,
        }


def _application(experiment: Experiment) -> dict[str, Any]:
    ((name, raw),) = experiment.application.items()
    parameters = applications.parameters_of(name).model_validate(raw)
    return {"name": name, "parameters": parameters.model_dump(mode="json")}


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
        "rest_s": trials.rest_ns / 1e9,
        "seed": trials.seed,
        "limits": {
            "duration_s": None if limit_ns is None else limit_ns / 1e9,
            "void": trials.limits.void,
            "failed": trials.limits.failed,
        },
    }
