"""A network as the page takes it: its picture, its links, and the way between two nodes."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, ConfigDict, Field

from crosswind.console.server import Answer, Get, Parameters
from crosswind.errors import CrosswindError
from crosswind.spec.network import Link, Network
from crosswind.spec.resolved import slower_text
from crosswind.topology import network_line
from crosswind.topology.picture import picture


class Shown(BaseModel):
    """A part of what the page gets."""

    model_config = ConfigDict(frozen=True, validate_by_name=True)


class LinkShown(Shown):
    """One direction of a link; `element` is the one whose counters are those of its wire."""

    name: str
    source: str = Field(alias="from")
    target: str = Field(alias="to")
    element: str
    rate_bps: int | None
    delay_ns: int
    buffer_bytes: int | None


class NetworkShown(Shown):
    """A network.

    Attributes:
        title: the network in one line, and how time passes in it.
        picture: as SVG.
        hosts: the switch of each host.
        nodes: the host of each node.
    """

    title: str
    picture: str
    switches: list[str]
    hosts: dict[str, str]
    nodes: dict[str, str]
    links: list[LinkShown]


class _Way(Shown):
    there: list[str]
    back: list[str]


def network_shown(network: Network, dilations: Sequence[int | None] = ()) -> NetworkShown:
    """Return a network as the page takes it.

    Args:
        dilations: how many times slower time passes in its nodes, each once; None where nothing slows it.
    """
    return NetworkShown(
        title="; ".join(filter(None, (network_line(network), slower_text(dilations)))),
        picture=picture(network).drawing(),
        switches=list(network.switches),
        hosts={host: network.switch_of(host) for host in network.hosts},
        nodes=dict(network.nodes),
        links=[_link(network, link) for link in network.links],
    )


def way_of(network: Network) -> Get:
    """Return what answers a request for the links between two nodes, `from` and `to`."""

    def answer(ends: Parameters) -> Answer:
        hosts = [network.nodes.get(ends.get(end, "")) for end in ("from", "to")]
        if None in hosts:
            raise CrosswindError(f"from and to: nodes are {', '.join(network.nodes)}")
        one, other = map(str, hosts)
        # Every host has a way to every other one: such a network was, or is, up.
        there, back = network.way(one, other) or [], network.way(other, one) or []
        return Answer.of(_Way(there=[link.name for link in there], back=[link.name for link in back]))

    return answer


def _link(network: Network, link: Link) -> LinkShown:
    return LinkShown(
        name=link.name,
        source=link.source,
        target=link.target,
        element=network.wire_of(link),
        rate_bps=link.rate_bps,
        delay_ns=link.delay_ns,
        buffer_bytes=link.resolved(1).buffer_bytes,
    )
