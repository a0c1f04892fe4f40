"""Zones: regions, sites or racks far apart, each ordered pair with its own delay, rate, jitter and loss."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cached_property
from typing import Annotated, ClassVar

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import BufferOrUnlimited
from crosswind.spec.document import Path
from crosswind.spec.draft import value_at
from crosswind.spec.network import Link, Network
from crosswind.spec.quantities import QuantityError, shown
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
from crosswind.spec.topology.matrix import (
    DelayOfPairs,
    JitterOfPairs,
    LossOfPairs,
    Matrix,
    MatrixFile,
    RateOfPairs,
    matrix_of,
    missing_cells,
)
from crosswind.spec.topology.names import HostName, NodeName
from crosswind.spec.topology.placing import Placed, place, place_as, place_findings, some_of

# Of a matrix that is written out, for remedies.
_EXAMPLES = {"delay": "30ms", "rate": "1Gbit/s", "jitter": "1ms", "loss": "0.1%"}


class BetweenZones(SpecModel):
    """Links between zones: each key is a matrix (written out, or in a file), or one value for all pairs.

    The delay may also be a table of regions of the catalogue.
    """

    delay: DelayOfPairs = Field(description="Propagation, one way.")
    rate: RateOfPairs = Field(None, description="Wire bits per second; unlimited when absent.")
    buffer: BufferOrUnlimited = Field(
        USUAL_BUFFER,
        description="Buffer in front of each of these links, in wire bytes; 512KiB when absent.",
    )
    jitter: JitterOfPairs = Field(
        0,
        description="Standard deviation of the delay, which is normal and keeps the order; none when absent.",
    )
    loss: LossOfPairs = Field(0, description="Share of lost packets; none when absent.")

    @cached_property
    def matrices(self) -> dict[str, Matrix]:
        """The matrices among its keys."""
        found = {key: matrix_of(getattr(self, key)) for key in _EXAMPLES}
        return {key: matrix for key, matrix in found.items() if matrix is not None}

    def value(self, key: str, source: str, target: str) -> int | None:
        """Return the value from one zone to another."""
        matrix = self.matrices.get(key)
        if matrix is not None:
            return matrix.values[source, target]
        for_all = getattr(self, key)
        return for_all if isinstance(for_all, int) else None


class HostInZone(SpecModel):
    """A host, and its own link to the zone."""

    zone: str = Field(description="One of the zones.")
    uplink: Uplink | None = Field(None, description="Its own uplink; that of the topology when absent.")


class NodeInZone(LimitedNode):
    """A node on a host of its own in a zone, or on a host of `hosts`, and its limits."""

    zone: str | None = Field(None, description="A zone; the node gets a host of its own there.")
    host: str | None = Field(None, description="One of `hosts`.")

    @model_validator(mode="after")
    def _is_somewhere(self) -> NodeInZone:
        if (self.zone is None) == (self.host is None):
            raise QuantityError("needs either a zone or a host; write zone: us-east-1")
        return self

    @property
    def at(self) -> str:
        """Its host or zone."""
        return self.host or self.zone or ""


class Zones(Hosts):
    """Zones, each a switch, with a link for every ordered pair of them."""

    switch_noun: ClassVar[str] = "zone"

    zones: BetweenZones
    hosts: (
        dict[
            HostName,
            Annotated[
                HostInZone,
                BeforeValidator(place_as("zone", "us-east-1"), json_schema_input_type=str | HostInZone),
            ],
        ]
        | None
    ) = Field(None, max_length=HOSTS_MAX, description="`host: zone`, for nodes that share a host.")
    uplink: Uplink = Field(
        default_factory=unlimited_uplink,
        description="The link from each host to its zone; unlimited and without delay when absent.",
    )
    nodes: dict[
        NodeName,
        Annotated[
            NodeInZone,
            BeforeValidator(place_as("zone", "us-east-1"), json_schema_input_type=str | NodeInZone),
        ],
    ] = Field(
        min_length=1,
        max_length=HOSTS_MAX,
        description="Where each part of the application runs: `node: zone` on its own host, or `node: host`.",
    )

    @property
    def _named_hosts(self) -> dict[str, str]:
        return {name: host.zone for name, host in (self.hosts or {}).items()}

    @property
    def _named_nodes(self) -> dict[str, str]:
        return {name: node.at for name, node in self.nodes.items()}

    @cached_property
    def _zones(self) -> tuple[str, ...]:
        """The zones of the matrices; without any, those that hosts and nodes name."""
        for matrix in self.zones.matrices.values():
            return matrix.names
        hosts = self._named_hosts
        return tuple(
            dict.fromkeys([*hosts.values(), *(at for at in self._named_nodes.values() if at not in hosts)])
        )

    @cached_property
    def placed(self) -> Placed:
        """Its hosts and nodes."""
        return place(self._named_hosts, self._named_nodes, self._zones)

    @property
    def switch_names(self) -> tuple[str, ...]:
        """The zones that have hosts; no packet passes the others."""
        used = set(self.placed.hosts.values())
        return tuple(zone for zone in self._zones if zone in used)

    @property
    def left_out(self) -> tuple[str, ...]:
        """The zones without hosts."""
        used = set(self.placed.hosts.values())
        return tuple(zone for zone in self._zones if zone not in used)

    def network(self) -> Network:
        """Return the zones as a graph, except those without hosts."""
        placed, between, own = self.placed, self.zones, self.hosts or {}
        zones = self.switch_names
        uplinks = {host: (own[host].uplink if host in own else None) or self.uplink for host in placed.hosts}
        links = [link for host, zone in placed.hosts.items() for link in uplinks[host].links(host, zone)]
        links += [
            Link(
                source,
                target,
                between.value("rate", source, target),
                between.value("delay", source, target) or 0,
                between.buffer,
                between.value("jitter", source, target) or 0,
                between.value("loss", source, target) or 0,
            )
            for source in zones
            for target in zones
            if source != target
        ]
        return Network("zones", tuple(placed.hosts), zones, tuple(links), placed.nodes, domains=self.divided)

    def findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield what is wrong between its parts, with the path inside the topology.

        Args:
            raw: the topology as plain values.
        """
        first: tuple[str, Matrix] | None = None
        for key, example in _EXAMPLES.items():
            for path, message in missing_cells(getattr(self.zones, key), key, example):
                yield ("zones", key, *path), message
            matrix = self.zones.matrices.get(key)
            if matrix is None:
                continue
            if first is not None and set(first[1].names) != set(matrix.names):
                differing = sorted(set(first[1].names) ^ set(matrix.names))
                yield (
                    ("zones", key),
                    f"does not have the zones of {first[0]} (differing: {some_of(differing)}); "
                    "give both the same zones",
                )
            first = first or (key, matrix)
        yield from self._delay_findings(raw)
        yield from place_findings(self._named_hosts, self._named_nodes, self._zones, "zone")

    def _delay_findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield pairs of used zones without a delay, which would be one zone."""
        remedy = "zones without a delay are one zone: write a delay, or merge them"
        matrix, written = self.zones.matrices.get("delay"), self.zones.delay
        used = set(self.placed.hosts.values())
        if matrix is None:
            if written == 0:
                yield ("zones", "delay"), f"is zero; {remedy}"
            return
        for (source, target), delay_ns in matrix.values.items():
            if delay_ns != 0 or not {source, target} <= used:
                continue
            if isinstance(written, dict):
                yield ("zones", "delay", source, target), f"is zero; {remedy}"
                continue
            key = "matrix" if isinstance(written, MatrixFile) else "regions"
            named = shown(value_at(raw, "zones", "delay", key))
            yield ("zones", "delay", key), f"{named} has zero from {source} to {target}; {remedy}"

    def buffers(self, raw: JsonValue) -> Iterator[WrittenBuffer]:
        """Yield every buffer, with the path inside the topology and the rates that empty it."""
        uplinks: dict[Path, Uplink] = {("uplink",): self.uplink}
        uplinks |= {
            ("hosts", name, "uplink"): host.uplink for name, host in (self.hosts or {}).items() if host.uplink
        }
        for path, uplink in uplinks.items():
            yield written_buffer((*path, "buffer"), raw, uplink.buffer, [uplink.rate_bps])
        rates = {link.rate_bps for link in self.network().trunks}
        yield written_buffer(("zones", "buffer"), raw, self.zones.buffer, list(rates))
