"""What traffic between two nodes must show under a condition: its rate, and its mark."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from crosswind.backends.frames import HEADER_BYTES, REST_BYTES
from crosswind.backends.stations import Station, Stations
from crosswind.spec import FabricCondition, FabricSpec
from crosswind.spec.resolved import Parameters, number


@dataclass(frozen=True)
class Expected:
    """What packets from one node to another meet.

    Attributes:
        ip_bps: the least rate on the way, for packets of the MTU; None: no limit.
        by: what has that rate, such as `police at switch.ingress of h0`.
        dscp: of the last mark; None: there is none.
        marked_by: that mark.
    """

    sender: Station
    receiver: Station
    ip_bps: float | None
    by: str
    dscp: int | None
    marked_by: str


def expectations(spec: FabricSpec, condition: FabricCondition) -> list[Expected]:
    """Return one way from each host with a node; between them all elements of a condition apply.

    The receiver of each is a node on the next host.
    """
    stations = Stations(spec)
    first = [on[0] for host in spec.hosts if (on := stations.on(host))]
    if len(first) < 2:
        return []
    return [
        _expected(sender, receiver, stations, spec, condition)
        for sender, receiver in zip(first, [*first[1:], first[0]], strict=True)
    ]


def _expected(
    sender: Station, receiver: Station, stations: Stations, spec: FabricSpec, condition: FabricCondition
) -> Expected:
    limits: list[tuple[float, str]] = []
    dscp, marked_by = None, ""
    ip = spec.mtu_bytes / (spec.mtu_bytes + HEADER_BYTES + REST_BYTES)
    for link in stations.network.way(sender.host, receiver.host) or []:
        if link.rate_bps is not None:
            limits.append((link.rate_bps * ip, f"link {link.name}"))
    for place, kind, parameters, of in _met(sender, receiver, stations, condition):
        rate_bps = number(parameters, "rate_bps")
        if rate_bps is not None:
            limits.append((rate_bps, f"{kind} at {place} of {of}"))
        if kind == "mark":
            dscp, marked_by = number(parameters, "dscp"), f"mark at {place} of {of}"
    ip_bps, by = min(limits, default=(None, ""))
    return Expected(sender, receiver, ip_bps, by, dscp, marked_by)


def _met(
    sender: Station, receiver: Station, stations: Stations, condition: FabricCondition
) -> Iterator[tuple[str, str, Parameters, str]]:
    """Yield the elements on the way, in the order in which a packet meets them."""
    way = (
        ("host.egress", sender.name),
        ("switch.ingress", sender.host),
        ("switch.egress", receiver.host),
        ("host.ingress", receiver.name),
    )
    for place, of in way:
        for element in condition.places.get(place, []):
            for kind, parameters in element.items():
                if of in stations.named(place, parameters):
                    yield place, kind, parameters, of
