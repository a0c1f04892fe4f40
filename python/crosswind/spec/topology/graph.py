"""A graph: switches, hosts on them, links between them, and routes."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from functools import cached_property
from itertools import pairwise
from typing import Annotated, Literal

from pydantic import BeforeValidator, Discriminator, Field, JsonValue, Tag, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import BufferOrUnlimited
from crosswind.spec.document import Path
from crosswind.spec.network import ARROW, Link, Network
from crosswind.spec.quantities import Duration, PartsPerBillion, QuantityError, Rate, shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology.common import (
    HOSTS_MAX,
    USUAL_BUFFER,
    Hosts,
    LimitedNode,
    Uplink,
    WrittenBuffer,
    unlimited_uplink,
    written_buffer,
)
from crosswind.spec.topology.names import HostName, NodeName, SwitchName
from crosswind.spec.topology.placing import (
    Placed,
    place,
    place_as,
    place_findings,
    some_of,
)

COST_MAX = 1_000_000


class Trunk(SpecModel):
    """A link between two switches: both directions of it, or one."""

    ends: list[str] | None = Field(
        None, min_length=2, max_length=2, description="Two switches; the link is the same in both directions."
    )
    source: str | None = Field(None, alias="from", description="A switch, for one direction alone.")
    target: str | None = Field(None, alias="to", description="The switch it leads to.")
    rate_bps: Rate = Field(alias="rate", description="Wire bits per second.")
    delay_ns: Duration = Field(0, alias="delay", description="Propagation; none when absent.")
    buffer: BufferOrUnlimited = Field(
        USUAL_BUFFER, description="Buffer in front of it, in wire bytes; 512KiB when absent."
    )
    jitter_ns: Duration = Field(
        0,
        alias="jitter",
        description="Standard deviation of the delay, which is normal and keeps the order; none when absent.",
    )
    loss_ppb: PartsPerBillion = Field(0, alias="loss", description="Share of lost packets; none when absent.")
    cost: int = Field(1, ge=1, le=COST_MAX, description="Routes minimise the sum of costs; 1 when absent.")

    @model_validator(mode="after")
    def _leads_somewhere(self) -> Trunk:
        if self.ends is None:
            if self.source is None or self.target is None:
                raise QuantityError(
                    "has no two ends; write ends: [a, b], or from: a and to: b for one direction"
                )
        elif self.source is not None or self.target is not None:
            raise QuantityError("has ends, and from or to; ends means both directions: remove one of the two")
        if len(set(self.pairs[0])) == 1:
            raise QuantityError(f'joins "{self.pairs[0][0]}" with itself; name two switches')
        return self

    @property
    def pairs(self) -> list[tuple[str, str]]:
        """Its directions."""
        if self.ends is not None:
            one, other = self.ends
            return [(one, other), (other, one)]
        return [(self.source or "", self.target or "")]

    @property
    def links(self) -> list[Link]:
        """Its directions as links."""
        return [
            Link(
                source,
                target,
                self.rate_bps,
                self.delay_ns,
                self.buffer,
                self.jitter_ns,
                self.loss_ppb,
                self.cost,
            )
            for source, target in self.pairs
        ]


class HostOnSwitch(SpecModel):
    """A host, and its own link to the switch."""

    switch: str = Field(description="One of the switches.")
    uplink: Uplink | None = Field(None, description="Its own uplink; that of the topology when absent.")


class NodeOnSwitch(LimitedNode):
    """A node on a host of `hosts`, or on a host of its own on a switch, and its limits."""

    host: str | None = Field(None, description="One of `hosts`.")
    switch: str | None = Field(None, description="A switch; the node gets a host of its own there.")

    @model_validator(mode="after")
    def _is_somewhere(self) -> NodeOnSwitch:
        if (self.switch is None) == (self.host is None):
            raise QuantityError("needs either a host or a switch; write host: h0")
        return self

    @property
    def at(self) -> str:
        """Its host or switch."""
        return self.host or self.switch or ""


def _routes_written_as(value: object) -> str:
    return "written out" if isinstance(value, list) else "a word"


WrittenRoutes = Annotated[
    Annotated[Literal["shortest", "ecmp"], Tag("a word")]
    | Annotated[list[list[str]], Field(min_length=1), Tag("written out")],
    Discriminator(_routes_written_as),
]


class SwitchedHosts(Hosts):
    """Hosts and nodes on switches, and routes between them; a subclass has the links."""

    hosts: (
        dict[
            HostName,
            Annotated[
                HostOnSwitch,
                BeforeValidator(place_as("switch", "leaf0"), json_schema_input_type=str | HostOnSwitch),
            ],
        ]
        | None
    ) = Field(None, max_length=HOSTS_MAX, description="`host: switch`.")
    uplink: Uplink = Field(
        default_factory=unlimited_uplink,
        description="The link from each host to its switch; unlimited and without delay when absent.",
    )
    routes: WrittenRoutes = Field(
        "shortest",
        description="`shortest` is the least sum of costs; `ecmp` chooses among equal ones by a seeded hash "
        "of each flow. Or routes from host to host, each a list such as [h0, leaf0, leaf1, h2]; other pairs "
        "take the shortest. shortest when absent.",
    )
    nodes: dict[
        NodeName,
        Annotated[
            NodeOnSwitch, BeforeValidator(place_as("host", "h0"), json_schema_input_type=str | NodeOnSwitch)
        ],
    ] = Field(
        min_length=1,
        max_length=HOSTS_MAX,
        description="Where each part of the application runs: `node: host`, or `node: switch`.",
    )

    @property
    @abstractmethod
    def switch_names(self) -> tuple[str, ...]:
        """The switches."""

    @property
    @abstractmethod
    def trunks(self) -> list[Link]:
        """The links between switches."""

    @property
    def _named_hosts(self) -> dict[str, str]:
        return {name: host.switch for name, host in (self.hosts or {}).items()}

    @property
    def _named_nodes(self) -> dict[str, str]:
        return {name: node.at for name, node in self.nodes.items()}

    @cached_property
    def placed(self) -> Placed:
        """Its hosts and nodes."""
        return place(self._named_hosts, self._named_nodes, self.switch_names)

    def network(self) -> Network:
        """Return the graph."""
        placed, own = self.placed, self.hosts or {}
        uplinks = {host: (own[host].uplink if host in own else None) or self.uplink for host in placed.hosts}
        links = [link for host, switch in placed.hosts.items() for link in uplinks[host].links(host, switch)]
        return Network(
            "graph",
            tuple(placed.hosts),
            self.switch_names,
            (*links, *self.trunks),
            placed.nodes,
            self.routes if isinstance(self.routes, str) else tuple(tuple(way) for way in self.routes),
            self.divided,
        )

    def host_findings(self) -> list[Finding]:
        """Return what is wrong with hosts, nodes and routes, where the links are sound."""
        found = place_findings(self._named_hosts, self._named_nodes, self.switch_names, "switch")
        if found:
            return found
        network = self.network()
        found = list(_route_findings(network))
        lost = next(_pairs_without_path(network), None)
        if lost is not None:
            source, target = lost
            ends = f"no links lead from {network.switch_of(source)} to {network.switch_of(target)}"
            key = ("hosts", source) if source in self._named_hosts else ("nodes", _node_on(network, source))
            remedy = "add a link, or remove one of the hosts"
            found.append((key, f"has no path to {target}: {ends}; {remedy}"))
        return found

    def host_buffers(self, raw: JsonValue) -> Iterator[WrittenBuffer]:
        """Yield the buffers of the links to hosts."""
        uplinks: dict[Path, Uplink] = {("uplink",): self.uplink}
        for name, host in (self.hosts or {}).items():
            if host.uplink is not None:
                uplinks["hosts", name, "uplink"] = host.uplink
        for path, uplink in uplinks.items():
            yield written_buffer((*path, "buffer"), raw, uplink.buffer, [uplink.rate_bps])


class Graph(SwitchedHosts):
    """Switches and the links between them."""

    switches: list[SwitchName] = Field(min_length=1, max_length=HOSTS_MAX, description="Their names.")
    links: list[Trunk] | None = Field(None, description="Between switches.")

    @property
    def switch_names(self) -> tuple[str, ...]:
        """The switches."""
        return tuple(self.switches)

    @property
    def trunks(self) -> list[Link]:
        """The links between switches."""
        return [link for trunk in self.links or () for link in trunk.links]

    def findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield what is wrong between its parts, with the path inside the topology."""
        found = [*self._switch_findings(), *self._link_findings()]
        yield from found
        # Findings of routes over wrong links would only repeat that.
        if not found:
            yield from self.host_findings()

    def _switch_findings(self) -> Iterator[Finding]:
        for index, name in enumerate(self.switches):
            if name in self.switches[:index]:
                yield ("switches", index), f'"{name}" is given twice; give each switch its own name'

    def _link_findings(self) -> Iterator[Finding]:
        first: dict[tuple[str, str], int] = {}
        for index, trunk in enumerate(self.links or ()):
            for end in trunk.pairs[0]:
                if end not in self.switches:
                    yield (
                        ("links", index),
                        f'leads to "{end}", which is not a switch; choose one of {some_of(self.switches)}',
                    )
            for pair in trunk.pairs:
                if pair in first:
                    yield (
                        ("links", index),
                        f"is a second link {ARROW.join(pair)} (the first is item {first[pair] + 1}); "
                        "keep one: add up their rates, or put a switch into one of them",
                    )
                    break
                first[pair] = index

    def buffers(self, raw: JsonValue) -> Iterator[WrittenBuffer]:
        """Yield every buffer, with the path inside the topology and the rate that empties it."""
        yield from self.host_buffers(raw)
        for index, trunk in enumerate(self.links or ()):
            yield written_buffer(("links", index, "buffer"), raw, trunk.buffer, [trunk.rate_bps])


def _node_on(network: Network, host: str) -> str:
    return next(node for node, at in network.nodes.items() if at == host)


def _pairs_without_path(network: Network) -> Iterator[tuple[str, str]]:
    """Yield pairs of hosts, source and target, without a path."""
    switches = dict.fromkeys(network.switch_of(host) for host in network.hosts)
    for target in switches:
        reached = network.costs_to(target)
        for source in switches:
            if source in reached:
                continue
            for one in network.hosts_on(source):
                for other in network.hosts_on(target):
                    if network.way(one, other) is None:
                        yield one, other


def _route_findings(network: Network) -> Iterator[Finding]:
    """Yield what is wrong with written routes."""
    known: dict[tuple[str, str], int] = {}
    for index, way in enumerate(network.routes if not isinstance(network.routes, str) else ()):
        message = _way_message(network, way)
        ends = (way[0], way[-1]) if way else ("", "")
        if message is None and ends in known:
            first = known[ends] + 1
            message = f"is a second route from {way[0]} to {way[-1]} (the first is item {first}); keep one"
        known.setdefault(ends, index)
        if message is not None:
            yield ("routes", index), message


def _way_message(network: Network, way: tuple[str, ...]) -> str | None:
    if len(way) < 2:
        return "is not a route; write its hosts and switches in order, such as [h0, leaf0, leaf1, h2]"
    for end in (way[0], way[-1]):
        if end not in network.hosts:
            hosts = some_of(network.hosts)
            return f"ends at {shown(end)}, which is not a host; a route leads from host to host: {hosts}"
    for position, name in enumerate(way):
        if name in way[:position]:
            return f"has {shown(name)} twice, which would be a loop; name it once"
    for name in way[1:-1]:
        if name not in network.switches:
            return (
                f"leads over {shown(name)}, which is not a switch; switches are {some_of(network.switches)}"
            )
    for one, other in pairwise(way):
        if f"{one}{ARROW}{other}" not in network.link:
            return f"has no link from {one} to {other}; add one, or use other switches"
    return None
