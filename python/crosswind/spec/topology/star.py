"""A star: hosts around one switch, each with the same uplink."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue, WithJsonSchema

from crosswind.spec.network import STAR_SWITCH, Network, star_links
from crosswind.spec.quantities import QuantityError, shown
from crosswind.spec.setting import Finding
from crosswind.spec.topology.common import (
    HOSTS_MAX,
    Hosts,
    LimitedNode,
    Uplink,
    WrittenBuffer,
    written_buffer,
)
from crosswind.spec.topology.names import HostName, NodeName
from crosswind.spec.topology.placing import Placed


def _hosts(value: object) -> object:
    """Read `hosts: 4` as h0 to h3."""
    if isinstance(value, int) and not isinstance(value, bool):
        if not 1 <= value <= HOSTS_MAX:
            raise QuantityError(f'"{value}" is outside 1 to {HOSTS_MAX} hosts')
        return [f"h{number}" for number in range(value)]
    if not isinstance(value, list):
        raise QuantityError(
            f"{shown(value)} is neither a number of hosts nor a list of their names; write 4 or [h0, h1]"
        )
    return value


class PlacedNode(LimitedNode):
    """The host of a node, and its limits."""

    host: str = Field(description="One of the hosts.")


def _placed(value: object) -> object:
    """Read `db0: h0` as `db0: {host: h0}`."""
    if isinstance(value, str):
        return {"host": value}
    if not isinstance(value, dict):
        raise QuantityError(
            f"{shown(value)} is neither a host nor a host with limits; write h0 or {{host: h0, memory: 2GiB}}"
        )
    return value


class Star(Hosts):
    """Hosts, nodes, links: a star around one switch. Or write [zones](#zones) or a [graph](#graph)."""

    hosts: Annotated[
        list[HostName],
        BeforeValidator(_hosts),
        Field(min_length=1, max_length=HOSTS_MAX),
        WithJsonSchema(
            {
                "description": "A number (h0, h1, ...) or names; may be absent with `compose`.",
                "anyOf": [
                    {"type": "integer", "minimum": 1, "maximum": HOSTS_MAX},
                    {"type": "array", "items": {"type": "string"}, "minItems": 1},
                ],
            }
        ),
    ]
    uplink: Uplink = Field(description="The link from each host to the switch; the same for every host.")
    nodes: dict[
        NodeName, Annotated[PlacedNode, BeforeValidator(_placed, json_schema_input_type=str | PlacedNode)]
    ] = Field(
        min_length=1,
        description="Where each part of the application runs: `node: host`, or a host with limits. With "
        "`compose`, services that are not listed here get a host of their own.",
    )

    @property
    def switch_names(self) -> tuple[str, ...]:
        """The one switch."""
        return (STAR_SWITCH,)

    @property
    def placed(self) -> Placed:
        """Its hosts and nodes."""
        hosts = dict.fromkeys(self.hosts, STAR_SWITCH)
        return Placed(hosts, {name: node.host for name, node in self.nodes.items()})

    def network(self) -> Network:
        """Return the star as a graph."""
        uplink = self.uplink
        return Network(
            "star",
            tuple(self.hosts),
            self.switch_names,
            tuple(star_links(self.hosts, uplink.rate_bps, uplink.delay_ns, uplink.buffer)),
            self.placed.nodes,
            domains=self.divided,
        )

    def findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield what is wrong between its parts; `checks` finds more, also where some parts have errors."""
        if STAR_SWITCH in self.hosts:
            place = self.hosts.index(STAR_SWITCH)
            yield ("hosts", place), f'"{STAR_SWITCH}" is the name of the switch; give the host another name'
        if STAR_SWITCH in self.nodes:
            yield ("nodes", STAR_SWITCH), "is also the name of the switch; give the node another name"

    def buffers(self, raw: JsonValue) -> Iterator[WrittenBuffer]:
        """Yield every buffer, with the path inside the topology and the rate that empties it."""
        yield written_buffer(("uplink", "buffer"), raw, self.uplink.buffer, [self.uplink.rate_bps])
