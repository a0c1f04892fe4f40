"""The network of an experiment as a graph: hosts, switches, directed links, and paths between hosts.

A star, zones and a graph all become one of these. All questions about the network (which link is behind a
place, how fast it is, which path packets take) are answered here, so nothing else depends on the form in the
file.
"""

from __future__ import annotations

import heapq
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from itertools import pairwise
from typing import Literal

from crosswind.spec.buffer import Bdp, BufferSize, resolved_buffer
from crosswind.spec.resolved import Form, ResolvedDomains, ResolvedLink, ResolvedTopology, WrittenRoutes
from crosswind.spec.scale import scaled

Routes = Literal["shortest", "ecmp"] | tuple[tuple[str, ...], ...]
Domains = Literal["auto"] | int | tuple[tuple[str, ...], ...]

STAR_SWITCH = "switch"
ARROW = "->"
NO_LIMIT = BufferSize()


@dataclass(frozen=True)
class Link:
    """One direction of a link: from a host to its switch, from a switch to a host, or between two switches.

    Attributes:
        rate_bps: wire bits per second; None is unlimited.
        delay_ns: propagation.
        buffer: of the queue in front of it.
        jitter_ns: standard deviation of the delay, which is normal and keeps the order of packets.
        loss_ppb: share of the packets that is lost in front of the wire.
        cost: routes minimise the sum of costs.
    """

    source: str
    target: str
    rate_bps: int | None
    delay_ns: int = 0
    buffer: BufferSize | Bdp = NO_LIMIT
    jitter_ns: int = 0
    loss_ppb: int = 0
    cost: int = 1

    @property
    def name(self) -> str:
        """Its name in conditions and results."""
        return f"{self.source}{ARROW}{self.target}"

    def resolved(self, scale: float) -> ResolvedLink:
        """Return it as the agent takes it (contracts.md, section 1)."""
        buffer = resolved_buffer(self.buffer, self.rate_bps, scale)
        return ResolvedLink(
            source=self.source,
            target=self.target,
            rate_bps=scaled(self.rate_bps, scale),
            delay_ns=self.delay_ns,
            # The agent reads the bytes of every link; null stands beside a limit in packets or in time.
            buffer_bytes=buffer.get("buffer_bytes"),
            buffer_packets=buffer.get("buffer_packets"),
            buffer_ns=buffer.get("buffer_ns"),
            jitter_ns=self.jitter_ns,
            loss_ppb=self.loss_ppb,
            cost=self.cost,
        )

    @classmethod
    def of(cls, resolved: ResolvedLink) -> Link:
        """Return the link that a resolved experiment or a fabric describes."""
        return cls(
            resolved.source,
            resolved.target,
            resolved.rate_bps,
            resolved.delay_ns,
            BufferSize(resolved.buffer_bytes, resolved.buffer_packets, resolved.buffer_ns),
            resolved.jitter_ns,
            resolved.loss_ppb,
            resolved.cost,
        )


@dataclass(frozen=True)
class Network:
    """A graph of hosts and switches, and the nodes on the hosts.

    Attributes:
        form: of the topology in the file.
        links: every host has one link to a switch and one from it.
        routes: `shortest`, `ecmp`, or routes from host to host; pairs without one take the shortest.
        nodes: the host of each node.
        domains: the number of threads of the emulator that carry it, or the switches and hosts of each; a
            host that is not named belongs to its switch. `auto`: as many as the machine can spare.
    """

    form: Form
    hosts: tuple[str, ...]
    switches: tuple[str, ...]
    links: tuple[Link, ...]
    nodes: Mapping[str, str] = field(default_factory=dict)
    routes: Routes = "shortest"
    domains: Domains = "auto"

    @classmethod
    def of(cls, topology: ResolvedTopology) -> Network:
        """Return the network of a resolved experiment, from its `topology`."""
        written, domains = topology.routes, topology.domains
        return cls(
            topology.form,
            tuple(topology.hosts),
            tuple(topology.switches),
            tuple(map(Link.of, topology.links)),
            dict(topology.nodes),
            written if isinstance(written, str) else tuple(tuple(way) for way in written.written),
            tuple(map(tuple, domains)) if isinstance(domains, list) else domains,
        )

    def resolved(self, scale: float) -> ResolvedTopology:
        """Return it as in a resolved experiment, without what is not part of the graph."""
        return ResolvedTopology(
            form=self.form,
            hosts=list(self.hosts),
            switches=list(self.switches),
            links=[link.resolved(scale) for link in self.links],
            routes=self._resolved_routes(),
            nodes=dict(self.nodes),
            domains=self._resolved_domains(),
        )

    def _resolved_routes(self) -> Literal["shortest", "ecmp"] | WrittenRoutes:
        routes = self.routes
        return routes if isinstance(routes, str) else WrittenRoutes(written=[list(way) for way in routes])

    def _resolved_domains(self) -> ResolvedDomains:
        domains = self.domains
        return [list(names) for names in domains] if isinstance(domains, tuple) else domains

    # --- links ---------------------------------------------------------------------------------------------

    @cached_property
    def link(self) -> Mapping[str, Link]:
        """Links by their names."""
        return {link.name: link for link in self.links}

    @cached_property
    def uplinks(self) -> Mapping[str, Link]:
        """The link from each host to its switch, by host."""
        hosts = set(self.hosts)
        return {link.source: link for link in self.links if link.source in hosts}

    @cached_property
    def downlinks(self) -> Mapping[str, Link]:
        """The link to each host from its switch, by host."""
        hosts = set(self.hosts)
        return {link.target: link for link in self.links if link.target in hosts}

    @cached_property
    def trunks(self) -> tuple[Link, ...]:
        """The links between switches."""
        hosts = set(self.hosts)
        return tuple(link for link in self.links if not {link.source, link.target} & hosts)

    def wire_of(self, link: Link) -> str:
        """Return the name of a link's queue and wire among the elements of the network."""
        if link.source in self.uplinks:
            return f"{link.source}/uplink"
        if link.target in self.downlinks:
            return f"{link.target}/downlink"
        return f"{link.name}/wire"

    def switch_of(self, host: str) -> str:
        """Return the switch of a host."""
        return self.uplinks[host].target

    def slowest_bps(self, hosts: Iterable[str]) -> int | None:
        """Return the lowest rate of the links to and from hosts; None where none has a limit."""
        rates_bps = [each[host].rate_bps for host in hosts for each in (self.uplinks, self.downlinks)]
        return min((rate_bps for rate_bps in rates_bps if rate_bps is not None), default=None)

    def hosts_on(self, switch: str) -> list[str]:
        """Return the hosts of a switch or zone."""
        return [host for host in self.hosts if self.uplinks[host].target == switch]

    @cached_property
    def domain_of(self) -> Mapping[str, int]:
        """The domain of each switch and host, from 0, where domains are written out; empty elsewhere."""
        written = self.domains if isinstance(self.domains, tuple) else ()
        # A name that is given twice is refused elsewhere; here the first one counts.
        named = {name: number for number, names in reversed([*enumerate(written)]) for name in names}
        follow = {host: named[link.target] for host, link in self.uplinks.items() if link.target in named}
        return {**follow, **named}

    # --- places --------------------------------------------------------------------------------------------

    def wires(self, place: str, on: Sequence[str] | None) -> list[Link]:
        """Return the links next to a place: elements there are just in front of them, or just behind.

        Args:
            on: names that restrict the place; None: everywhere. An unknown name has no link.
        """
        if place == "wan":
            return [link for link in self.trunks if on is None or link.name in on or link.source in on]
        ups = place in ("host.egress", "link", "switch.ingress")
        downs = place in ("host.ingress", "link", "switch.egress")
        found: dict[str, Link] = {}
        for name in self.hosts if on is None else on:
            if name in self.link:
                found[name] = self.link[name]
                continue
            host = self.nodes.get(name, name)
            for each in [host] if host in self.uplinks else self._attached.get(name, ()):
                found |= {link.name: link for link in [self.uplinks[each]] if ups}
                found |= {link.name: link for link in [self.downlinks[each]] if downs}
        return list(found.values())

    @cached_property
    def _attached(self) -> Mapping[str, list[str]]:
        attached: dict[str, list[str]] = {switch: [] for switch in self.switches}
        for host, link in self.uplinks.items():
            attached[link.target].append(host)
        return attached

    def names_at(self, place: str) -> list[str]:
        """Return the names that `on` may have at a place, the usual ones first."""
        if place == "wan":
            sources = dict.fromkeys(link.source for link in self.trunks)
            return [*(link.name for link in self.trunks), *sources]
        if place.startswith("host."):
            return [*self.nodes, *self.hosts, *self.switches]
        return [*self.hosts, *self.switches, *self.link]

    # --- ways ----------------------------------------------------------------------------------------------

    def way(self, source: str, target: str) -> list[Link] | None:
        """Return the links that packets cross from host to host; None where there is no path.

        With `ecmp` it is one of the paths of least cost. On one host packets cross no link.
        """
        if source == target:
            return []
        for written in self.routes if not isinstance(self.routes, str) else ():
            if (written[0], written[-1]) == (source, target):
                return [self.link[f"{one}{ARROW}{other}"] for one, other in pairwise(written)]
        at, end = self.switch_of(source), self.switch_of(target)
        cost = self.costs_to(end)
        if at not in cost:
            return None
        way = [self.uplinks[source]]
        while at != end:
            step = next(link for link in self._leaving[at] if cost.get(link.target) == cost[at] - link.cost)
            way.append(step)
            at = step.target
        return [*way, self.downlinks[target]]

    def costs_to(self, switch: str) -> Mapping[str, int]:
        """Return the least cost from every switch that has a path to this one (Dijkstra 1959)."""
        if switch not in self._costs:
            found: dict[str, int] = {}
            waiting = [(0, switch)]
            while waiting:
                cost, at = heapq.heappop(waiting)
                if at in found:
                    continue
                found[at] = cost
                for link in self._coming[at]:
                    if link.source not in found:
                        heapq.heappush(waiting, (cost + link.cost, link.source))
            self._costs[switch] = found
        return self._costs[switch]

    @cached_property
    def _costs(self) -> dict[str, Mapping[str, int]]:
        return {}

    @cached_property
    def _leaving(self) -> Mapping[str, list[Link]]:
        return _grouped(((link.source, link) for link in self.trunks), self.switches)

    @cached_property
    def _coming(self) -> Mapping[str, list[Link]]:
        return _grouped(((link.target, link) for link in self.trunks), self.switches)


def star_links(
    hosts: Iterable[str], rate_bps: int | None = None, delay_ns: int = 0, buffer: BufferSize | Bdp = NO_LIMIT
) -> Iterator[Link]:
    """Yield the links of a star: for every host one to the switch, and one back."""
    for host in hosts:
        yield Link(host, STAR_SWITCH, rate_bps, delay_ns, buffer)
        yield Link(STAR_SWITCH, host, rate_bps, delay_ns, buffer)


def _grouped(links: Iterable[tuple[str, Link]], switches: Iterable[str]) -> dict[str, list[Link]]:
    found: dict[str, list[Link]] = {switch: [] for switch in switches}
    for switch, link in links:
        found[switch].append(link)
    return found
