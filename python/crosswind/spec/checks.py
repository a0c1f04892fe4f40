"""Check an experiment as a whole: rules that need more than one part of the file.

Every check reads what it needs from the plain values and skips values with errors, which are reported where
they are read.
"""

from __future__ import annotations

import math
from collections.abc import Collection, Iterator
from functools import lru_cache

from pydantic import JsonValue, TypeAdapter, ValidationError

from crosswind import catalog
from crosswind.spec import applications, declared
from crosswind.spec.backend import CROSSWIND
from crosswind.spec.base import ReadingContext, SpecModel, keys_of
from crosswind.spec.budget_rules import budget_findings
from crosswind.spec.catalogue_condition import read_catalogue_condition
from crosswind.spec.declared import NO_APPLICATION, Tested
from crosswind.spec.design import CONDITIONS_MAX
from crosswind.spec.dilation import Slowed, lacks_room
from crosswind.spec.document import Document, Path
from crosswind.spec.draft import items, only_key, sound, sound_field, value_at
from crosswind.spec.experiment import Experiment
from crosswind.spec.node_limits import NodeLimits
from crosswind.spec.parameters.buffer import Emptied, buffer_findings
from crosswind.spec.problems import Problem
from crosswind.spec.published import published_findings
from crosswind.spec.quantities import shown
from crosswind.spec.rules import condition_findings
from crosswind.spec.setting import Finding, Setting
from crosswind.spec.testbed import LOCAL, Provided, Testbed, TestbedEntry, testbed_findings
from crosswind.spec.topology import AnyTopology, Star, form_of
from crosswind.spec.topology.common import USUAL_BUFFER_TEXT, Uplink, WrittenBuffer
from crosswind.spec.topology.domains import cut_findings, name_findings
from crosswind.spec.translate import describe
from crosswind.spec.trials import Growing, Limits, Trials, Until
from crosswind.text.nearest import did_you_mean

_TESTBED: TypeAdapter[Testbed | Provided | str] = TypeAdapter(TestbedEntry)

OVERLAY_BYTES = 50  # Ethernet, IPv4, UDP and VXLAN around each packet.
MTU_BYTES = (576, 9000)  # IPv4 hosts must take 576 (RFC 791); 9000 is the usual jumbo frame.


def experiment_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong with an experiment besides its single values."""
    yield from topology_problems(document)
    yield from _testbed_problems(document)
    yield from _overlay_problems(document)
    yield from time_problems(document)
    yield from conditions_problems(document, [path for path, _ in items(document.data, "conditions")])
    yield from _application_problems(document)
    yield from _trials_problems(document)
    yield from _published_problems(document)


@lru_cache(maxsize=1)
def setting_of(document: Document) -> Setting:
    """Return the setting of this file's conditions."""
    raw = value_at(document.data, "topology")
    form, topology = form_of(raw), _sound_topology(document)
    network = None if topology is None or any(topology.findings(raw)) else topology.network()
    uplink = value_at(raw, "uplink")
    hosts = sound_field(Star, "hosts", raw) if form is Star else None
    return Setting(
        hosts=hosts if network is None else list(network.hosts),
        nodes=sound_field(form, "nodes", raw),
        mtu_bytes=sound_field(form, "mtu_bytes", raw),
        scale=sound_field(Experiment, "scale", document.data) or 1.0,
        network=network,
        uplink_bps=sound_field(Uplink, "rate_bps", uplink) if form is Star else None,
        uplink_unlimited=form is Star and value_at(uplink, "rate") == "unlimited",
        tested=_tested(document, sound_field(form, "nodes", raw)),
    )


# A topology can name a file of many links, and most rules look at it.
@lru_cache(maxsize=1)
def _sound_topology(document: Document) -> AnyTopology | None:
    """Return the topology with the files that it names, None where it has an error."""
    raw = value_at(document.data, "topology")
    try:
        return form_of(raw).model_validate(
            raw, context=ReadingContext(document.named_file, document.files_below)
        )
    except ValidationError:
        return None


def topology_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between hosts, nodes, links, MTU and buffers."""
    raw, topology = value_at(document.data, "topology"), _sound_topology(document)
    found = [] if topology is None else list(topology.findings(raw))
    divided = () if topology is None else _domain_findings(topology, is_sound=not found)
    for path, message in (*found, *divided):
        yield _problem(document, ("topology", *path), message)
    if form_of(raw) is Star:
        yield from _star_problems(document)
    mtu_bytes = sound_field(form_of(raw), "mtu_bytes", raw)
    if mtu_bytes is not None and not MTU_BYTES[0] <= mtu_bytes <= MTU_BYTES[1]:
        text = shown(value_at(raw, "mtu"))
        yield _problem(document, ("topology", "mtu"), f"{text} is outside {MTU_BYTES[0]}B to {MTU_BYTES[1]}B")
    elif mtu_bytes is not None and not found:
        scale = sound_field(Experiment, "scale", document.data) or 1.0
        for path, message in _buffer_findings(_buffers(raw, topology), mtu_bytes, scale):
            yield _problem(document, ("topology", *path), message)


def _testbed_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between machines, and with what is placed on them."""
    raw = value_at(document.data, "testbed")
    try:
        testbed = _TESTBED.validate_python(
            raw, context=ReadingContext(document.named_file, document.files_below)
        )
    except ValidationError:
        return  # Also without a testbed.
    if isinstance(testbed, str):
        return
    topology = _sound_topology(document)
    is_sound = topology is not None and not any(topology.findings(value_at(document.data, "topology")))
    for path, message in testbed_findings(testbed, topology.network() if topology and is_sound else None):
        yield _problem(document, ("testbed", *path), message)


def _overlay_problems(document: Document) -> Iterator[Problem]:
    """Yield that nothing of the MTU is left for packets inside an overlay."""
    raw = value_at(document.data, "topology")
    mtu_bytes = sound_field(form_of(raw), "mtu_bytes", raw)
    least = MTU_BYTES[0] + OVERLAY_BYTES
    if value_at(document.data, "overlay") == "vxlan" and mtu_bytes is not None and mtu_bytes < least:
        inside = mtu_bytes - OVERLAY_BYTES
        text = f"leaves an MTU of {inside}B inside; write topology: {{mtu: {least}B}} or more"
        yield _problem(document, ("overlay",), text)


def time_problems(document: Document) -> Iterator[Problem]:
    """Yield why time cannot be slowed down in this network."""
    time, topology = sound_field(Experiment, "time", document.data), _sound_topology(document)
    if time is None:
        return
    backend = value_at(document.data, "backend")
    nodes = {} if topology is None else topology.nodes
    network = Slowed(
        limits_ppm={name: placed.limits.as_request().get("cpus_ppm") for name, placed in nodes.items()},
        is_elsewhere=value_at(document.data, "testbed") not in (None, LOCAL),
        backend=None if backend in (None, CROSSWIND) else only_key(backend) or str(backend),
        real_traffic=[name for name, condition in _named_conditions(document) if _is_real(condition)],
    )
    for factor in time.dilation:
        for message in network.hindrances(factor):
            yield _problem(document, ("time", "dilation"), f"{factor}: {message}")
    if len(time.dilation) < 2:
        return
    for name, _ in _named_conditions(document):
        if lacks_room(name):
            text = f"condition {name} would be run at each, and its name has no room for that; shorten it"
            yield _problem(document, ("time", "dilation"), text)
    if value_at(document.data, "design", "adaptive") is not None:
        text = "with several, design: adaptive has no one condition to choose; write one, or remove adaptive"
        yield _problem(document, ("time", "dilation"), text)


def _is_real(condition: JsonValue) -> bool:
    """Return whether processes make some of the interference of a condition."""
    many = isinstance(value_at(condition, "interference"), list)
    entries = items(condition, "interference") if many else [((), value_at(condition, "interference"))]
    return any(value_at(entry, "by") == "iperf3" for _, entry in entries)


def _domain_findings(topology: AnyTopology, *, is_sound: bool) -> Iterator[Finding]:
    """Yield what is wrong with the domains of a topology; its links are checked where the rest is sound."""
    yield from name_findings(
        topology.divided, topology.placed, topology.switch_names, topology.left_out, topology.switch_noun
    )
    if is_sound and isinstance(topology.divided, tuple):
        yield from cut_findings(topology.network())


def _buffers(raw: JsonValue, topology: AnyTopology | None) -> Iterator[WrittenBuffer]:
    """Yield the buffers of a topology; of a star with errors, its one buffer where that is sound."""
    if topology is not None:
        yield from topology.buffers(raw)
    elif form_of(raw) is Star:
        uplink = value_at(raw, "uplink")
        buffer, rate_bps = sound_field(Uplink, "buffer", uplink), sound_field(Uplink, "rate_bps", uplink)
        is_known = rate_bps is not None or value_at(uplink, "rate") == "unlimited"
        if buffer is not None:
            text = value_at(uplink, "buffer") or USUAL_BUFFER_TEXT
            yield WrittenBuffer(("uplink", "buffer"), text, buffer, [rate_bps] if is_known else [])


def _buffer_findings(buffers: Iterator[WrittenBuffer], mtu_bytes: int, scale: float) -> Iterator[Finding]:
    for written in buffers:
        limits = [rate_bps for rate_bps in written.rates_bps if rate_bps is not None]
        by = Emptied(min(limits, default=None), len(limits) < len(written.rates_bps), mtu_bytes, scale)
        for _, message in buffer_findings(written.buffer, written.text, by):
            yield written.path, message


def _star_problems(document: Document) -> Iterator[Problem]:
    """Yield what is wrong between hosts and nodes of a star, also where other parts of it have errors."""
    raw = value_at(document.data, "topology")
    hosts: list[str] = sound_field(Star, "hosts", raw) or []
    for index, host in enumerate(hosts):
        if host in hosts[:index]:
            yield _problem(
                document,
                ("topology", "hosts", index),
                f'"{host}" is given twice; give each host its own name',
            )
    for path, placed in items(document.data, "topology", "nodes"):
        on = placed.get("host") if isinstance(placed, dict) else placed
        if hosts and isinstance(on, str) and on not in hosts:
            remedy = did_you_mean(on, hosts) or f"hosts are {', '.join(hosts)}"
            yield _problem(document, path, f"is on {shown(on)}, which is not a host; {remedy}")
        if path[-1] in hosts:
            yield _problem(
                document, path, "is also the name of a host; give the node another name", at_key=True
            )


def conditions_problems(document: Document, paths: list[Path]) -> Iterator[Problem]:
    """Yield what is wrong with the conditions at `paths`, each a name or `name: condition`."""
    setting = setting_of(document)
    names: list[str] = []
    for path in paths[:CONDITIONS_MAX]:  # Reading refuses more.
        entry = value_at(document.data, *path)
        if isinstance(entry, str):
            name, place = entry, path
            yield from _catalogue_problems(document, path, entry, setting)
        elif (inline := only_key(entry)) is not None:
            name, place = inline, (*path, inline)
            for inner, message in condition_findings(value_at(entry, name), setting):
                yield _problem(document, (*place, *inner), message)
        else:
            continue
        if name in names:
            yield _problem(
                document,
                place,
                f"{shown(name)} is given twice; give each condition its own name",
                at_key=True,
            )
        names.append(name)


def _catalogue_problems(document: Document, path: Path, name: str, setting: Setting) -> Iterator[Problem]:
    known = catalog.condition_names()
    if name not in known:
        meant = did_you_mean(name, known, count=3)
        remedy = (
            f"{meant} (`crosswind conditions` lists all)" if meant else "`crosswind conditions` lists them"
        )
        yield _problem(document, path, f"{shown(name)} is not a condition of the catalogue; {remedy}")
        return
    for inner, message in condition_findings(_catalogue_condition(name), setting):
        yield document.problem(path, f"condition {name}: {describe(inner, message)}")


def _catalogue_condition(name: str) -> JsonValue:
    """Return a condition of the catalogue as plain values."""
    ((_, condition),) = items(read_catalogue_condition(name).data)
    return condition


def _tested(document: Document, nodes: Collection[str] | None) -> Tested:
    """Return what conditions need to know of the application; nothing where it has errors."""
    parameters = _parameters(document)
    if parameters is None:
        return NO_APPLICATION
    ((_, name), _) = items(document.data, "application")[0]
    return applications.tested(str(name), parameters, nodes or ())


def _parameters(document: Document) -> SpecModel | None:
    """Return the application's parameters; None where they or the application have errors."""
    for (_, name), raw in items(document.data, "application")[:1]:
        if name in applications.names():
            return sound(applications.parameters_of(str(name)).model_validate, raw)
    return None


def _application_problems(document: Document) -> Iterator[Problem]:
    known = applications.names()
    names = [str(path[-1]) for path, _ in items(document.data, "application")]
    meant = next((name for name in names if name in known), None)
    for path, _ in items(document.data, "application"):
        name = str(path[-1])
        if meant is not None and name != meant:
            message = f"application: {_not_beside(name, meant)}"
            yield document.problem(path, message, at_key=True)
            continue
        if name not in known:
            remedy = did_you_mean(name, known) or f"choose one of {', '.join(known)}"
            message = f"{shown(name)} is not an application; {remedy} (`crosswind apps` lists them)"
            yield document.problem(path, f"application: {message}", at_key=True)
            continue
        nodes = setting_of(document).nodes
        for role in [] if nodes is None else applications.roles_missing(name, nodes):
            message = f'{name} needs a node "{role}"; place it on a host, such as {role}: h0'
            yield document.problem(("topology", "nodes"), f"topology.nodes: {message}", at_key=True)


def _not_beside(name: str, application: str) -> str:
    """Return what is wrong with a key beside the application."""
    if name in applications.names():
        return f"{name} is a second application beside {application}; an experiment has one: remove one"
    if name in keys_of(Experiment):
        place = "to the left margin"
    else:
        place = f"below {'trials' if name in keys_of(Trials) else application}"
    return f"{shown(name)} is beside {application}, where only one application is expected; move it {place}"


def misfit_problems(document: Document, parameters: SpecModel) -> Iterator[Problem]:
    """Yield where the application's parameters, read as a whole, do not fit the topology."""
    raw = value_at(document.data, "topology")
    nodes = sound_field(form_of(raw), "nodes", raw)
    named = items(document.data, "application")
    if nodes is None or len(named) != 1:
        return
    for path, _ in named:
        name = str(path[-1])
        for inner, message in applications.misfits(name, parameters, nodes):
            yield _problem(document, (*path, *inner), message)
        for node, own in applications.node_limits(name, parameters).items():
            placed = nodes[node].limits if node in nodes else NodeLimits()
            for key, text in placed.contradictions(own):
                place = ("topology", "nodes", node, key)
                written = shown(value_at(document.data, *place))
                message = f"{written} contradicts the {text} of {name}'s own files; remove one"
                yield _problem(document, place, message)


def _trials_problems(document: Document) -> Iterator[Problem]:
    trials = value_at(document.data, "trials")
    repeat = value_at(trials, "repeat")
    at_least = sound_field(Growing, "at_least", repeat)
    at_most = sound_field(Growing, "at_most", repeat)
    where = ("trials", "repeat")
    if at_least is not None and at_most is not None and at_least > at_most:
        yield _problem(
            document, (*where, "at least"), f'"{at_least}" is above at most "{at_most}"; swap them'
        )
    until = value_at(repeat, "until")
    quantile, confidence = sound_field(Until, "quantile", until), sound_field(Until, "confidence", until)
    if confidence is not None and not 0 < confidence < 1:
        yield _problem(
            document, (*where, "until", "confidence"), "must be above 0% and below 100%; 95% is usual"
        )
    elif quantile is not None and confidence is not None and at_most is not None:
        needed = trials_needed(quantile, confidence)
        if at_most < needed:
            message = (
                f'"{at_most}" is too few: a {100 * confidence:g} % interval of the {quantile:g} quantile '
                f"needs at least {needed} trials; write at least {needed}, or another quantile"
            )
            yield _problem(document, (*where, "at most"), message)
    if sound_field(Until, "within", until) == 0:
        yield _problem(
            document, (*where, "until", "within"), "is zero and can never be reached; write a share above 0%"
        )
    for path, message in _one_domain_findings(document):
        yield _problem(document, ("trials", *path), message)
    for path, message in budget_findings(trials, _conditions(document)):
        yield _problem(document, ("trials", *path), message)
    yield from _duration_problems(document, at_least or sound_field(Trials, "repeat", trials))


def _one_domain_findings(document: Document) -> Iterator[Finding]:
    """Yield files that the emulator writes in one domain only, where several domains are declared."""
    raw, trials = value_at(document.data, "topology"), value_at(document.data, "trials")
    domains = sound_field(form_of(raw), "domains", raw)
    count = len(domains) if isinstance(domains, list) else domains
    if not isinstance(count, int) or count < 2:
        return
    for key in ("record", "capture"):
        if sound_field(Trials, key, trials):
            yield (
                (key,),
                f"needs one domain, and the topology has {count}; write domains: 1 there, or remove {key}",
            )


def _published_problems(document: Document) -> Iterator[Problem]:
    entry = sound_field(Experiment, "published", document.data)
    if entry is None:
        return
    found = [value for _, value in items(document.data, "conditions")]
    names = [next(iter(value)) if isinstance(value, dict) and value else value for value in found]
    for path, message in published_findings(entry, [name for name in names if isinstance(name, str)]):
        yield _problem(document, ("published", *path), message)


def _conditions(document: Document) -> Iterator[JsonValue]:
    """Yield the conditions of the file, and those that it names from the catalogue, as plain values."""
    yield from (condition for _, condition in _named_conditions(document))


def _named_conditions(document: Document) -> Iterator[tuple[str, JsonValue]]:
    """As `_conditions`, with their names."""
    for _, entry in items(document.data, "conditions"):
        if isinstance(entry, str) and entry in catalog.condition_names():
            yield entry, _catalogue_condition(entry)
        elif (name := only_key(entry)) is not None:
            yield name, value_at(entry, name)


def trials_needed(quantile: float, confidence: float) -> int:
    """Return how many trials an equal-tailed distribution-free interval needs to have both ends.

    With n trials the lowest and highest value bound the quantile, except with probability (1-q)^n and q^n:
    each must be at most half of 1 - confidence. Median and 95 %: 6.

    Source: Le Boudec, Performance Evaluation of Computer and Communication Systems, 2010, chapter 2.
    """
    tail = (1 - confidence) / 2
    return math.ceil(math.log(tail) / math.log(max(quantile, 1 - quantile)) - 1e-9)


def _duration_problems(document: Document, repeat: object) -> Iterator[Problem]:
    """Yield that the time limit of a run is too short for its trials, before the run starts."""
    trials = value_at(document.data, "trials")
    limit_ns = sound_field(Limits, "duration_ns", value_at(trials, "limits"))
    busy_ns = declared.busy_ns(_parameters(document))
    rest_ns = sound_field(Trials, "rest_ns", trials)
    if limit_ns is None or busy_ns is None or rest_ns is None or not isinstance(repeat, int):
        return
    count = repeat * len(items(document.data, "conditions"))
    time = sound_field(Experiment, "time", document.data)
    # The limit is of real time.
    factors = [1] if time is None else time.dilation
    count, needed_ns = count * len(factors), count * (busy_ns + rest_ns) * sum(factors)
    if needed_ns > limit_ns:
        text = shown(value_at(trials, "limits", "duration"))
        message = (
            f"{text} is too short for {count} trials, which take {needed_ns / 1e9:g}s without their set-up; "
            f"allow more time, or write fewer or shorter trials"
        )
        yield _problem(document, ("trials", "limits", "duration"), message)


def _problem(document: Document, path: Path, message: str, *, at_key: bool = False) -> Problem:
    return document.problem(path, describe(path, message), at_key=at_key)
