"""Where an element stands: its place, and the link that it is in front of or behind."""

from __future__ import annotations

from crosswind.spec.network import Network

# Words of a place for packets on their way from a host, and to a host.
_UP = ("uplink", "host.egress", "switch.ingress", "link.up")
_DOWN = ("downlink", "host.ingress", "switch.egress", "link.down")


def site_of(element: str, network: Network) -> tuple[str, str]:
    """Return place and link of an element, such as `switch.ingress` and `h0->switch` of
    `h0/switch.ingress/0:police`.

    The link is empty for an element that stands on several, such as a delay of both directions.
    """
    of, _, rest = element.partition("/")
    # The gate of a node is the last element of what it receives.
    place = "host.ingress" if rest == "cut" else rest.partition("/")[0]
    if of in network.link:
        return place, of
    host = network.nodes.get(of, of)
    if place in _UP and host in network.uplinks:
        return place, network.uplinks[host].name
    if place in _DOWN and host in network.downlinks:
        return place, network.downlinks[host].name
    return place, ""
