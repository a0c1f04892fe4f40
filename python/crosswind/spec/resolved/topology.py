"""The network of a resolved experiment, and the settings of its hosts."""

from __future__ import annotations

from itertools import pairwise
from typing import Literal, Self

from pydantic import Field, model_validator

from crosswind.spec.resolved.part import ResolvedFile, ResolvedPart, left_out_if_empty

# The form of a topology in a file.
Form = Literal["star", "zones", "graph"]
# Domains: as many as the machine can spare, a number, or the switches and hosts of each.
ResolvedDomains = Literal["auto"] | int | list[list[str]]
# Limits of a node as the agent takes them (docs/reference/contracts.md, section 2).
RequestedLimits = dict[str, int | None]


class ResolvedLink(ResolvedPart):
    """One direction of a link.

    Attributes:
        source, target: a host or a switch each.
        rate_bps: wire bits per second; None is unlimited.
        delay_ns: propagation.
        buffer_bytes: wire bytes; None is unlimited, or limited in one of the next two.
        buffer_ns: the bytes that the rate sends in this time.
        jitter_ns: standard deviation of the delay.
        loss_ppb: share of the packets that is lost in front of the wire, in parts per billion.
        cost: routes minimise the sum of costs.
    """

    source: str = Field(alias="from")
    target: str = Field(alias="to")
    rate_bps: int | None
    delay_ns: int
    buffer_bytes: int | None = None
    buffer_packets: int | None = left_out_if_empty(None)
    buffer_ns: int | None = left_out_if_empty(None)
    jitter_ns: int = left_out_if_empty(0)
    loss_ppb: int = left_out_if_empty(0)
    cost: int = Field(1, ge=1, exclude_if=lambda cost: cost == 1)


class WrittenRoutes(ResolvedPart):
    """Routes from host to host; other pairs take the shortest."""

    written: list[list[str]]


class ResolvedTopology(ResolvedPart):
    """Hosts, switches and links, scaled, and the nodes on the hosts.

    Attributes:
        form: as in the file.
        nodes: the host of each node.
        limits: of nodes that have limits.
        wait: `spin` or `sleep`: how the emulator waits between packets; it chooses when None.
    """

    form: Form = "star"
    hosts: list[str] = Field(default_factory=list)
    switches: list[str] = Field(default_factory=list)
    links: list[ResolvedLink] = Field(default_factory=list)
    routes: Literal["shortest", "ecmp"] | WrittenRoutes = "shortest"
    nodes: dict[str, str] = Field(default_factory=dict)
    domains: ResolvedDomains = "auto"
    limits: dict[str, RequestedLimits] = Field(default_factory=dict)
    mtu_bytes: int = 1500
    wait: str | None = left_out_if_empty(None)
    files: list[ResolvedFile] = left_out_if_empty([])

    @model_validator(mode="after")
    def _is_connected(self) -> Self:
        whole = {"hosts", "nodes", "form", "switches", "links", "routes"}
        given = self.model_fields_set & whole
        if given <= {"hosts", "nodes"}:
            return self
        if lacking := sorted(whole - given):
            raise ValueError(f"lacks {', '.join(lacking)}")
        hosts = set(self.hosts)
        attached = [{link.source for link in self.links}, {link.target for link in self.links}]
        if any(hosts - ends for ends in attached) or set().union(*attached) - hosts - {*self.switches}:
            raise ValueError("its links do not join its hosts and switches")
        if not set(self.nodes.values()) <= hosts:
            raise ValueError("a node is on no host")
        joined = {(link.source, link.target) for link in self.links}
        ways = self.routes.written if isinstance(self.routes, WrittenRoutes) else []
        if any(not way or not set(pairwise(way)) <= joined for way in ways):
            raise ValueError("a written route leaves its links")
        return self


class ResolvedTcp(ResolvedPart):
    """TCP in every node; None where a file has no value.

    Attributes:
        ecn: whether connections of nodes request it.
        socket_buffer_bytes: the maximum of a socket; the machine's own when None.
    """

    congestion_control: str | None = None
    rto_min_us: int | None = None
    ecn: bool = False
    socket_buffer_bytes: int | None = None
