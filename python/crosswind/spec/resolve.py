"""Resolve an experiment: SI integers, scaled, with all defaults and conditions written out.

The result is `resolved.json` (docs/reference/contracts.md, section 5), which runs are recorded, compared and
resumed with.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from types import MappingProxyType

from crosswind.spec import applications
from crosswind.spec.backend import resolved_backend
from crosswind.spec.condition import Condition, Places, Step
from crosswind.spec.declared import NO_APPLICATION, Tested
from crosswind.spec.design import Point
from crosswind.spec.element import Element
from crosswind.spec.experiment import Experiment
from crosswind.spec.factor import LevelRange, unit_of
from crosswind.spec.faults.nemesis import drawn_faults
from crosswind.spec.faults.resolve import resolved_steps
from crosswind.spec.interference_resolved import resolve_interference
from crosswind.spec.load import load_catalogue_condition
from crosswind.spec.named_file import NamedFile, named_files
from crosswind.spec.network import Network
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.published import resolved_published
from crosswind.spec.resolved import (
    SCHEMA,
    Parameters,
    Resolved,
    ResolvedAdaptive,
    ResolvedApplication,
    ResolvedCapture,
    ResolvedCondition,
    ResolvedDesign,
    ResolvedFactor,
    ResolvedFigure,
    ResolvedFile,
    ResolvedLevel,
    ResolvedLimits,
    ResolvedProvider,
    ResolvedPublished,
    ResolvedRepeat,
    ResolvedTcp,
    ResolvedTestbed,
    ResolvedTopology,
    ResolvedTrials,
    ResolvedUntil,
    SentElement,
)
from crosswind.spec.resolved import Places as ResolvedPlaces
from crosswind.spec.scale import not_preserved, preserved
from crosswind.spec.testbed import Provided, Testbed
from crosswind.spec.topology import AnyTopology
from crosswind.spec.trials import Growing, Trials


def resolve(experiment: Experiment) -> Resolved:
    """Return the resolved experiment: all that determines a run.

    Raises: SpecErrors: a condition is no longer in the catalogue.
    """
    factors = _factors(experiment)
    dilations = [None] if experiment.time is None else experiment.time.dilation
    (application,) = experiment.application
    tested = applications.tested(application, experiment.parameters, list(experiment.topology.nodes))
    conditions = [
        resolve_condition(
            name,
            condition,
            experiment.topology,
            experiment.scale,
            _levels(experiment.points.get(name, {}), factors),
            tested,
        )
        for name, condition in named_conditions(experiment)
    ]
    if len(dilations) > 1:
        conditions = [condition.at(factor) for condition in conditions for factor in dilations]
    return Resolved(
        schema_version=SCHEMA,
        name=experiment.name,
        summary=experiment.summary,
        source=experiment.source,
        scale=experiment.scale,
        topology=resolve_topology(experiment.topology, experiment.scale, _own_limits(experiment)),
        tcp=resolve_tcp(experiment.topology),
        testbed=resolve_testbed(experiment.testbed),
        backend=resolved_backend(experiment.backend),
        overlay=experiment.overlay,
        dilation=dilations[0] if len(dilations) == 1 else None,
        application=_application(experiment),
        trials=_trials(experiment.trials),
        factors=factors,
        design=_design(experiment),
        conditions=conditions,
        published=_published(experiment),
        warnings=[*not_preserved(experiment.scale), *_remarks(experiment)],
        preserved=preserved(experiment.scale),
    )


def named_conditions(experiment: Experiment) -> Iterator[tuple[str, Condition]]:
    """Yield the experiment's conditions with their names, those of the catalogue included."""
    for entry in experiment.conditions:
        if isinstance(entry, str):
            yield entry, load_catalogue_condition(entry)
        else:
            yield from entry.items()


def resolve_topology(
    topology: AnyTopology, scale: float, own_limits: Mapping[str, NodeLimits] = MappingProxyType({})
) -> ResolvedTopology:
    """Return `topology` of the resolved experiment.

    Args:
        own_limits: limits of nodes in the application's own files.
    """
    limits = {
        name: placed.limits.filled(own_limits.get(name, NodeLimits())).as_request()
        for name, placed in topology.nodes.items()
    }
    more = {
        "limits": {name: limit for name, limit in limits.items() if limit},
        "mtu_bytes": topology.mtu_bytes,
        "wait": topology.wait,
        "files": _hashes(named_files(topology)),
    }
    return topology.network().resolved(scale).model_copy(update=more)


def resolve_tcp(topology: AnyTopology) -> ResolvedTcp:
    """Return `tcp` of the resolved experiment."""
    return ResolvedTcp(
        congestion_control=topology.tcp.congestion_control,
        rto_min_us=topology.tcp.rto_min_ns // 1000,
        ecn=topology.tcp.ecn,
        socket_buffer_bytes=topology.tcp.socket_buffer_bytes,
    )


def resolve_testbed(testbed: Testbed | Provided | str) -> ResolvedTestbed | None:
    """Return `testbed` of the resolved experiment; None: this machine."""
    if isinstance(testbed, str):
        return None
    machines, provider, carried = (
        (testbed.ssh, None, testbed)
        if isinstance(testbed, Testbed)
        else (
            testbed.parameters,
            ResolvedProvider(name=testbed.provider, parameters=testbed.values()),
            testbed.carried,
        )
    )
    return ResolvedTestbed(
        machines=machines.machines(),
        provider=provider,
        place=machines.place,
        network=None if carried.network == "udp" else carried.network,
        interface=carried.interface,
        delay_ns=machines.underlay.delay_ns,
        clock_error_ns=machines.underlay.clock_error_ns,
        files=_hashes(named_files(machines)),
    )


def resolve_condition(
    name: str,
    condition: Condition,
    topology: AnyTopology,
    scale: float,
    levels: Mapping[str, ResolvedLevel] = MappingProxyType({}),
    tested: Tested = NO_APPLICATION,
) -> ResolvedCondition:
    """Return one condition of the resolved experiment: elements and interference in SI integers.

    Args:
        levels: of its factors.
        tested: the application.
    """
    network = topology.network()
    timeline: dict[int, Step] = dict(sorted((condition.at or {}).items()))
    drawn = {} if condition.faults is None else drawn_faults(condition.faults, network, tested)
    return ResolvedCondition(
        name=name,
        summary=condition.summary,
        places=_places(condition, network, scale),
        interference=[
            resolved
            for entry in condition.interferences()
            for resolved in resolve_interference(entry, topology, network, scale)
        ],
        timeline=resolved_steps(
            {at_ns: _places(step, network, scale) for at_ns, step in timeline.items()},
            {**timeline, **drawn},
            network,
        ),
        files=_files([condition, *timeline.values()]),
        factors=dict(levels),
    )


def _files(parts: list[Places]) -> list[ResolvedFile]:
    """Return the files that a condition names, each once, with the hash of its content."""
    return _hashes(
        file
        for part in parts
        for elements in part.by_place().values()
        for element in elements
        for file in named_files(element.given)
    )


def _hashes(named: Iterable[NamedFile[object]]) -> list[ResolvedFile]:
    files = {file.file: file.sha256 for file in named}
    return [ResolvedFile(file=file, sha256=sha256) for file, sha256 in sorted(files.items())]


def _places(places: Places, network: Network, scale: float) -> ResolvedPlaces:
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
) -> list[SentElement]:
    """Return an element as the agent takes it.

    Several where links of different rates need different parameters; none where it does nothing.
    """
    found: list[tuple[Parameters | None, list[str]]] = []
    for link in network.wires(place, on):
        parameters = element.sent(link.rate_bps, scale)
        # At a host's own places the name is that of the host, because links have no names there.
        name = {"host.egress": link.source, "host.ingress": link.target}.get(place, link.name)
        same = next((names for known, names in found if known == parameters), None)
        if same is None:
            found.append((parameters, [name]))
        else:
            same.append(name)
    if len(found) < 2:
        # As written, which is clearer than a list of links.
        parameters = found[0][0] if found else element.sent(None, scale)
        if parameters is None:
            return []
        return [{element.word: parameters if on is None else {**parameters, "on": [*on]}}]
    return [{element.word: {**(parameters or {}), "on": [*names]}} for parameters, names in found]


def _factors(experiment: Experiment) -> dict[str, ResolvedFactor]:
    """Return `factors`, each with the levels of the conditions."""
    found = {}
    for name, factor in (experiment.factors or {}).items():
        levels = [point[name] for point in experiment.points.values() if name in point]
        found[name] = ResolvedFactor(
            unit=unit_of(levels),
            spacing=factor.spacing if isinstance(factor, LevelRange) else None,
            levels=list(dict.fromkeys(level.text for level in levels)),
        )
    return found


def _published(experiment: Experiment) -> ResolvedPublished | None:
    if experiment.published is None:
        return None
    names = [name for name, _ in named_conditions(experiment)]
    return resolved_published(experiment.published, names)


def _design(experiment: Experiment) -> ResolvedDesign | None:
    """Return `design` where conditions are chosen during the run; None where all are run."""
    adaptive = None if experiment.design is None else experiment.design.adaptive
    if adaptive is None:
        return None
    return ResolvedDesign(
        adaptive=ResolvedAdaptive(start=adaptive.start, at_most=adaptive.at_most, step=adaptive.step)
    )


def _levels(point: Point, factors: Mapping[str, ResolvedFactor]) -> dict[str, ResolvedLevel]:
    """Return levels as written, not scaled, in their factor's unit; or as text."""
    return {
        name: level.text if level.number is None or factors[name].unit is None else level.number
        for name, level in point.items()
    }


def _application(experiment: Experiment) -> ResolvedApplication:
    (name,) = experiment.application
    return ResolvedApplication(
        name=name,
        size=experiment.size,
        parameters=experiment.parameters.model_dump(mode="json"),
        figures=[
            ResolvedFigure(
                metric=figure.metric,
                statistic=figure.statistic,
                unit=figure.unit,
                label=figure.label,
                better=figure.better,
            )
            for figure in applications.figures(name, experiment.parameters)
        ],
        files=_hashes(named_files(experiment.parameters)),
    )


def _own_limits(experiment: Experiment) -> Mapping[str, NodeLimits]:
    (name,) = experiment.application
    return applications.node_limits(name, experiment.parameters)


def _remarks(experiment: Experiment) -> list[str]:
    (name,) = experiment.application
    return applications.remarks(name, experiment.parameters)


def _trials(trials: Trials) -> ResolvedTrials:
    limit_ns, capture = trials.limits.duration_ns, trials.capture
    return ResolvedTrials(
        repeat=_repeat(trials.repeat),
        order=trials.order,
        rest_s=None if trials.rest_ns is None else trials.rest_ns / 1e9,
        budgets=trials.budgets,
        seed=trials.seed,
        limits=ResolvedLimits(
            duration_s=None if limit_ns is None else limit_ns / 1e9,
            void=trials.limits.void,
            failed=trials.limits.failed,
        ),
        record=trials.record,
        capture=None
        if capture is None
        else ResolvedCapture(snap_bytes=capture.snap_bytes, limit_bytes=capture.limit_bytes),
    )


def _repeat(repeat: int | Growing) -> ResolvedRepeat:
    if isinstance(repeat, int):
        return ResolvedRepeat(at_least=repeat, at_most=repeat, until=None)
    until = ResolvedUntil(
        quantile=repeat.until.quantile, within=repeat.until.within, confidence=repeat.until.confidence
    )
    return ResolvedRepeat(at_least=repeat.at_least, at_most=repeat.at_most, until=until)
