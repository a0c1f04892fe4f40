"""A graph from a GraphML or GML file: the meaning of its attributes, and defaults where it has none.

Edges may have the keys of a link (`rate`, `delay`, `buffer`, `jitter`, `loss`, `cost`), written as in an
experiment file. Of files of the Internet Topology Zoo, `LinkSpeedRaw` is the rate, and `Latitude` and
`Longitude` of both ends give the delay (docs/decisions/0021-graph-files.md).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property, lru_cache
from typing import Annotated

from pydantic import BeforeValidator, Field, JsonValue, model_validator

from crosswind.spec.base import SpecModel
from crosswind.spec.buffer import Bdp, BufferOrUnlimited, BufferSize, read_buffer_size_or_unlimited
from crosswind.spec.named_file import NamedFile, named_file
from crosswind.spec.network import ARROW, Link
from crosswind.spec.quantities import (
    TIME,
    Duration,
    QuantityError,
    Rate,
    read_parts_per_billion,
    read_rate,
    shown,
)
from crosswind.spec.setting import Finding
from crosswind.spec.topology.common import USUAL_BUFFER, WrittenBuffer, written_buffer
from crosswind.spec.topology.drawing import Attribute, Drawing, DrawnEdge, DrawnNode
from crosswind.spec.topology.gml import read_gml
from crosswind.spec.topology.graph import COST_MAX, SwitchedHosts
from crosswind.spec.topology.graphml import read_graphml
from crosswind.spec.topology.names import as_name

# Optical fibre with its repeaters (ITU-T G.114, 2003, table A.1): 5 us for each kilometre.
FIBRE_NS_PER_KM = 5000
EARTH_RADIUS_KM = 6371.0


@lru_cache(maxsize=4)  # Several rules read the same file.
def parse_graph(content: bytes) -> Drawing:
    """Return the graph of a GraphML or GML file.

    Raises: LineError: the first error, with its line.
    """
    begins = content.removeprefix(b"\xef\xbb\xbf").lstrip()[:1]
    return read_graphml(content) if begins == b"<" else read_gml(content)


class GraphFile(SpecModel):
    """Switches and links from a file, and defaults for links where the file has no value."""

    file: Annotated[NamedFile[Drawing], *named_file(parse_graph, "abilene.graphml")] = Field(
        description="GraphML or GML; its path is relative to this file's folder."
    )
    rate_bps: Rate = Field(None, alias="rate", description="Of links without a rate in the file.")
    delay_ns: Duration | None = Field(
        None, alias="delay", description="Of links without delay and coordinates in the file."
    )
    buffer: BufferOrUnlimited = Field(
        USUAL_BUFFER, description="Of links without a buffer in the file; 512KiB when absent."
    )

    @model_validator(mode="after")
    def _can_be_read(self) -> GraphFile:
        if self.file.says is not None:
            _ = self.links
        return self

    @cached_property
    def switches(self) -> dict[str, str]:
        """The name of each node, by its name in the file."""
        drawing = self.file.says
        return {} if drawing is None else _names(drawing)

    @cached_property
    def links(self) -> list[Link]:
        """The links of the file.

        Raises: QuantityError: the first edge that is not a link, with its line.
        """
        found: list[Link] = []
        lines: dict[str, int] = {}
        for edge in self.file.says.edges if self.file.says is not None else ():
            try:
                link = self._link(edge)
                both = [link] if edge.is_directed else [link, _back(link)]
                for each in both:
                    if each.name in lines:
                        raise QuantityError(
                            f"is a second one (the first is on line {lines[each.name]}); keep one: "
                            "add up their rates, or put a node into one of them"
                        )
            except QuantityError as error:
                name = ARROW.join(self.switches[end] for end in (edge.source, edge.target))
                raise QuantityError(
                    f"{shown(self.file.file)} line {edge.line}: link {name} {error}"
                ) from None
            lines |= {each.name: edge.line for each in both}
            found += both
        return found

    def _link(self, edge: DrawnEdge) -> Link:
        attributes = edge.attributes
        if edge.source == edge.target:
            raise QuantityError("joins a node with itself; remove it")
        cost = attributes.get("cost", 1)
        if isinstance(cost, str | bool) or int(cost) != cost or not 1 <= cost <= COST_MAX:
            raise QuantityError(
                f"has cost {shown(cost)}, which is not a whole number from 1 to {COST_MAX}; write one"
            )
        return Link(
            self.switches[edge.source],
            self.switches[edge.target],
            self._rate(attributes),
            self._delay(edge),
            read_buffer_size_or_unlimited(attributes["buffer"]) if "buffer" in attributes else self.buffer,
            TIME.read(attributes["jitter"]) if "jitter" in attributes else 0,
            read_parts_per_billion(attributes["loss"]) if "loss" in attributes else 0,
            int(cost),
        )

    def _rate(self, attributes: dict[str, Attribute]) -> int | None:
        if "rate" in attributes:
            return read_rate(attributes["rate"])
        if "LinkSpeedRaw" in attributes:
            raw = attributes["LinkSpeedRaw"]
            if isinstance(raw, str | bool) or not 1 <= raw < 2**63:
                raise QuantityError(
                    f"has LinkSpeedRaw {shown(raw)}, which is not a rate in bit/s above zero; correct it"
                )
            return round(raw)
        if "rate_bps" not in self.model_fields_set:
            raise QuantityError(
                "has neither rate nor LinkSpeedRaw; write rate: 10Gbit/s, or unlimited, beside file"
            )
        return self.rate_bps

    def _delay(self, edge: DrawnEdge) -> int:
        if "delay" in edge.attributes:
            return TIME.read(edge.attributes["delay"])
        drawing = self.file.says
        assert drawing is not None  # It has the edge.
        ends = [_coordinates(drawing.nodes[end]) for end in (edge.source, edge.target)]
        if ends[0] is not None and ends[1] is not None:
            return round(_kilometres(*ends[0], *ends[1]) * FIBRE_NS_PER_KM)
        if self.delay_ns is None:
            where = self.switches[edge.source if ends[0] is None else edge.target]
            raise QuantityError(
                f"has no delay, and {where} has no Latitude and Longitude to compute it from; write "
                "delay: 5ms beside file"
            )
        return self.delay_ns


def _back(link: Link) -> Link:
    return Link(
        link.target,
        link.source,
        link.rate_bps,
        link.delay_ns,
        link.buffer,
        link.jitter_ns,
        link.loss_ppb,
        link.cost,
    )


def _names(drawing: Drawing) -> dict[str, str]:
    """Return a name for every node: its label, with the node's own name where the label is not unique."""
    labels = {name: as_name(str(node.attributes.get("label", name))) for name, node in drawing.nodes.items()}
    count: dict[str, int] = {}
    for label in labels.values():
        count[label.casefold()] = count.get(label.casefold(), 0) + 1
    found: dict[str, str] = {}
    taken: set[str] = set()
    for name, label in labels.items():
        own = label if label and count[label.casefold()] == 1 else as_name(f"{label}-{name}")
        while not own or own in taken:
            own = f"{own or 'node'}-{len(found)}"
        found[name] = own
        taken.add(own)
    return found


def _coordinates(node: DrawnNode) -> tuple[float, float] | None:
    """Return latitude and longitude in degrees.

    Raises: QuantityError: they are invalid.
    """
    values = []
    for key, most in (("Latitude", 90), ("Longitude", 180)):
        if key not in node.attributes:
            return None
        value = node.attributes[key]
        if isinstance(value, str | bool) or not -most <= value <= most:
            raise QuantityError(
                f"ends at the node of line {node.line}, whose {key} {shown(value)} is not a number "
                f"from -{most} to {most}; correct it"
            )
        values.append(float(value))
    return values[0], values[1]


def _kilometres(latitude: float, longitude: float, other_latitude: float, other_longitude: float) -> float:
    """Return the great-circle distance (haversine)."""
    one, other = math.radians(latitude), math.radians(other_latitude)
    across = math.radians(other_longitude - longitude)
    half = math.sin((other - one) / 2) ** 2 + math.cos(one) * math.cos(other) * math.sin(across / 2) ** 2
    return 2 * EARTH_RADIUS_KM * math.asin(min(1.0, math.sqrt(half)))


def _file_or_mapping(value: object) -> object:
    """Read `graph: abilene.graphml` as `graph: {file: abilene.graphml}`."""
    return {"file": value} if isinstance(value, str) else value


class GraphFromFile(SwitchedHosts):
    """A graph whose switches and links are in a GraphML or GML file."""

    graph: Annotated[GraphFile, BeforeValidator(_file_or_mapping, json_schema_input_type=str | GraphFile)]

    @property
    def switch_names(self) -> tuple[str, ...]:
        """The switches."""
        return tuple(self.graph.switches.values())

    @property
    def trunks(self) -> list[Link]:
        """The links between switches."""
        return self.graph.links

    def findings(self, raw: JsonValue) -> Iterator[Finding]:
        """Yield what is wrong between its parts, with the path inside the topology."""
        yield from self.host_findings()

    def buffers(self, raw: JsonValue) -> Iterator[WrittenBuffer]:
        """Yield every buffer, with the path inside the topology and the rates that empty it."""
        yield from self.host_buffers(raw)
        by_buffer: dict[BufferSize | Bdp, list[int | None]] = {self.graph.buffer: []}
        for link in self.graph.links:
            by_buffer.setdefault(link.buffer, []).append(link.rate_bps)
        for buffer, rates_bps in by_buffer.items():
            yield written_buffer(("graph", "buffer"), raw, buffer, rates_bps)
