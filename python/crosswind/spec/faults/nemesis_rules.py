"""Rules for a nemesis: it has time for a fault and its end, and nodes that it may hit."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from pydantic import JsonValue

from crosswind.spec.document import Path
from crosswind.spec.draft import items, sound, value_at
from crosswind.spec.faults.nemesis import (
    FAULTS_MAX,
    OF_NETWORK,
    OF_TWO_NODES,
    Nemesis,
    hit_nodes,
    most_faults,
)
from crosswind.spec.faults.node_rules import application_findings, deepest, name_findings, twice_findings
from crosswind.spec.faults.nodes import nodes_of, nodes_of_all
from crosswind.spec.faults.rules import has_faults
from crosswind.spec.network import Network
from crosswind.spec.quantities import TIME, shown
from crosswind.spec.setting import Finding, Setting
from crosswind.spec.topology.placing import some_of

_KEY = "faults"


def nemesis_findings(condition: JsonValue, setting: Setting) -> Iterator[Finding]:
    """Yield what is wrong with the nemesis of a condition."""
    raw = value_at(condition, _KEY)
    if raw is None:
        return
    for path, step in items(condition, "at"):
        if has_faults(step):
            yield path, f"has faults beside the drawn ones of {_KEY}; write either, or a condition for each"
    nemesis = sound(Nemesis.model_validate, raw)
    if nemesis is None:
        return
    for path, message in (*_time_findings(nemesis, setting), *_node_findings(nemesis, raw, setting)):
        yield (_KEY, *path), message
    if nemesis.answer is not None and not set(nemesis.choose) & set(OF_NETWORK):
        yield (_KEY, "answer"), f"needs a fault of the network; choose {_or(OF_NETWORK)}, or remove it"


def _time_findings(nemesis: Nemesis, setting: Setting) -> Iterator[Finding]:
    shortest, length = TIME.text(nemesis.every.between[0]), TIME.text(nemesis.length_ns)
    if nemesis.length_ns >= nemesis.every.between[0]:
        yield (
            ("for",),
            f'"{length}" must be shorter than every: {shortest}; each fault ends before the next begins',
        )
        return
    measured_ns, application = setting.tested.measured_ns, setting.tested.application
    until_ns = nemesis.until_ns or measured_ns
    if until_ns is None:
        if application is not None:
            yield (), "needs `until`, because the length of the measurement is unknown; add until: 60s"
        return
    if measured_ns is not None and until_ns > measured_ns:
        measured = TIME.text(measured_ns)
        yield ("until",), f'"{TIME.text(until_ns)}" is after the end of the measurement; at most {measured}'
    elif nemesis.every.between[1] + nemesis.length_ns >= until_ns:
        longest = nemesis.every.between[1]
        yield (
            ("every",),
            f"leaves no time for one fault: {TIME.text(longest)} + for: {length} is "
            f"{TIME.text(longest + nemesis.length_ns)}, and must be below {TIME.text(until_ns)}; "
            "write shorter times, or measure longer",
        )
    elif (count := most_faults(nemesis, until_ns)) > FAULTS_MAX:
        yield ("every",), f'"{shortest}" makes {count} faults; at most {FAULTS_MAX}: write a longer time'


def _node_findings(nemesis: Nemesis, raw: JsonValue, setting: Setting) -> Iterator[Finding]:
    network = setting.network
    if network is None:
        return
    if nemesis.nodes is None:
        yield from _unnamed_findings(nemesis, setting, network)
        return
    named = [(name, deepest(raw, (), "nodes", number)) for number, name in enumerate(nemesis.nodes)]
    found = [each for name, path in named for each in name_findings(name, path, network)]
    found += twice_findings(named, network, {}, "each node has the same chance")
    of_nodes = [each for each in nemesis.choose if each not in OF_NETWORK]
    for name, path in named:
        found += _refused(name, path, of_nodes, setting, network)
    yield from found
    if not found:
        yield from _number_findings(nemesis, nodes_of_all(nemesis.nodes, network))


def _refused(
    name: str, path: Path, of_nodes: Sequence[str], setting: Setting, network: Network
) -> list[Finding]:
    """Return that a nemesis may not do to a node what it chooses from; one of several reasons."""
    return [
        each
        for node in nodes_of(name, network) or ()
        for do in of_nodes
        for each in application_findings(do, node, path, setting.tested)
    ][:1]


def _unnamed_findings(nemesis: Nemesis, setting: Setting, network: Network) -> Iterator[Finding]:
    """Yield why the usual nodes are no choice: those that do not measure."""
    application, faults = setting.tested.application, setting.tested.faults
    if application is None:
        yield from _number_findings(nemesis, list(network.nodes))
        return
    if faults is None:  # The application has errors.
        return
    if faults.measuring is None:
        yield (), f"needs `nodes`, because {application} does not declare which node measures; add them"
        return
    nodes = hit_nodes(nemesis, network, faults)
    if not nodes:
        yield (
            (),
            f"has no node to hit, because every node of {application} measures; add nodes, and choose "
            f"{_or(OF_NETWORK)}",
        )
        return
    if "kill" in nemesis.choose and not faults.restartable & set(nodes):
        index = nemesis.choose.index("kill")
        yield (
            ("choose", index),
            f'"kill" is for nodes that start again, and {application} has none; remove it',
        )
    yield from _number_findings(nemesis, nodes)


def _number_findings(nemesis: Nemesis, nodes: list[str]) -> Iterator[Finding]:
    for index, kind in enumerate(nemesis.choose):
        if kind in OF_TWO_NODES and len(nodes) < 2:
            yield (
                ("choose", index),
                f"{shown(kind)} needs two nodes, and may hit {some_of(nodes)} alone; write isolate, or nodes",
            )


def _or(words: tuple[str, ...]) -> str:
    return f"{', '.join(words[:-1])} or {words[-1]}"
