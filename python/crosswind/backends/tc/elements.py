"""The elements of a condition where the kernel's traffic control has them: at nodes, hosts and links."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.backends.refusals import NotCarried
from crosswind.backends.stations import Stations
from crosswind.backends.tc import netem
from crosswind.spec import FabricCondition
from crosswind.spec.resolved import Parameters, restricted_to

MARKS_AND_METERS = ("police", "mark")
QUEUES = ("queue", "schedule")
_KINDS = (*netem.KINDS, *MARKS_AND_METERS, *QUEUES, "shape")


@dataclass(frozen=True)
class Applied:
    """An element at one node, host or link.

    Attributes:
        of: the name of the node, host or link.
    """

    place: str
    of: str
    kind: str
    parameters: Parameters


class Elements:
    """All elements of a condition.

    Raises: NotCarried: the kernel has nothing for one.
    """

    def __init__(self, condition: FabricCondition, stations: Stations) -> None:
        self._condition = condition
        self._stations = stations
        self._all = list(self._applied())

    def at(self, place: str, of: str, *kinds: str) -> list[Applied]:
        """Return those of some kinds at a node, host or link, in their order."""
        return [each for each in self._all if (each.place, each.of) == (place, of) and each.kind in kinds]

    def refused(self, place: str, kind: str, why: str) -> NotCarried:
        """Return the refusal of an element."""
        return NotCarried.element("tc", self._condition.name, place, kind, why, "crosswind")

    def _applied(self) -> Iterator[Applied]:
        for place, elements in self._condition.places.items():
            for element in elements:
                for kind, parameters in element.items():
                    self._check(place, kind)
                    for of in self._of(place, kind, parameters):
                        yield Applied(place, of, kind, parameters)

    def _check(self, place: str, kind: str) -> None:
        if kind not in _KINDS:
            raise self.refused(place, kind, f"the kernel's traffic control has no {kind}")
        if kind not in MARKS_AND_METERS and place == "switch.ingress":
            raise self.refused(place, kind, "nothing waits where packets enter a device")
        if kind in MARKS_AND_METERS and place == "link":
            raise self.refused(
                place, kind, "filters stand at ports; write it at switch.ingress or host.ingress"
            )

    def _of(self, place: str, kind: str, parameters: Parameters) -> list[str]:
        """Return where an element is: nodes, hosts, or names of links."""
        if place == "link":
            on = restricted_to(parameters)
            return [
                link.name
                for link in self._stations.network.links
                if on is None or {link.name, link.source, link.target} & {*on}
            ]
        named = self._stations.named(place, parameters)
        if place != "host.egress" or kind in MARKS_AND_METERS:
            return named
        hosts = list(dict.fromkeys(node.host for node in self._stations.nodes if node.name in named))
        shared = next((host for host in hosts if len(self._stations.on(host)) > 1), None)
        if shared is not None and kind not in QUEUES:
            why = f"nodes of {shared} share one queue; give each node a host of its own"
            raise self.refused(place, kind, why)
        return hosts
