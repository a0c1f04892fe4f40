"""What of a condition holds two parts of the network on one machine (crates/fabric/src/domains/bonds.rs).

Interference that reacts as TCP does learns at once which packets reached its receiver. A monitor of
round-trip times sees both directions of a link.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from crosswind.spec.network import Network
from crosswind.spec.resolved import ResolvedCondition, restricted_to


def bonds_of(conditions: Iterable[ResolvedCondition], network: Network) -> list[tuple[str, str]]:
    """Return pairs of hosts and switches that must be on one machine, each once."""
    found: dict[tuple[str, str], None] = {}
    for condition in conditions:
        for pair in _pairs(condition, network):
            found[pair] = None
    return list(found)


def _pairs(condition: ResolvedCondition, network: Network) -> Iterator[tuple[str, str]]:
    for entry in condition.interference:
        if not entry.is_real and entry.tcp is not None:
            one, other = entry.between
            yield one, other
    for place, kind, parameters in condition.elements():
        what = parameters.get("what")
        # At every other place the two directions are separate places.
        if kind == "monitor" and isinstance(what, list) and "rtt" in what and place in ("link", "wan"):
            for link in network.wires(place, restricted_to(parameters)):
                yield link.source, link.target
