"""Rules for the nodes of faults: their names, and what the application says of them."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence

from pydantic import JsonValue

from crosswind.spec.declared import Tested
from crosswind.spec.document import Path
from crosswind.spec.draft import value_at
from crosswind.spec.faults.nodes import names_in, nodes_of
from crosswind.spec.network import Network
from crosswind.spec.quantities import shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology.placing import some_of
from crosswind.text.nearest import did_you_mean

# The fault of a node that does not stop what runs on it.
HARMLESS = ("resume", "release")


def deepest(raw: JsonValue, path: Path, *inner: str | int) -> Path:
    """Return the path of a part of the value at `path`, as far as the value is written out."""
    for part in inner:
        raw = value_at(raw, part)
        if raw is None:
            break
        path = (*path, part)
    return path


def name_findings(name: str, path: Path, network: Network) -> Iterator[Finding]:
    """Yield that a name is of nothing, or of a host or switch without nodes."""
    nodes = nodes_of(name, network)
    if nodes:
        return
    if nodes is None:
        known = names_in(network)
        noun = {"star": "node or host", "zones": "node, host or zone", "graph": "node, host or switch"}
        remedy = did_you_mean(name, known) or f"choose one of {some_of(known)}"
        yield path, f"names {shown(name)}, which is not a {noun[network.form]}; {remedy}"
    else:
        yield path, f"names {shown(name)}, which has no node; name one of {some_of(list(network.nodes))}"


def twice_findings(
    names: Sequence[tuple[str, Path]], network: Network, seen: dict[str, str], rule: str
) -> Iterator[Finding]:
    """Yield nodes that are named twice.

    Args:
        seen: the name by which each node was named before; it is added to.
        rule: what each node is to be, such as `a node is in one group`.
    """
    for name, path in names:
        for node in nodes_of(name, network) or ():
            if node in seen:
                by = {seen[node], name} - {node}
                how = f" (by {' and '.join(map(shown, sorted(by)))})" if by else ""
                yield path, f"names {shown(node)} twice{how}; {rule}: remove one"
                break
        for node in nodes_of(name, network) or ():
            seen.setdefault(node, name)


def application_findings(do: str, node: str, path: Path, tested: Tested) -> Iterator[Finding]:
    """Yield that the application forbids a fault of a node."""
    if tested.application is None or tested.faults is None or do in HARMLESS:
        return
    measuring, restartable, storing = (
        tested.faults.measuring,
        tested.faults.restartable,
        tested.faults.storing,
    )
    if measuring is None:
        yield (
            path,
            f"names {shown(node)}, and {tested.application} does not declare which node measures; cut nodes "
            f"off instead, such as isolate: {node}",
        )
    elif node in measuring:
        yield (
            path,
            f"names {shown(node)}, which measures, and nothing would be measured; {_others(measuring, node)}",
        )
    elif do in ("kill", "restart") and node not in restartable:
        able = some_of(sorted(restartable))
        remedy = f"name one of {able}" if restartable else f"write pause and resume, or isolate: {node}"
        yield path, f"names {shown(node)}, which {tested.application} cannot start again; {remedy}"
    elif do == "disk" and node not in storing:
        remedy = f"name one of {some_of(sorted(storing))}" if storing else "leave disk out"
        yield (
            path,
            f"names {shown(node)}, and {tested.application} has no folder with data of it; {remedy}",
        )


def _others(measuring: Collection[str], node: str) -> str:
    return f"name a node besides {some_of(sorted(measuring))}, or cut it off, such as isolate: {node}"
